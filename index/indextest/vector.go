// Package indextest holds the conformance suites of the index contracts. Each implementation runs
// its suite, which also reopens the files written.
package indextest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// VectorOptions describes the index to [TestVector]. The zero value requires nothing that the
// contract leaves open.
type VectorOptions struct {
	// Dim is the dimension of the indexes that open returns, at least 4; 0 means 16.
	Dim int
	// MinRecall is the recall@10 that searches must reach on clustered vectors. At 1 every search
	// must be exact, below it only exact searches. 0 leaves recall unchecked.
	MinRecall float64
	// Volatile is set for an index that persists nothing: its cursor stays 0.
	Volatile bool
	// Copies is the number of copies of one vector that the index must handle; 0 means 2,000.
	Copies int
	// Stored returns what the index keeps of a vector; nil keeps vectors as they are. Scores are
	// compared with its cosines.
	Stored func(v []float32) []float32
	// Without lists features that the index lacks. Cases of these are skipped.
	Without []Feature
}

// TestVector checks that the indexes returned by open satisfy the contract of [index.VectorIndex].
// Opening a directory again must return the flushed data.
func TestVector(t *testing.T, open func(t *testing.T, dir string) index.VectorIndex, opts VectorOptions) {
	opts.Dim = cmp.Or(opts.Dim, 16)
	opts.Copies = cmp.Or(opts.Copies, 2000)
	if opts.Stored == nil {
		opts.Stored = func(v []float32) []float32 { return v }
	}
	for _, c := range []struct {
		name  string
		test  func(*testing.T, *vectorIndex)
		needs Feature
	}{
		{"Apply", testVectorApply, ""},
		{"LastUpsertWins", testVectorLastUpsertWins, ""},
		{"Empty", testVectorEmpty, ""},
		{"K", testVectorK, ""},
		{"Ties", testVectorTies, TieOrder},
		{"Copies", testVectorCopies, ""},
		{"Zero", testVectorZero, ""},
		{"Magnitudes", testVectorMagnitudes, ""},
		{"Rejected", testVectorRejected, ""},
		{"Copied", testVectorCopied, ""},
		{"Accept", testVectorAccept, ""},
		{"Exact", testVectorExact, ""},
		{"Recall", testVectorRecall, ""},
		{"Similarity", testVectorSimilarity, ""},
		{"Reopen", testVectorReopen, ""},
		{"Model", testVectorModel, ""},
		{"Atomic", testVectorAtomic, WholeBatches},
		{"Concurrency", testVectorConcurrency, ""},
		{"Compact", testVectorCompact, ""},
		{"CompactConcurrently", testVectorCompactConcurrently, ""},
		{"Cancelled", testVectorCancelled, ""},
		{"Closed", testVectorClosed, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if slices.Contains(opts.Without, c.needs) {
				t.Skipf("the index has no %s", c.needs)
			}
			c.test(t, openVector(t, open, opts))
		})
	}
}

func testVectorApply(t *testing.T, ix *vectorIndex) {
	for range 2 { // applying the same batch again changes nothing
		ix.seq = 0
		ix.apply(t, []index.VectorChunk{ix.at(1, 0), ix.at(2, 30), ix.at(3, 60)})
		ix.wantIDs(t, 10, 1, 2, 3)
		ix.wantChunks(t, 3)
	}
	ix.apply(t, []index.VectorChunk{ix.at(1, 80)}) // replace
	ix.wantIDs(t, 10, 2, 3, 1)
	ix.apply(t, nil, 2) // delete
	ix.wantIDs(t, 10, 3, 1)
	ix.apply(t, nil, 2, 99) // delete an absent id
	ix.apply(t, nil)
	ix.wantIDs(t, 10, 3, 1)
	ix.wantChunks(t, 2)
	ix.apply(t, []index.VectorChunk{ix.at(2, 10), ix.at(0, 20), ix.at(math.MaxUint64, 5)}) // restore; any id is valid
	ix.wantIDs(t, 10, math.MaxUint64, 2, 0, 3, 1)
}

func testVectorLastUpsertWins(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 10), ix.at(2, 20), ix.at(1, 50), ix.at(3, 5)}, 3)
	ix.wantIDs(t, 10, 2, 1) // the later upsert wins, and a delete beats both
	ix.wantChunks(t, 2)
}

func testVectorEmpty(t *testing.T, ix *vectorIndex) {
	ix.wantIDs(t, 10)
	ix.wantChunks(t, 0)
	if c := ix.Cursor(); c != 0 {
		t.Errorf("Cursor of a new index = %d, want 0", c)
	}
	ix.apply(t, []index.VectorChunk{ix.at(1, 0)})
	ix.apply(t, nil, 1)
	ix.wantIDs(t, 10)
	ix.wantChunks(t, 0)
}

func testVectorK(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 0), ix.at(2, 30), ix.at(3, 60)})
	ix.wantIDs(t, 2, 1, 2)
	ix.wantIDs(t, 3, 1, 2, 3)
	ix.wantIDs(t, math.MaxInt, 1, 2, 3)
	ix.wantIDs(t, 0)
	ix.wantIDs(t, -1)
	ix.wantIDs(t, math.MinInt)
}

func testVectorTies(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(9, 0), ix.at(4, 0), ix.at(7, 0), ix.at(8, 40)})
	ix.apply(t, []index.VectorChunk{ix.at(5, 0), ix.at(2, 0)})
	ix.wantIDs(t, 3, 2, 4, 5)
	ix.wantIDs(t, 9, 2, 4, 5, 7, 9, 8)
}

// ordersTies reports whether ids decide among equal scores.
func (l *vectorIndex) ordersTies() bool { return !slices.Contains(l.opts.Without, TieOrder) }

