package indextest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// sameWithOnly checks that a search with Only gives the same result, bit for bit, as one that
// filters by Accept.
func (l *keywordIndex) sameWithOnly(rt *rapid.T, q index.KeywordQuery) {
	l.t.Helper()
	var only index.Only
	for _, p := range rapid.SliceOfDistinct(rapid.Uint64Range(0, 8), rapid.ID).Draw(rt, "items") {
		only = append(only, chunksOf(p)...)
	}
	slices.Sort(only)
	l.onlyIs(q, append(index.Only{}, only...))
}

func (l *keywordIndex) onlyIs(q index.KeywordQuery, only index.Only) {
	l.t.Helper()
	sizes := make([]int32, 3)
	of := func(id uint64) int32 {
		if _, ok := slices.BinarySearch(only, id); !ok {
			return -1
		}
		return int32(id/4) % 3 //nolint:gosec // small
	}
	for _, id := range only {
		sizes[of(id)]++
	}
	q.K = 30
	q.Groups = &index.Groups{Of: of, Sizes: sizes}
	q.Accept = func(id uint64) bool { return of(id) >= 0 }
	want := l.search(q)
	q.Only = only
	got := l.search(q)
	if got.Max != want.Max || !slices.Equal(got.Hits, want.Hits) || !slices.Equal(got.Groups, want.Groups) {
		l.t.Fatalf("%q among %v:\ngot  %+v\nwant %+v", q.Text, only, got, want)
	}
}

// Features that many chunks have are counted in all chunks. Those ignored in a full search are
// ignored with Only as well.
func keywordOnlyCommon(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	var chunks []index.TextChunk
	for id := range uint64(1400) {
		text := fmt.Sprintf("harbour %s masters of ship%d", []string{"storm", "ropes", "storm storm"}[id%3], id%50)
		chunks = append(chunks, index.TextChunk{ID: id, Item: id/2 + 1, Text: text})
	}
	l.apply(chunks[:1000])
	l.flush()
	l.apply(chunks[1000:], 2, 3, 700, 701)
	for range 2 { // the second time, some counts are cached
		l.both(func() {
			for _, text := range []string{"harbour master", "storms", "ship7 harbor", "ropes ship1 ship2 storm"} {
				for _, only := range []index.Only{{}, {2, 3}, {0, 1, 2, 3, 10, 11, 998, 999, 1398, 1399}, {20, 21, 600, 601, 5000}} {
					l.onlyIs(index.KeywordQuery{Text: text}, only)
				}
			}
		})
		l.apply(nil, 20, 21) // and some cached counts are out of date
	}
}

// The chunks that may be hits have only the common word of a query. They are found, although the rarer word chooses among all chunks.
func keywordOnlyRarer(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply(common(2_400))
	rare := make([]index.TextChunk, 100)
	for i := range rare {
		rare[i] = index.TextChunk{ID: 10_000 + uint64(i), Text: "walrus"} //nolint:gosec // small
	}
	l.apply(rare)
	found := l.search(index.KeywordQuery{
		Text: "walrus harbour", K: 10, Only: index.Only{1, 2, 3}, Accept: func(id uint64) bool { return id < 4 && id > 0 },
	})
	if len(found.Hits) != 3 {
		t.Errorf("found %v, want 3 chunks", found.Hits)
	}
}

// A large index is asked for a word before the first chunk has it, and again afterwards.
func keywordAskedBefore(t *testing.T, open OpenKeyword) {
	l := openKeywordIndex(t, open)
	l.apply(common(1_500))
	l.want("walrus")
	l.put(10_000, "walrus")
	l.want("walrus", 10_000)
	l.put(10_001, "walrus")
	l.want("walrus", 10_000, 10_001)
}

// common returns n chunks that are texts with the same word.
func common(n int) []index.TextChunk {
	chunks := make([]index.TextChunk, n)
	for i := range chunks {
		chunks[i] = index.TextChunk{ID: uint64(i), Text: "harbour"} //nolint:gosec // small
	}
	return chunks
}
