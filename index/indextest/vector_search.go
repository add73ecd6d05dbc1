package indextest

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
)

func testVectorAccept(t *testing.T, ix *vectorIndex) {
	chunks := ix.clustered(rand.New(rand.NewPCG(3, 4)), 1000)
	ix.apply(t, chunks)
	for _, every := range []uint64{1, 7, 100, 499, 2000} {
		var mu sync.Mutex // an index may call it concurrently
		asked := make(map[uint64]bool)
		accept := func(id uint64) bool {
			mu.Lock()
			defer mu.Unlock()
			asked[id] = true
			return id%every == 0
		}
		hits := ix.search(t, index.VectorQuery{Vector: chunks[1].Vector, K: 10, Accept: accept})
		want := ix.nearest(chunks, chunks[1].Vector, 10, func(id uint64) bool { return id%every == 0 })
		if len(hits) != len(want) {
			t.Fatalf("one in %d accepted: got %d hits, want %d", every, len(hits), len(want))
		}
		for i, h := range hits {
			if h.ID%every != 0 || !asked[h.ID] {
				t.Errorf("one in %d accepted: got %+v (asked: %v)", every, h, asked[h.ID])
			}
			if !ix.approximate() && math.Abs(h.Score-want[i].Score) > epsilon {
				t.Errorf("one in %d accepted: hit %d = %+v, want %+v", every, i, h, want[i])
			}
		}
	}
	none := ix.search(t, index.VectorQuery{Vector: chunks[1].Vector, K: 10, Accept: func(uint64) bool { return false }})
	if len(none) != 0 {
		t.Errorf("nothing accepted: got %v", none)
	}
}

func testVectorExact(t *testing.T, ix *vectorIndex) {
	r := rand.New(rand.NewPCG(5, 6))
	chunks := ix.clustered(r, 1500)
	ix.apply(t, chunks[:700])
	ix.apply(t, chunks[700:])
	for range 20 {
		q := chunks[r.IntN(len(chunks))].Vector
		hits := ix.search(t, index.VectorQuery{Vector: q, K: 10, Exact: true})
		for i, want := range ix.nearest(chunks, q, 10, nil) {
			if i >= len(hits) || math.Abs(hits[i].Score-want.Score) > epsilon {
				t.Fatalf("exact search: got %v, want %+v at %d", hits, want, i)
			}
		}
	}
}

func testVectorRecall(t *testing.T, ix *vectorIndex) {
	const n, k, queries = 3000, 10, 50
	r := rand.New(rand.NewPCG(7, 8))
	chunks := ix.clustered(r, n+queries)
	chunks, probes := chunks[:n], chunks[n:]
	for batch := range slices.Chunk(chunks, 500) {
		ix.apply(t, batch)
	}
	found := 0
	for _, p := range probes {
		hits := ix.search(t, index.VectorQuery{Vector: p.Vector, K: k})
		if len(hits) != k {
			t.Fatalf("got %d hits of %d chunks, want %d", len(hits), n, k)
		}
		last := ix.nearest(chunks, p.Vector, k, nil)[k-1].Score
		for _, h := range hits {
			if h.Score >= last-epsilon {
				found++
			}
		}
	}
	if recall := float64(found) / (queries * k); recall < ix.opts.MinRecall {
		t.Errorf("recall@%d = %.3f, want %.3f", k, recall, ix.opts.MinRecall)
	}
}

func testVectorSimilarity(t *testing.T, ix *vectorIndex) {
	chunks := ix.clustered(rand.New(rand.NewPCG(9, 10)), 100)
	ix.apply(t, chunks, 50)
	q := chunks[7].Vector
	if s, ok := ix.Similarity(q)(50); ok {
		t.Errorf("Similarity of a deleted chunk = %v", s)
	}
	if s, ok := ix.Similarity(q)(12345); ok {
		t.Errorf("Similarity of an unknown chunk = %v", s)
	}
	for _, h := range ix.search(t, index.VectorQuery{Vector: q, K: 99, Exact: true}) {
		s, ok := ix.Similarity(q)(h.ID)
		if !ok || s != h.Score {
			t.Errorf("Similarity of %d = %v, %v; Search returns %v", h.ID, s, ok, h.Score)
		}
		if want := cosine(q, ix.opts.Stored(chunks[h.ID].Vector)); math.Abs(s-want) > epsilon {
			t.Errorf("Similarity of %d = %v, want %v", h.ID, s, want)
		}
	}
}

func testVectorReopen(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 0), ix.at(2, 30), ix.at(3, 60)})
	ix.apply(t, []index.VectorChunk{ix.at(1, 50)}, 3)
	if err := ix.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	flushed := ix.seq
	if ix.opts.Volatile {
		flushed = 0
	}
	if c := ix.Cursor(); c != flushed {
		t.Errorf("Cursor after Flush = %d, want %d", c, flushed)
	}
	if p := ix.Stats().Pending; p != 0 && !ix.opts.Volatile {
		t.Errorf("%d chunks are pending after Flush", p)
	}
	ix.apply(t, []index.VectorChunk{ix.at(4, 10)}, 2)
	if c := ix.Cursor(); c < flushed || c > ix.seq {
		t.Errorf("Cursor = %d, want it within %d..%d", c, flushed, ix.seq)
	}
	for range 2 {
		ix.reopen(t)
		if c := ix.Cursor(); c < flushed || c > ix.seq {
			t.Errorf("Cursor after reopening = %d, want it within %d..%d", c, flushed, ix.seq)
		}
		ix.wantIDs(t, 10, 4, 1)
		ix.wantChunks(t, 2)
	}
}

// nearest is the naive search: all accepted chunks by cosine, then id.
func (l *vectorIndex) nearest(chunks []index.VectorChunk, q []float32, k int, accept index.Accept) []index.Scored {
	var all []index.Scored
	for _, u := range chunks {
		if accept == nil || accept(u.ID) {
			all = append(all, index.Scored{ID: u.ID, Score: cosine(q, l.opts.Stored(u.Vector))})
		}
	}
	slices.SortFunc(all, byRank)
	return all[:min(k, len(all))]
}
