package keyword

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// exhaustive makes a search read all features in full, in the order of the passes.
func exhaustive(rare int) passOptions { return passOptions{rareWord: rare, minListed: math.MaxInt} }

// passWords share grams, and some are misspelt.
var passWords = strings.Fields("harbour harbours harbuor harber lighthouse lighthuose light lights house " +
	"stormy storms strom master masters mister the of")

func drawPassText(rt *rapid.T, label string, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(passWords), 0, most).Draw(rt, label), " ")
}

// TestPasses compares a search with a literal implementation of the rule, and its scores with those
// of an exhaustive search.
func TestPasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		numbers := passOptions{rareWord: rapid.IntRange(1, 5).Draw(rt, "rare"), minListed: rapid.IntRange(1, 8).Draw(rt, "least"), minRatio: 1}
		dirs := []string{"", t.TempDir()}
		two := mustOpen(t, dirs[rapid.IntRange(0, 1).Draw(rt, "on disk")], Options{LongText: 3, FlushChunks: 1 << 20, passes: numbers})
		all := mustOpen(t, "", Options{LongText: 3, FlushChunks: 1 << 20, passes: exhaustive(numbers.rareWord)})
		defer two.Close()
		defer all.Close()
		texts := make(map[uint64]string) // of live chunks
		for seq := range uint64(rapid.IntRange(1, 4).Draw(rt, "batches")) {
			var chunks []index.TextChunk
			var gone []uint64
			for p := range uint64(rapid.IntRange(1, 8).Draw(rt, "items")) {
				for n := range uint64(rapid.IntRange(1, 5).Draw(rt, "chunks")) {
					u := index.TextChunk{ID: 100*seq + 10*p + n, Item: 10*seq + p + 1, Text: drawPassText(rt, "text", 5)}
					chunks, texts[u.ID] = append(chunks, u), u.Text
				}
			}
			for id := range texts {
				if id < 100*seq && id/10%4 == seq { // whole texts
					gone = append(gone, id)
					delete(texts, id)
				}
			}
			for _, ix := range []*Index{two, all} {
				if err := ix.Apply(t.Context(), seq+1, chunks, gone); err != nil {
					rt.Fatal(err)
				}
			}
			if rapid.Bool().Draw(rt, "flush") {
				flush(t, two)
			}
		}
		for range 4 {
			q := index.KeywordQuery{Text: drawPassText(rt, "query", 4), K: rapid.IntRange(0, 12).Draw(rt, "k")}
			q.More = append(q.More, index.Wording{Text: drawPassText(rt, "wording", 2), Weight: 0.5})
			if every := rapid.Uint64Range(1, 3).Draw(rt, "every"); every > 1 {
				of := rapid.SampledFrom([]uint64{1, 10}).Draw(rt, "chunks or texts")
				q.Accept = func(id uint64) bool { return id/of%every == 0 }
			}
			if rapid.Bool().Draw(rt, "grouped") {
				q.Groups = &index.Groups{Of: func(id uint64) int32 { return int32(id/10%3) - 1 }, Sizes: []int32{9, 9}} //nolint:gosec // small
			}
			q.Params.Passage = rapid.SampledFrom([]float64{0, -1, 2}).Draw(rt, "passage")
			got, err := two.Search(t.Context(), q)
			if err != nil {
				rt.Fatal(err)
			}
			if d := gocmp.Diff(byTheRule(t, all, q, numbers, texts), got); d != "" {
				rt.Fatalf("%+v of %v, with %+v (-want +got):\n%s", q, texts, numbers, d)
			}
		}
	})
}

