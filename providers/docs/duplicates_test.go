package docs_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/providers/docs"
)

// words draws a text of n words out of many.
func words(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("w%d", r.IntN(5000))
	}
	return out
}

// edited changes a share of a text's words.
func edited(r *rand.Rand, text []string, share float64) []string {
	out := slices.Clone(text)
	for i := range out {
		if r.Float64() < share {
			out[i] = fmt.Sprintf("x%d", r.IntN(1_000_000))
		}
	}
	return out
}

// jaccard is the share of common runs of four words, by the definition.
func jaccard(a, b []string) float64 {
	set := func(t []string) map[string]bool {
		m := make(map[string]bool)
		for i := range len(t) - 3 {
			m[strings.Join(t[i:i+4], " ")] = true
		}
		return m
	}
	x, y := set(a), set(b)
	both := 0
	for k := range x {
		if y[k] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func TestSketchEstimatesCommonRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pairs := 300
	if testing.Short() {
		pairs = 30
	}
	for _, share := range []float64{0, .005, .01, .03, .1, .5, 1} {
		sum, squares, n := 0.0, 0.0, pairs
		for range n {
			a := words(r, 40+r.IntN(2000))
			b := edited(r, a, share)
			d := docs.Similarity(docs.Sketch(strings.Join(a, " ")), docs.Sketch(strings.Join(b, "\n"))) - jaccard(a, b)
			sum, squares = sum+d, squares+d*d
		}
		if bias, rms := sum/float64(n), math.Sqrt(squares/float64(n)); math.Abs(bias) > .02 || rms > .08 {
			t.Errorf("at %v changed words: bias %.3f, error %.3f", share, bias, rms)
		}
	}
}

func TestSketchOfLittle(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, strings.Repeat("... ", 100): false, strings.Join(words(rand.New(rand.NewPCG(1, 2)), 15), " "): false,
		strings.Repeat("a ", 16): true, "一部の文書は同じ内容を持っていますので見つけます": true, "\xff\xfe" + strings.Repeat(" é", 20): true,
	} {
		if got := docs.Sketch(text); (got != nil) != want || got != nil && len(got) != 128 {
			t.Errorf("Sketch(%q): %d bytes", text, len(got))
		}
	}
	if docs.Similarity(nil, nil) != 0 {
		t.Error("texts without sketches are alike")
	}
	upper := docs.Sketch(strings.Repeat("Hello, World: Ärger ", 10))
	if docs.Similarity(upper, docs.Sketch(strings.Repeat("hello WORLD äRGER\n", 10))) != 1 {
		t.Error("case and punctuation count")
	}
}

// TestFindDuplicates hides copies and edited copies among other texts.
func TestFindDuplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var all []passage.SketchedDocument
		add := func(id string, text []string) {
			joined := strings.Join(text, " ")
			all = append(all, passage.SketchedDocument{ID: id, Hash: [16]byte(sum(joined)), Sketch: docs.Sketch(joined)})
		}
		var want []docs.Duplicates
		for i := range rapid.IntRange(0, 30).Draw(t, "texts") {
			text := words(r, 300+r.IntN(300)) // in 100 words, one other word can be estimated below NearDuplicate
			id := fmt.Sprintf("%02d", i)
			add(id, text)
			d := docs.Duplicates{IDs: []string{id}, Similarity: 1, Exact: true}
			for k := range r.IntN(3) {
				copied := fmt.Sprintf("%s-%d", id, k)
				d.IDs = append(d.IDs, copied)
				if r.IntN(2) == 0 {
					add(copied, text)
					continue
				}
				d.Exact = false
				text := slices.Clone(text)
				text[len(text)/2] = "changed" + copied
				add(copied, text)
			}
			if len(d.IDs) > 1 {
				want = append(want, d)
			}
		}
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := docs.FindDuplicates(all)
		for i := range got {
			if got[i].Similarity < docs.NearDuplicate || got[i].Exact && got[i].Similarity != 1 {
				t.Errorf("group %+v", got[i])
			}
			got[i].Similarity = 1
		}
		slices.SortStableFunc(want, func(a, b docs.Duplicates) int { return len(b.IDs) - len(a.IDs) })
		if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
			t.Errorf("groups (-want +got):\n%s", d)
		}
	})
}

func sum(s string) []byte {
	h := sha256.Sum256([]byte(s))
	return h[:16]
}

func BenchmarkSketch(b *testing.B) {
	text := strings.Join(words(rand.New(rand.NewPCG(1, 1)), 10_000), " ")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		docs.Sketch(text)
	}
}

func BenchmarkFindDuplicates(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	all := make([]passage.SketchedDocument, 20_000)
	head := strings.Join(words(r, 60), " ")
	for i := range all {
		text := head + " " + strings.Join(words(r, 200), " ")
		all[i] = passage.SketchedDocument{ID: fmt.Sprint(i), Hash: [16]byte(sum(text)), Sketch: docs.Sketch(text)}
	}
	for b.Loop() {
		docs.FindDuplicates(all)
	}
}
