package indextest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
)

func testDenseAccept(t *testing.T, leg *denseLeg) {
	units := leg.clustered(rand.New(rand.NewPCG(3, 4)), 1000)
	leg.apply(t, units)
	for _, every := range []uint64{1, 7, 100, 499, 2000} {
		var mu sync.Mutex // a leg may ask concurrently
		asked := make(map[uint64]bool)
		accept := func(id uint64) bool {
			mu.Lock()
			defer mu.Unlock()
			asked[id] = true
			return id%every == 0
		}
		hits := leg.search(t, index.DenseQuery{Vector: units[1].Vector, K: 10, Accept: accept})
		want := nearest(units, units[1].Vector, 10, func(id uint64) bool { return id%every == 0 })
		if len(hits) != len(want) {
			t.Fatalf("one in %d accepted: got %d hits, want %d", every, len(hits), len(want))
		}
		for i, h := range hits {
			if h.ID%every != 0 || !asked[h.ID] {
				t.Errorf("one in %d accepted: got %+v (asked: %v)", every, h, asked[h.ID])
			}
			if !leg.approximate() && math.Abs(h.Score-want[i].Score) > epsilon {
				t.Errorf("one in %d accepted: hit %d = %+v, want %+v", every, i, h, want[i])
			}
		}
	}
	none := leg.search(t, index.DenseQuery{Vector: units[1].Vector, K: 10, Accept: func(uint64) bool { return false }})
	if len(none) != 0 {
		t.Errorf("nothing accepted: got %v", none)
	}
}

func testDenseExact(t *testing.T, leg *denseLeg) {
	r := rand.New(rand.NewPCG(5, 6))
	units := leg.clustered(r, 1500)
	leg.apply(t, units[:700])
	leg.apply(t, units[700:])
	for range 20 {
		q := units[r.IntN(len(units))].Vector
		hits := leg.search(t, index.DenseQuery{Vector: q, K: 10, Exact: true})
		for i, want := range nearest(units, q, 10, nil) {
			if i >= len(hits) || math.Abs(hits[i].Score-want.Score) > epsilon {
				t.Fatalf("exact search: got %v, want %+v at %d", hits, want, i)
			}
		}
	}
}

func testDenseRecall(t *testing.T, leg *denseLeg) {
	const n, k, queries = 3000, 10, 50
	r := rand.New(rand.NewPCG(7, 8))
	units := leg.clustered(r, n+queries)
	units, probes := units[:n], units[n:]
	for chunk := range slices.Chunk(units, 500) {
		leg.apply(t, chunk)
	}
	found := 0
	for _, p := range probes {
		hits := leg.search(t, index.DenseQuery{Vector: p.Vector, K: k})
		if len(hits) != k {
			t.Fatalf("got %d hits of %d units, want %d", len(hits), n, k)
		}
		last := nearest(units, p.Vector, k, nil)[k-1].Score
		for _, h := range hits {
			if h.Score >= last-epsilon {
				found++
			}
		}
	}
	if recall := float64(found) / (queries * k); recall < leg.opts.MinRecall {
		t.Errorf("recall@%d = %.3f, want %.3f", k, recall, leg.opts.MinRecall)
	}
}

func testDenseSimilarity(t *testing.T, leg *denseLeg) {
	units := leg.clustered(rand.New(rand.NewPCG(9, 10)), 100)
	leg.apply(t, units, 50)
	q := units[7].Vector
	if s, ok := leg.Similarity(q, 50); ok {
		t.Errorf("Similarity of a deleted unit = %v", s)
	}
	if s, ok := leg.Similarity(q, 12345); ok {
		t.Errorf("Similarity of an unknown unit = %v", s)
	}
	for _, h := range leg.search(t, index.DenseQuery{Vector: q, K: 99, Exact: true}) {
		s, ok := leg.Similarity(q, h.ID)
		if !ok || s != h.Score {
			t.Errorf("Similarity of %d = %v, %v; Search says %v", h.ID, s, ok, h.Score)
		}
		if want := cosine(q, units[h.ID].Vector); math.Abs(s-want) > epsilon {
			t.Errorf("Similarity of %d = %v, want %v", h.ID, s, want)
		}
	}
}

func testDenseReopen(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 0), leg.at(2, 30), leg.at(3, 60)})
	leg.apply(t, []index.VectorUnit{leg.at(1, 50)}, 3)
	if err := leg.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	flushed := leg.seq
	if leg.opts.Volatile {
		flushed = 0
	}
	if c := leg.Cursor(); c != flushed {
		t.Errorf("Cursor after Flush = %d, want %d", c, flushed)
	}
	if p := leg.Stats().Pending; p != 0 && !leg.opts.Volatile {
		t.Errorf("%d units are pending after Flush", p)
	}
	leg.apply(t, []index.VectorUnit{leg.at(4, 10)}, 2)
	if c := leg.Cursor(); c < flushed || c > leg.seq {
		t.Errorf("Cursor = %d, want it within %d..%d", c, flushed, leg.seq)
	}
	for range 2 {
		leg.reopen(t)
		if c := leg.Cursor(); c < flushed || c > leg.seq {
			t.Errorf("Cursor after reopening = %d, want it within %d..%d", c, flushed, leg.seq)
		}
		leg.wantIDs(t, 10, 4, 1)
		leg.wantUnits(t, 2)
	}
}

// nearest is the naive search: all accepted units by cosine, ties by id.
func nearest(units []index.VectorUnit, q []float32, k int, accept index.Accept) []index.Scored {
	var all []index.Scored
	for _, u := range units {
		if accept == nil || accept(u.ID) {
			all = append(all, index.Scored{ID: u.ID, Score: cosine(q, u.Vector)})
		}
	}
	slices.SortFunc(all, byRank)
	return all[:min(k, len(all))]
}