// byTheRule derives a result from the exhaustive result.
func byTheRule(t *testing.T, all *Index, q index.KeywordQuery, p passOptions, texts map[uint64]string) index.KeywordResult {
	t.Helper()
	whole := q
	whole.K = len(texts)
	res, err := all.Search(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	list, late := firstScores(t, all, q, p.rareWord, texts)
	if n := max(p.minListed, min(q.K, len(texts))); late && len(list) >= n && n <= len(texts) {
		of := make(map[uint64]bool) // texts on the short list
		for _, hit := range list[:n] {
			of[hit.ID/10] = true
		}
		res.Hits = slices.DeleteFunc(res.Hits, func(h index.Scored) bool { return !of[h.ID/10] })
	}
	if res.Hits = res.Hits[:min(q.K, len(res.Hits))]; len(res.Hits) == 0 {
		res.Hits = nil
	}
	return res
}

// firstScores returns the scores of the first pass, best first, and whether features are left for
// the second.
func firstScores(t *testing.T, all *Index, q index.KeywordQuery, rare int, texts map[uint64]string) (list []index.Scored, late bool) {
	t.Helper()
	has := make(map[string]int) // chunks by word
	for _, text := range texts {
		for _, word := range slices.Compact(slices.Sorted(slices.Values(analysis.Index(text)))) {
			has[word]++
		}
	}
	v := all.view.Load()
	s := new(scratch)
	s.start(v, all.opts.LongText, q.Params.WithDefaults())
	var order [2][]feature
	features := featuresOf(&q)
	for _, f := range features {
		seldom := func(i int) bool { return has[features[i].text] < rare }
		if f.kind == analysis.Gram && !slices.ContainsFunc(f.words, seldom) {
			late = true
			continue
		}
		order[min(f.kind, 2)/2] = append(order[min(f.kind, 2)/2], f)
	}
	for _, f := range slices.Concat(order[0], order[1]) {
		if _, err := s.search(t.Context(), v, &f, nil); err != nil {
			t.Fatal(err)
		}
	}
	best, err := s.rank(t.Context(), v, len(texts), q.Accept)
	if err != nil {
		t.Fatal(err)
	}
	return best.sorted(), late
}

// Grams of a rare word find its variants, even if many chunks have the other words. Grams of common
// words do not.
func TestRareWordsAreFoundByTheirGrams(t *testing.T) {
	ix := mustOpen(t, t.TempDir(), Options{passes: passOptions{minListed: 20}})
	var chunks []index.TextChunk
	for id := range uint64(2000) {
		chunks = append(chunks, index.TextChunk{ID: id, Item: id, Text: fmt.Sprintf("ship number%d in the evening", id%100)})
	}
	chunks[77].Text = "the harbourmaster of ships"
	if err := ix.Apply(t.Context(), 1, chunks, nil); err != nil {
		t.Fatal(err)
	}
	flush(t, ix)
	for _, text := range []string{"ship harbuormaster", "harbourmasters ship"} {
		if res := search(t, ix, text); len(res.Hits) == 0 || res.Hits[0].ID != 77 {
			t.Errorf("%q finds %v first", text, res.Hits[:min(3, len(res.Hits))])
		}
	}
}

// A search for many chunks, or among few, reads everything.
func TestShortLists(t *testing.T) {
	p := passOptions{}.withDefaults()
	for _, c := range []struct{ k, live, want int }{
		{10, 100, 0},
		{10, 9_599, 0},
		{10, 9_600, 300},
		{100, 1 << 20, 300},
		{700, 1 << 20, 700},
		{700, 22_399, 0},
		{0, 1 << 20, 300},
		{1 << 40, 1 << 20, 0},
		{-1, 1 << 20, 300},
		{1, 0, 0},
	} {
		if got := p.shortListSize(c.k, c.live); got != c.want {
			t.Errorf("%d hits among %d chunks: a short list of %d, want %d", c.k, c.live, got, c.want)
		}
	}
	if n := exhaustive(8).withDefaults().shortListSize(10, 1<<20); n != 0 {
		t.Errorf("a short list of %d where there should be none", n)
	}
}

// Among equal scores the smallest ids win.
func TestTop(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var all []found
		for i := range rapid.IntRange(0, 60).Draw(rt, "n") {
			all = append(all, found{index.Scored{ID: uint64(i), Score: float64(rapid.IntRange(0, 4).Draw(rt, "score"))}, i})
		}
		all = rapid.Permutation(all).Draw(rt, "order")
		best := top{k: rapid.IntRange(1, 70).Draw(rt, "k")}
		for _, hit := range all {
			if best.admits(hit) {
				best.push(hit)
			}
		}
		slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
		var want []index.Scored
		for _, hit := range all[:min(len(all), best.k)] {
			want = append(want, hit.Scored)
		}
		if got := best.sorted(); !slices.Equal(got, want) {
			rt.Fatalf("the best %d are %v, want %v", best.k, got, want)
		}
	})
}