func testVectorCopies(t *testing.T, ix *vectorIndex) {
	const step = 1000
	for from := 0; from < ix.opts.Copies; from += step {
		var batch []index.VectorChunk
		for id := from; id < min(from+step, ix.opts.Copies); id++ {
			batch = append(batch, ix.at(uint64(id), 20))
		}
		ix.apply(t, batch)
	}
	ix.wantChunks(t, ix.opts.Copies)
	hits := ix.search(t, index.VectorQuery{Vector: ix.at(0, 20).Vector, K: 10, Exact: true})
	for i, h := range hits {
		if ix.ordersTies() && h.ID != uint64(i) || math.Abs(h.Score-1) > epsilon {
			t.Errorf("hit %d of equal vectors = %+v, want id %d at 1", i, h, i)
		}
	}
	if hits := ix.search(t, index.VectorQuery{Vector: ix.at(0, 20).Vector, K: 10}); len(hits) != 10 {
		t.Errorf("got %d of %d equal vectors, want 10", len(hits), ix.opts.Copies)
	}
}

func testVectorZero(t *testing.T, ix *vectorIndex) {
	zero := make([]float32, ix.opts.Dim)
	ix.apply(t, []index.VectorChunk{ix.at(1, 0), {ID: 2, Vector: zero}, ix.at(3, 30)})
	ix.wantIDs(t, 10, 1, 3)
	ix.apply(t, []index.VectorChunk{{ID: 1, Vector: zero}}) // removes the old vector
	ix.wantIDs(t, 10, 3)
	ix.wantChunks(t, 1)
	if hits := ix.search(t, index.VectorQuery{Vector: zero, K: 10}); len(hits) != 0 {
		t.Errorf("a zero query found %v", hits)
	}
}

func testVectorMagnitudes(t *testing.T, ix *vectorIndex) {
	scaled := func(id uint64, degrees float64, by float32) index.VectorChunk {
		u := ix.at(id, degrees)
		for i := range u.Vector {
			u.Vector[i] *= by
		}
		return u
	}
	ix.apply(t, []index.VectorChunk{scaled(1, 40, 1e38), scaled(2, 20, 1e-30), scaled(3, 60, -1)})
	ix.wantIDs(t, 10, 2, 1, 3)
	for _, h := range ix.search(t, index.VectorQuery{Vector: scaled(0, 40, 1e-38).Vector, K: 1}) {
		if h.ID != 1 || math.Abs(h.Score-1) > epsilon {
			t.Errorf("nearest = %+v, want chunk 1 at 1", h)
		}
	}
}

func testVectorRejected(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 0), ix.at(2, 30)})
	for name, bad := range ix.badVectors() {
		err := ix.Apply(t.Context(), 99, []index.VectorChunk{ix.at(3, 10), {ID: 1, Vector: bad}, ix.at(2, 0)}, []uint64{2})
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: Apply = %v, want ErrInvalid", name, err)
		}
		ix.wantIDs(t, 10, 1, 2)
		ix.wantChunks(t, 2)
		_, err = ix.Search(t.Context(), index.VectorQuery{Vector: bad, K: 1})
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: Search = %v, want ErrInvalid", name, err)
		}
		if s, ok := ix.Similarity(bad)(1); ok {
			t.Errorf("%s: Similarity = %v, want none", name, s)
		}
	}
}

func testVectorCopied(t *testing.T, ix *vectorIndex) {
	batch := []index.VectorChunk{ix.at(1, 0), ix.at(2, 30)}
	gone := []uint64{7}
	if err := ix.Apply(t.Context(), 1, batch, gone); err != nil {
		t.Fatal(err)
	}
	clear(batch[0].Vector)
	batch[1], gone[0] = index.VectorChunk{}, 1
	ix.wantIDs(t, 10, 1, 2)
	q := ix.at(0, 0).Vector
	hits := ix.search(t, index.VectorQuery{Vector: q, K: 2})
	clear(hits)
	if q[0] != ix.at(0, 0).Vector[0] {
		t.Error("Search changed the query")
	}
	ix.wantIDs(t, 10, 1, 2)
}

func testVectorCancelled(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 0)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ix.Apply(ctx, 2, []index.VectorChunk{ix.at(2, 0)}, []uint64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply = %v, want context.Canceled", err)
	}
	if _, err := ix.Search(ctx, index.VectorQuery{Vector: ix.at(0, 0).Vector, K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search = %v, want context.Canceled", err)
	}
	ix.wantIDs(t, 10, 1)
}

func testVectorClosed(t *testing.T, ix *vectorIndex) {
	ix.apply(t, []index.VectorChunk{ix.at(1, 0)})
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	_, searchErr := ix.Search(t.Context(), index.VectorQuery{Vector: ix.at(0, 0).Vector, K: 1})
	for name, err := range map[string]error{
		"Apply":   ix.Apply(t.Context(), 2, []index.VectorChunk{ix.at(2, 0)}, nil),
		"Search":  searchErr,
		"Flush":   ix.Flush(t.Context()),
		"Compact": ix.Compact(t.Context()),
	} {
		if !errors.Is(err, index.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", name, err)
		}
	}
	if err := ix.Close(); err != nil && !errors.Is(err, index.ErrClosed) {
		t.Errorf("second Close = %v", err)
	}
	if s, ok := ix.Similarity(ix.at(0, 0).Vector)(1); ok || s != 0 {
		t.Errorf("Similarity after Close = %v, %v", s, ok)
	}
	if c := ix.Cursor(); c != 0 {
		t.Errorf("Cursor after Close = %d", c)
	}
	if s := ix.Stats(); s != (index.PartStats{}) {
		t.Errorf("Stats after Close = %+v", s)
	}
}
