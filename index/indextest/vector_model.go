package indextest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
)

// vectorModel is the reference implementation: a map of vectors, as an index stores them.
type vectorModel map[uint64][]float32

func (m vectorModel) apply(stored func([]float32) []float32, upserts []index.VectorChunk, deletes []uint64) {
	for _, u := range upserts {
		delete(m, u.ID)
		if slices.ContainsFunc(u.Vector, func(x float32) bool { return x != 0 }) {
			m[u.ID] = stored(u.Vector)
		}
	}
	for _, id := range deletes {
		delete(m, id)
	}
}

// byRank orders hits by descending score, then ascending id.
func byRank(a, b index.Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// cosine is the textbook formula.
func cosine(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

func testVectorModel(t *testing.T, first *vectorIndex) {
	// Few ids and few components make replacements, ties and zeros frequent.
	id := rapid.Uint64Range(0, 40)
	component := rapid.SampledFrom([]float32{0, 0, 0, 1, -1, 0.5, 3})
	vector := rapid.SliceOfN(component, first.opts.Dim, first.opts.Dim)
	chunk := rapid.Custom(func(rt *rapid.T) index.VectorChunk {
		return index.VectorChunk{ID: id.Draw(rt, "id"), Vector: vector.Draw(rt, "vector")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		ix := first.another(t)
		defer func() { _ = ix.Close() }()
		model := make(vectorModel)
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				upserts := rapid.SliceOfN(chunk, 0, 12).Draw(rt, "upserts")
				deletes := rapid.SliceOfN(id, 0, 6).Draw(rt, "deletes")
				ix.apply(rt, upserts, deletes...)
				model.apply(ix.opts.Stored, upserts, deletes)
			},
			"again": func(rt *rapid.T) {
				if len(ix.log) == 0 {
					rt.Skip("nothing applied")
				}
				b := ix.log[len(ix.log)-1]
				if err := ix.Apply(rt.Context(), b.seq, b.upserts, b.deletes); err != nil {
					rt.Fatalf("Apply again: %v", err)
				}
			},
			"search": func(rt *rapid.T) {
				q := index.VectorQuery{Vector: vector.Draw(rt, "query"), K: rapid.IntRange(0, 50).Draw(rt, "k"), Exact: ix.approximate()}
				if every := rapid.Uint64Range(0, 4).Draw(rt, "every"); every > 0 {
					q.Accept = func(id uint64) bool { return id%every == 0 }
				}
				hits := ix.search(rt, q)
				model.check(rt, q, hits, ix.ordersTies())
				sameWithOnly(rt, ix, q, hits)
			},
			"flush": func(rt *rapid.T) {
				if err := ix.Flush(rt.Context()); err != nil {
					rt.Fatalf("Flush: %v", err)
				}
			},
			"compact": func(rt *rapid.T) {
				if err := ix.Compact(rt.Context()); err != nil {
					rt.Fatalf("Compact: %v", err)
				}
			},
			"reopen": func(rt *rapid.T) { ix.reopen(rt) },
			"":       func(rt *rapid.T) { ix.wantChunks(rt, len(model)) },
		})
	})
}

// sameWithOnly checks that listing all accepted chunks in Only gives the same hits.
func sameWithOnly(rt *rapid.T, ix *vectorIndex, q index.VectorQuery, want []index.Scored) {
	q.Only = index.Only{}
	for id := range uint64(200) {
		if q.Accept == nil || q.Accept(id) {
			q.Only = append(q.Only, id)
		}
	}
	same := func(a, b index.Scored) bool {
		return a == b || !ix.ordersTies() && math.Abs(a.Score-b.Score) <= epsilon
	}
	if got := ix.search(rt, q); !slices.EqualFunc(got, want, same) {
		rt.Fatalf("among the accepted: %v, want %v", got, want)
	}
}

// check compares hits with the model: scores, number, and that no nearer chunk is missing. Equal
// vectors have equal scores, so ids decide among them if the index orders ties.
func (m vectorModel) check(t fataler, q index.VectorQuery, hits []index.Scored, ordered bool) {
	t.Helper()
	rest := make(vectorModel)
	for id, v := range m {
		if q.Accept == nil || q.Accept(id) {
			rest[id] = v
		}
	}
	if !slices.ContainsFunc(q.Vector, func(x float32) bool { return x != 0 }) {
		clear(rest)
	}
	if want := min(q.K, len(rest)); len(hits) != want {
		t.Fatalf("got %d hits, want %d: %v", len(hits), want, hits)
	}
	if len(hits) == 0 {
		return
	}
	for _, h := range hits {
		v, ok := rest[h.ID]
		if !ok || math.Abs(h.Score-cosine(q.Vector, v)) > epsilon {
			t.Fatalf("hit %+v: no such chunk, or its cosine is %v", h, cosine(q.Vector, v))
		}
		delete(rest, h.ID)
	}
	last := hits[len(hits)-1]
	for id, v := range maps.All(rest) {
		switch {
		case cosine(q.Vector, v) > last.Score+epsilon:
			t.Fatalf("%d at %v was left out for %+v", id, cosine(q.Vector, v), last)
		case ordered && slices.Equal(v, m[last.ID]) && id < last.ID:
			t.Fatalf("%d ties with %d and was left out", id, last.ID)
		}
	}
}
