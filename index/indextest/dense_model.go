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

// denseModel is the obviously right leg: a map of vectors.
type denseModel map[uint64][]float32

func (m denseModel) apply(upserts []index.VectorUnit, deletes []uint64) {
	for _, u := range upserts {
		delete(m, u.ID)
		if slices.ContainsFunc(u.Vector, func(x float32) bool { return x != 0 }) {
			m[u.ID] = u.Vector
		}
	}
	for _, id := range deletes {
		delete(m, id)
	}
}

// byRank orders hits, best first, ties by ascending id.
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

func testDenseModel(t *testing.T, first *denseLeg) {
	// Few ids and few components make replacements, ties and zeros frequent.
	id := rapid.Uint64Range(0, 40)
	component := rapid.SampledFrom([]float32{0, 0, 0, 1, -1, 0.5, 3})
	vector := rapid.SliceOfN(component, first.opts.Dim, first.opts.Dim)
	unit := rapid.Custom(func(rt *rapid.T) index.VectorUnit {
		return index.VectorUnit{ID: id.Draw(rt, "id"), Vector: vector.Draw(rt, "vector")}
	})
	rapid.Check(t, func(rt *rapid.T) {
		leg := first.another(t)
		defer func() { _ = leg.Close() }()
		model := make(denseModel)
		rt.Repeat(map[string]func(*rapid.T){
			"apply": func(rt *rapid.T) {
				upserts := rapid.SliceOfN(unit, 0, 12).Draw(rt, "upserts")
				deletes := rapid.SliceOfN(id, 0, 6).Draw(rt, "deletes")
				leg.apply(rt, upserts, deletes...)
				model.apply(upserts, deletes)
			},
			"again": func(rt *rapid.T) {
				if len(leg.log) == 0 {
					rt.Skip("nothing applied")
				}
				b := leg.log[len(leg.log)-1]
				if err := leg.Apply(rt.Context(), b.seq, b.upserts, b.deletes); err != nil {
					rt.Fatalf("Apply again: %v", err)
				}
			},
			"search": func(rt *rapid.T) {
				q := index.DenseQuery{Vector: vector.Draw(rt, "query"), K: rapid.IntRange(0, 50).Draw(rt, "k"), Exact: leg.approximate()}
				if every := rapid.Uint64Range(0, 4).Draw(rt, "every"); every > 0 {
					q.Accept = func(id uint64) bool { return id%every == 0 }
				}
				hits := leg.search(rt, q)
				model.check(rt, q, hits)
				sameAmong(rt, leg, q, hits)
			},
			"flush": func(rt *rapid.T) {
				if err := leg.Flush(rt.Context()); err != nil {
					rt.Fatalf("Flush: %v", err)
				}
			},
			"compact": func(rt *rapid.T) {
				if err := leg.Compact(rt.Context()); err != nil {
					rt.Fatalf("Compact: %v", err)
				}
			},
			"reopen": func(rt *rapid.T) { leg.reopen(rt) },
			"":       func(rt *rapid.T) { leg.wantUnits(rt, len(model)) },
		})
	})
}

// sameAmong expects that looking at all units that are accepted finds what looking
// at all units does.
func sameAmong(rt *rapid.T, leg *denseLeg, q index.DenseQuery, want []index.Scored) {
	q.Only = index.Only{}
	for id := range uint64(200) {
		if q.Accept == nil || q.Accept(id) {
			q.Only = append(q.Only, id)
		}
	}
	if got := leg.search(rt, q); !slices.Equal(got, want) {
		rt.Fatalf("among the accepted: %v, want %v", got, want)
	}
}

// check compares hits with the model: scores, number, and that nothing nearer
// was left out. Equal vectors have equal scores, so among them ids decide.
func (m denseModel) check(t fataler, q index.DenseQuery, hits []index.Scored) {
	t.Helper()
	rest := make(denseModel)
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
			t.Fatalf("hit %+v: no such unit, or its cosine is %v", h, cosine(q.Vector, v))
		}
		delete(rest, h.ID)
	}
	last := hits[len(hits)-1]
	for id, v := range maps.All(rest) {
		switch {
		case cosine(q.Vector, v) > last.Score+epsilon:
			t.Fatalf("%d at %v was left out for %+v", id, cosine(q.Vector, v), last)
		case slices.Equal(v, m[last.ID]) && id < last.ID:
			t.Fatalf("%d ties with %d and was left out", id, last.ID)
		}
	}
}
