package index_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ragctx/ragctx/index"
)

// TestInterleaved: the scores of a document are the same if the chunks of another one lie between its own, as when both are
// stored at the same time.
func TestInterleaved(t *testing.T) {
	const chunks = index.LongText + 3
	ask := func(id func(item, ordinal int) uint64) (scores []string) {
		h, _, _ := open(t)
		b := index.Batch{Seq: 1}
		items := []*index.Item{{ID: 1}, {ID: 2}}
		for ordinal := range chunks {
			for i, p := range items {
				c := entry(id(i, ordinal), p.ID, p, "kiwi plum", float32(ordinal%3), 1)
				c.Ordinal = ordinal
				b.Add = append(b.Add, c)
			}
		}
		slices.SortFunc(b.Add, func(x, y index.Chunk) int { return int(x.ID) - int(y.ID) })
		apply(t, h, b)
		res, err := index.Index{Engine: h}.Search(t.Context(), index.Query{
			Text: "kiwi", Vector: []float32{1, 1}, K: 2 * chunks, Now: t0, Scope: index.Scope{AnyUser: true},
			Fusion: index.Fusion{VectorWeight: 0.5},
		})
		if err != nil || len(res.Hits) != 2*chunks {
			t.Fatal(len(res.Hits), err)
		}
		for _, hit := range res.Hits {
			scores = append(scores, fmt.Sprintf("%d#%02d %.6f", hit.Item, hit.Ordinal, hit.Score))
		}
		slices.Sort(scores)
		return scores
	}
	apart := ask(func(item, ordinal int) uint64 { return uint64(1 + item*chunks + ordinal) })
	mixed := ask(func(item, ordinal int) uint64 {
		if ordinal >= 5 {
			ordinal += 2 * chunks // a part that was written later
		}
		return uint64(1 + item*chunks + ordinal)
	})
	if !slices.Equal(apart, mixed) {
		t.Errorf("one after the other\n%q\nside by side\n%q", apart[:8], mixed[:8])
	}
}
