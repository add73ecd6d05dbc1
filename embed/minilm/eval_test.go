package minilm

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/embed/internal/kernel"
)

var evalTexts = flag.Int("minilm.texts", 200, "texts of the evaluation")

// modelDir returns the directory of a real model, or skips the test.
func modelDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("RAGCTX_MINILM_DIR")
	if dir == "" {
		tb.Skip("RAGCTX_MINILM_DIR names no directory with a model")
	}
	return dir
}

// devTexts returns questions and texts of all development sets, in a random order.
func devTexts(tb testing.TB) []string {
	tb.Helper()
	data := os.Getenv("RAGCTX_EVAL_DATA")
	if data == "" {
		tb.Skip("RAGCTX_EVAL_DATA names no directory with evaluation data")
	}
	var texts []string
	for _, kind := range []string{"corpus", "queries"} {
		files, err := filepath.Glob(filepath.Join(data, "dev", "*", kind+".jsonl"))
		if err != nil || len(files) == 0 {
			tb.Fatal("no texts: ", err)
		}
		for _, name := range files {
			texts = append(texts, fieldText(tb, name)...)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	r.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
	return texts
}

func fieldText(tb testing.TB, name string) (texts []string) {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var d struct{ Text string }
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			tb.Fatal(err)
		}
		if text := strings.TrimSpace(d.Text); text != "" {
			texts = append(texts, text[:min(len(text), 600)])
		}
	}
	return texts
}

// The vectors of a real model are near those of its float weights.
func TestEvaluation(t *testing.T) {
	dir := modelDir(t)
	texts := devTexts(t)
	texts = texts[:min(len(texts), *evalTexts)]
	e := open(t, dir)
	vectors, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	ref := newReference(t, dir, e.model.cls, true)
	ref.vector(e.tokenize(texts[:1], "")[0].ids) // fills the transposed weights
	inputs := e.tokenize(texts, e.identity.DocumentPrefix)
	cosines := make([]float64, len(inputs))
	var group sync.WaitGroup
	const workers = 2
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(inputs); i += workers {
				cosines[i] = cosine(vectors[inputs[i].at], ref.vector(inputs[i].ids))
			}
		})
	}
	group.Wait()
	slices.Sort(cosines)
	at := func(share float64) float64 { return cosines[int(share*float64(len(cosines)-1))] }
	t.Logf("cosines of %d texts: least %.5f, 1st percentile %.5f, 5th %.5f, median %.5f", len(cosines), cosines[0], at(.01), at(.05), at(.5))
	if at(.01) < .995 {
		t.Errorf("the 1st percentile of the cosines is %.5f", at(.01))
	}
}

// BenchmarkEmbed embeds passages of 128 tokens and a question of 12, on one processor. The metric
// counts the time of the process, not of the clock, so other load does not matter.
func BenchmarkEmbed(b *testing.B) {
	e := open(b, modelDir(b))
	passage := strings.TrimSpace(strings.Repeat("release ", 126))
	question := "how do I roll back a release of today"
	for _, k := range kernel.All() {
		other, err := newEmbedder(e.model, e.tokenizer)
		if err != nil {
			b.Fatal(err)
		}
		other.kernels = k
		for name, texts := range map[string][]string{"passages": slices.Repeat([]string{passage}, 8), "question": {question}} {
			b.Run(fmt.Sprintf("%s/%s", name, k.Name), func(b *testing.B) {
				if n := len(other.tokenize(texts[:1], "")[0].ids); n != 128 && n != 12 && n != 11 {
					b.Fatalf("%d tokens", n)
				}
				b.ReportAllocs()
				before, n := processorTime(), 0
				for b.Loop() {
					if _, err := other.EmbedDocuments(b.Context(), texts); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if used := processorTime() - before; used > 0 {
					b.ReportMetric(float64(n*len(texts))/used.Seconds(), "texts/cpu-s")
				}
			})
		}
	}
}
