package static

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
)

// values is a tensor that a test makes.
type values struct {
	kind  string
	shape []int
	data  any
}

// tensorFile returns a safetensors file.
func tensorFile(tb testing.TB, tensors map[string]values) []byte {
	tb.Helper()
	head := map[string]any{"__metadata__": map[string]string{"made": "by hand"}}
	var body bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		from := body.Len()
		if err := binary.Write(&body, binary.LittleEndian, t.data); err != nil {
			tb.Fatal(err)
		}
		head[name] = map[string]any{"dtype": t.kind, "shape": t.shape, "data_offsets": []int{from, body.Len()}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, body.Bytes())
}

// threeTokens is a tokenizer with three tokens that say something.
const threeTokens = `{
	"added_tokens": [{"id": 0, "content": "[PAD]", "special": true}, {"id": 1, "content": "[UNK]", "special": true}],
	"normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
		"vocab": {"[PAD]": 0, "[UNK]": 1, "up": 2, "down": 3, "##ward": 4}}}`

var threeRows = values{"F32", []int{5, 3}, []float32{9, 9, 9, 9, 9, 9, 1, 0, 0, 0, 2, 0, 0, 0, .5}}

func saved(tb testing.TB, dir, tokenizer string, tensors map[string]values) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	for name, data := range map[string][]byte{"tokenizer.json": []byte(tokenizer), "model.safetensors": tensorFile(tb, tensors)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

func near(got []float32, want ...float64) bool {
	return slices.EqualFunc(got, want, func(g float32, w float64) bool { return math.Abs(float64(g)-w) < .01 })
}

func TestOpenDir(t *testing.T) {
	t.Parallel()
	half := func(v ...float32) []uint16 { // lookup powers of two
		var out []uint16
		for _, x := range v {
			bits := math.Float32bits(x)
			if x != 0 {
				out = append(out, uint16(bits>>31)<<15|uint16(bits>>23&0xFF-127+15)<<10)
			} else {
				out = append(out, 0)
			}
		}
		return out
	}
	for name, tensors := range map[string]map[string]values{
		"model2vec":             {"embeddings": threeRows, "other": {"BOOL", []int{1}, []byte{1}}},
		"sentence-transformers": {"embedding.weight": threeRows},
		"16 bits":               {"embeddings": {"F16", []int{5, 3}, half(0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, .5)}},
		"brain floats":          {"embeddings": {"BF16", []int{5, 3}, []uint16{0, 0, 0, 0, 0, 0, 0x3F80, 0, 0, 0, 0x4000, 0, 0, 0, 0x3F00}}},
		"8 bits":                {"embeddings": {"I8", []int{5, 3}, []int8{0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1}}},
		"doubles":               {"embeddings": {"F64", []int{5, 3}, []float64{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, .5}}},
		"weights":               {"embeddings": {"F32", []int{5, 3}, []float32{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}}, "weights": {"F32", []int{5}, []float32{1, 1, 1, 2, .5}}},
		"mapping": {
			"embeddings": {"F32", []int{3, 3}, []float32{0, 0, 2, 0, 4, 0, 4, 0, 0}}, "mapping": {"I64", []int{5}, []int64{0, 0, 2, 1, 0}},
			"weights": {"F64", []int{5}, []float64{1, 1, .25, .5, .25}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "mine")
			saved(t, dir, threeTokens, tensors)
			e, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			id := e.Identity()
			if id.Name != "static:mine" || len(id.Revision) != 16 || id.Dimensions != 3 || !id.Normalized {
				t.Errorf("identity %+v", id)
			}
			for text, want := range map[string][]float64{
				"up":                     {1, 0, 0},
				"UP, down xyz":           {1 / math.Sqrt(5), 2 / math.Sqrt(5), 0},
				"up up down":             {1 / math.Sqrt2, 1 / math.Sqrt2, 0},
				"Upward":                 {2 / math.Sqrt(5), 0, 1 / math.Sqrt(5)},
				"[PAD] up [UNK]":         {1, 0, 0},
				"unheard of":             nil,
				"up among so many words": nil,
			} {
				if got := vectorOf(t, e, text); want == nil && got != nil || want != nil && !near(got, want...) {
					t.Errorf("%q: %v, want %v", text, got, want)
				}
			}
		})
	}
}

func TestOpenDirRevision(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seen := make(map[string]bool)
	add := func(sub, tokenizer string, rows values) string {
		at := filepath.Join(dir, sub)
		saved(t, at, tokenizer, map[string]values{"embeddings": rows})
		e, err := OpenDir(strings.TrimSuffix(at, "/0_StaticEmbedding"))
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Identity().Revision] = true
		return e.Identity().Revision
	}
	first := add("a", threeTokens, threeRows)
	if again := add("b/0_StaticEmbedding", threeTokens, threeRows); again != first {
		t.Errorf("the same files: %s and %s", first, again)
	}
	add("c", threeTokens+" ", threeRows)
	other := threeRows
	other.data = append([]float32{1}, threeRows.data.([]float32)[1:]...)
	add("d", threeTokens, other)
	if len(seen) != 3 {
		t.Errorf("revisions %v of three models", seen)
	}
}

func TestOpenDirRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused := func(name, at string) {
		t.Helper()
		if _, err := Open(at); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("nothing", filepath.Join(dir, "none"))
	refused("empty", dir)
	good := map[string]values{"embeddings": threeRows}
	for old, replacement := range map[string]string{
		`"WordPiece"`: `"Unigram"`, `"BertNormalizer"`: `"Lowercase"`, `"BertPreTokenizer"`: `"Metaspace"`, `"##",`: `"@@",`, `"unk_token": "[UNK]"`: `"unk_token": "?"`,
		`"up": 2`: `"up": 3`, `"down": 3`: `"down": 9`, `"##ward": 4`: `"##ward": -4`, `100,`: `100000,`, `"id": 0`: `"id": 2`,
		`"content": "[UNK]",`: `"content": "[UNK]", "normalized": true,`, `"id": 1, "content": "[UNK]"`: `"id": 5, "content": "unk"`, `{"[PAD]"`: `["[PAD]"`, `"vocab": {`: `"vocab": {"": 5, `,
	} {
		if !strings.Contains(threeTokens, old) {
			t.Fatalf("no %s", old)
		}
		saved(t, filepath.Join(dir, "t"), strings.Replace(threeTokens, old, replacement, 1), good)
		refused(replacement, filepath.Join(dir, "t"))
	}
	rows := func(v ...float32) values { return values{"F32", []int{len(v) / 3, 3}, v} }
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, tensors := range map[string]map[string]values{
		"no table":          {"weights": {"F32", []int{5}, []float32{1, 1, 1, 1, 1}}},
		"too few rows":      {"embeddings": rows(1, 2, 3)},
		"one dimension":     {"embeddings": {"F32", []int{6}, []float32{1, 2, 3, 4, 5, 6}}},
		"none":              {"embeddings": {"F32", []int{5, 0}, []float32{}}},
		"integers":          {"embeddings": {"I32", []int{5, 1}, []int32{1, 2, 3, 4, 5}}},
		"not a number":      {"embeddings": rows(0, 0, 0, 0, 0, 0, 1, nan, 0, 0, 0, 0, 0, 0, 0)},
		"infinite":          {"embeddings": rows(0, 0, 0, 0, 0, 0, 1, inf, 0, 0, 0, 0, 0, 0, 0)},
		"infinite weight":   {"embeddings": threeRows, "weights": {"F32", []int{5}, []float32{1, 1, inf, 1, 1}}},
		"few weights":       {"embeddings": threeRows, "weights": {"F32", []int{4}, []float32{1, 1, 1, 1}}},
		"mapped elsewhere":  {"embeddings": threeRows, "mapping": {"I64", []int{5}, []int64{0, 0, 5, 0, 0}}},
		"mapped below zero": {"embeddings": threeRows, "mapping": {"I32", []int{5}, []int32{0, 0, -1, 0, 0}}},
		"shape below zero":  {"embeddings": {"F32", []int{-5, -3}, make([]float32, 15)}},
		"shape too large":   {"embeddings": {"F32", []int{1 << 40, 1 << 40}, make([]float32, 15)}},
		"shape and bytes":   {"embeddings": {"F32", []int{5, 4}, make([]float32, 15)}},
	} {
		saved(t, filepath.Join(dir, "m"), threeTokens, tensors)
		refused(name, filepath.Join(dir, "m"))
	}
}

// Whatever the files hold, they are refused or make vectors of their size.
func FuzzDirectory(f *testing.F) {
	f.Add([]byte(threeTokens), tensorFile(f, map[string]values{"embeddings": threeRows}))
	f.Add([]byte(threeTokens), tensorFile(f, map[string]values{
		"embedding.weight": threeRows, "weights": {"F16", []int{5}, make([]uint16, 5)}, "mapping": {"I32", []int{5}, make([]int32, 5)},
	}))
	f.Add([]byte(`{}`), []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, tokenizer, model []byte) {
		e, err := newMean(tokenizer, model)
		if err != nil {
			if !errors.Is(err, ragctx.ErrInvalid) {
				t.Errorf("%v", err)
			}
			return
		}
		v, err := e.EmbedQuery(t.Context(), "upward, down [UNK] [PAD] é人 x")
		if err != nil || v != nil && len(v) != e.identity.Dimensions {
			t.Errorf("%v, %v", v, err)
		}
	})
}

// The floor that is measured of the built-in table is near the one noted in it, which
// was chosen on more texts.
func TestMeasureFloor(t *testing.T) {
	t.Parallel()
	e := Default().(*embedder)
	if f := e.measureFloor(); f < 0.2 || f > e.noiseFloor {
		t.Errorf("%g; noted is %g", f, e.noiseFloor)
	}
}
