package keyword

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// prefetchFixture returns a view with two parts on disk and one in memory, every third text of
// each, and n features of which chunks have some.
func prefetchFixture(t *testing.T, n int) (*view, []subset, []feature) {
	t.Helper()
	ix := mustOpen(t, t.TempDir(), Options{FlushChunks: 1 << 20})
	for batch := range uint64(3) {
		var chunks []index.TextChunk
		for i := range uint64(60) {
			id := 100*batch + i
			chunks = append(chunks, index.TextChunk{ID: id, Item: id/2 + 1, Text: fmt.Sprintf("word%d word%d pear", i%7, i%11)})
		}
		if err := ix.Apply(t.Context(), batch+1, chunks, nil); err != nil {
			t.Fatal(err)
		}
		if batch < 2 {
			flush(t, ix)
		}
	}
	v := ix.acquire()
	t.Cleanup(v.release)
	var few []subset
	for _, p := range v.parts {
		var places []uint32
		for place := range uint32(p.columns().chunks()) { //nolint:gosec // small
			if place/2%3 == 0 {
				places = append(places, place)
			}
		}
		few = append(few, p.subset(places))
	}
	var features []feature
	for i := range n {
		features = append(features, feature{text: fmt.Sprintf("word%d", i%13), kind: analysis.Word, weight: 1})
	}
	return v, few, features
}

// Two goroutines read the same as one, for any number of features, also when repeated.
func TestPrefetch(t *testing.T) {
	var a prefetch
	for _, n := range []int{40, 0, 1, 5, 6, 300} { // more than fewAhead in three parts, and less
		v, few, features := prefetchFixture(t, n)
		a.read(t.Context(), few, features, v.live)
		if len(a.features) != n {
			t.Fatalf("%d features were read of %d", len(a.features), n)
		}
		for i, got := range a.features {
			var one subsetReader
			want := one.read(t.Context(), few, &features[i], v.live)
			if got.err != nil || got.reader == nil || want.err != nil || got.docFreq != want.docFreq {
				t.Fatalf("feature %d of %d: %+v, alone %+v", i, n, got, want)
			}
			ends := got.reader.ends[got.ends:][:len(few)]
			postings := got.reader.postings[got.postings:][:ends[len(few)-1]]
			if !slices.Equal(ends, one.ends) || !slices.Equal(postings, one.postings) {
				t.Errorf("feature %d of %d: %v to %v, alone %v to %v", i, n, postings, ends, one.postings, one.ends)
			}
			if i%13 < 11 && len(postings) == 0 { // as many words there are
				t.Errorf("nothing was read of %q, which texts have", features[i].text)
			}
		}
	}
}

// A feature that too many chunks have is not read; the others are.
func TestPrefetchOfCommonFeatures(t *testing.T) {
	_, few, features := prefetchFixture(t, 30)
	features[3] = feature{text: "pear", kind: analysis.Gram}
	var a prefetch
	a.read(t.Context(), few, features, -commonShare*commonChunks)
	for i, got := range a.features {
		if got.err != nil || got.reader == nil {
			t.Errorf("feature %d: %+v", i, got)
		}
	}
	limited := subsetReader{}
	if counts, _, err := limited.gather(few, "pear", 1, 5); counts || err != nil {
		t.Errorf("a feature of 180 chunks counts below a limit of 5 (%v)", err)
	}
}

// After the context has ended nothing is read.
func TestPrefetchEnds(t *testing.T) {
	v, few, features := prefetchFixture(t, 40)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var a prefetch
	a.read(ctx, few, features, v.live)
	for i, got := range a.features {
		if !errors.Is(got.err, context.Canceled) || got.reader != nil {
			t.Errorf("feature %d: %+v", i, got)
		}
	}
}

// A panicking segment ends no goroutine, and the search returns an error.
func TestPrefetchOfDamage(t *testing.T) {
	for _, n := range []int{1, 40} {
		v, few, features := prefetchFixture(t, n)
		few[1].of.segment = rotten{few[1].of.segment}
		var a prefetch
		a.read(t.Context(), few, features, v.live)
		for i, got := range a.features {
			if got.err == nil || got.reader != nil {
				t.Errorf("feature %d of %d: %+v", i, n, got)
			}
		}
		s := new(scratch)
		s.start(v, 0, index.KeywordParams{}.WithDefaults())
		if s.subsets = few; s.searchShort(t.Context(), v, features) == nil {
			t.Errorf("a search of %d features saw no damage", n)
		}
	}
}

// The threshold is the k-th best score.
func TestTopScores(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float64Range(0, 3), 0, 80).Draw(rt, "scores")
		b := topScores{k: rapid.IntRange(0, 90).Draw(rt, "k")}
		for n, score := range scores {
			b.add(score)
			best := slices.Sorted(slices.Values(scores[:n+1]))
			want := 0.0
			if b.k > 0 && len(best) >= b.k {
				want = best[len(best)-b.k]
			}
			if got := b.threshold(); got != want {
				rt.Fatalf("the best %d of %v: %v, want %v", b.k, best, got, want)
			}
		}
	})
}
