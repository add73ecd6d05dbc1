package static

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/internal/wordpiece"
)

// passages returns texts of 1 KB of the project's own documentation.
func passages(tb testing.TB) []string {
	tb.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		tb.Fatal("no texts: ", err)
	}
	var texts []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		for ; len(data) >= 1024; data = data[1024:] {
			texts = append(texts, string(data[:1024]))
		}
	}
	return texts
}

// naive is the definition, computed without haste.
func naive(e *embedder, text string) []float64 {
	w := wordpiece.NewWords(e.tokenizer)
	counts := make(map[int32]float64)
	for _, id := range ids(w, text) {
		if row := e.table.rowOf[id]; row >= 0 {
			counts[row]++
		}
	}
	v := make([]float64, e.table.dim)
	for row, n := range counts {
		for j := range v {
			q := int8(e.table.rows[int(row)*e.table.dim+j])
			v[j] += math.Pow(n, e.exponent) * float64(e.table.scales[row]) * float64(q)
		}
	}
	var squares float64
	for _, x := range v {
		squares += x * x
	}
	for j := range v {
		v[j] /= math.Sqrt(squares)
	}
	return v
}

func TestVectorIsTheWeightedSum(t *testing.T) {
	t.Parallel()
	tiny, err := newEmbedder(small().file(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	built := Default().(*embedder)
	_, tokens, _, err := parseTable(model)
	if err != nil {
		t.Fatal(err)
	}
	vocab := make([]string, 0, 2000)
	for id := range 2000 {
		vocab = append(vocab, strings.TrimPrefix(tokens[2*id+1000], "##"))
	}
	rapid.Check(t, func(rt *rapid.T) {
		e, word := tiny, rapid.SampledFrom([]string{"roll", "back", "undo", "undoing", "q", "Q!"})
		if rapid.Bool().Draw(rt, "built in") {
			e, word = built, rapid.SampledFrom(vocab)
		}
		text := strings.Join(rapid.SliceOfN(word, 1, 200).Draw(rt, "words"), " ")
		got, err := e.EmbedQuery(t.Context(), text)
		if err != nil || got == nil {
			return // little coverage
		}
		for j, want := range naive(e, text) {
			if math.Abs(float64(got[j])-want) > 1e-4 {
				rt.Fatalf("%q: component %d is %g, want %g", text, j, got[j], want)
			}
		}
	})
}

// vectorOf embeds with the small table.
func vectorOf(t *testing.T, e embed.Embedder, text string) []float32 {
	t.Helper()
	v, err := e.EmbedQuery(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTextsThatSayNothing(t *testing.T) {
	t.Parallel()
	e := Default()
	for name, text := range map[string]string{
		"empty": "", "blank": " \n\t ", "controls": "\x00\x01\u200b", "no UTF-8": "\xff\xfe\xfd", "punctuation": "?!... --- ###",
		"one character, often": strings.Repeat("a", 1<<20), "one character beyond ASCII": strings.Repeat("é", 1<<19),
		"special": "[CLS] [SEP] [UNK]", "Chinese": "人人生而自由，在尊严和权利上一律平等。", "Russian": "Все люди рождаются свободными",
		"Arabic": "يولد جميع الناس", "emoji": "🎉🎉🎉", "lines": "────────── │ ├──",
	} {
		if v := vectorOf(t, e, text); v != nil {
			t.Errorf("%s: %v", name, v[:4])
		}
	}
	for name, text := range map[string]string{
		"a tree of files": "├── src\n│   ├── main.go\n└── README.md", "a rule": strings.Repeat("─", 100) + " summary",
		"an accent": "naïve café", "much space": strings.Repeat(" ", 1<<20) + "deploy", "one word, often": strings.Repeat("deployment ", 1<<16),
		"a foreign word": "the word Привет is Russian for hello", "damaged": "deploy\xffment of a release",
	} {
		v := vectorOf(t, e, text)
		var squares float64
		for _, x := range v {
			squares += float64(x) * float64(x)
		}
		if math.Abs(squares-1) > 1e-5 {
			t.Errorf("%s: length² %g", name, squares)
		}
	}
}

func TestZeroSum(t *testing.T) {
	t.Parallel()
	d := small()
	clear(d.scales)
	e, err := newEmbedder(d.file(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if v := vectorOf(t, e, "roll back"); v != nil {
		t.Errorf("weights of none: %v", v)
	}
	d = small()
	d.scales[0], d.scales[1] = 1, -1
	copy(d.rows[8:16], d.rows[:8])
	if e, err = newEmbedder(d.file(t, nil)); err != nil {
		t.Fatal(err)
	}
	if v := vectorOf(t, e, "roll, back"); v != nil {
		t.Errorf("rows that cancel out: %v", v)
	}
}

// The vector of a text does not depend on other texts, embedded before or in parallel.
func TestEqualTextsHaveEqualVectors(t *testing.T) {
	t.Parallel()
	e := Default()
	texts := passages(t)
	texts = append(texts, strings.Join(texts, " "))
	want, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, text := range slices.Backward(texts) {
				if v, err := e.EmbedQuery(t.Context(), text); err != nil || !slices.Equal(v, want[i]) {
					t.Errorf("text %d: another vector (%v)", i, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Default().EmbedDocuments(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkEmbed(b *testing.B) {
	texts := passages(b)
	e := Default()
	b.SetBytes(1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := e.EmbedQuery(b.Context(), texts[i%len(texts)]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
}
