// Package indextest holds the conformance suites of the index contracts. Every
// implementation runs its suite, reopening what it wrote.
package indextest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// DenseOptions tells [TestDense] about the leg. The zero value asks for nothing
// that the contract leaves open.
type DenseOptions struct {
	// Dim is the dimension of the legs that open opens, at least 4; 0 means 16.
	Dim int
	// MinRecall is the recall@10 that searches must reach on clustered vectors. At
	// 1 every search must be exact, below it those that ask for it. 0 leaves
	// recall unchecked.
	MinRecall float64
	// Volatile says that the leg keeps nothing: its cursor stays 0.
	Volatile bool
	// Copies is how many copies of one vector the leg must bear; 0 means 2,000.
	Copies int
}

// TestDense checks that the legs that open opens keep the contract of
// [index.Dense]. Opening a dir again must give what was flushed there.
func TestDense(t *testing.T, open func(t *testing.T, dir string) index.Dense, opts DenseOptions) {
	opts.Dim = cmp.Or(opts.Dim, 16)
	opts.Copies = cmp.Or(opts.Copies, 2000)
	for _, c := range []struct {
		name string
		test func(*testing.T, *denseLeg)
	}{
		{"Apply", testDenseApply},
		{"LastWord", testDenseLastWord},
		{"Empty", testDenseEmpty},
		{"K", testDenseK},
		{"Ties", testDenseTies},
		{"Copies", testDenseCopies},
		{"Zero", testDenseZero},
		{"Magnitudes", testDenseMagnitudes},
		{"Refused", testDenseRefused},
		{"Owned", testDenseOwned},
		{"Accept", testDenseAccept},
		{"Exact", testDenseExact},
		{"Recall", testDenseRecall},
		{"Similarity", testDenseSimilarity},
		{"Reopen", testDenseReopen},
		{"Model", testDenseModel},
		{"Atomic", testDenseAtomic},
		{"Concurrency", testDenseConcurrency},
		{"Compact", testDenseCompact},
		{"CompactBeside", testDenseCompactBeside},
		{"Cancelled", testDenseCancelled},
		{"Closed", testDenseClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.test(t, openDense(t, open, opts))
		})
	}
}

func testDenseApply(t *testing.T, leg *denseLeg) {
	for range 2 { // the same batch again changes nothing
		leg.seq = 0
		leg.apply(t, []index.VectorUnit{leg.at(1, 0), leg.at(2, 30), leg.at(3, 60)})
		leg.wantIDs(t, 10, 1, 2, 3)
		leg.wantUnits(t, 3)
	}
	leg.apply(t, []index.VectorUnit{leg.at(1, 80)}) // replace
	leg.wantIDs(t, 10, 2, 3, 1)
	leg.apply(t, nil, 2) // delete
	leg.wantIDs(t, 10, 3, 1)
	leg.apply(t, nil, 2, 99) // delete what is not there
	leg.apply(t, nil)
	leg.wantIDs(t, 10, 3, 1)
	leg.wantUnits(t, 2)
	leg.apply(t, []index.VectorUnit{leg.at(2, 10), leg.at(0, 20), leg.at(math.MaxUint64, 5)}) // bring back; any id will do
	leg.wantIDs(t, 10, math.MaxUint64, 2, 0, 3, 1)
}

func testDenseLastWord(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 10), leg.at(2, 20), leg.at(1, 50), leg.at(3, 5)}, 3)
	leg.wantIDs(t, 10, 2, 1) // the later upsert counts, and a delete after both
	leg.wantUnits(t, 2)
}

func testDenseEmpty(t *testing.T, leg *denseLeg) {
	leg.wantIDs(t, 10)
	leg.wantUnits(t, 0)
	if c := leg.Cursor(); c != 0 {
		t.Errorf("Cursor of a new leg = %d, want 0", c)
	}
	leg.apply(t, []index.VectorUnit{leg.at(1, 0)})
	leg.apply(t, nil, 1)
	leg.wantIDs(t, 10)
	leg.wantUnits(t, 0)
}

func testDenseK(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 0), leg.at(2, 30), leg.at(3, 60)})
	leg.wantIDs(t, 2, 1, 2)
	leg.wantIDs(t, 3, 1, 2, 3)
	leg.wantIDs(t, math.MaxInt, 1, 2, 3)
	leg.wantIDs(t, 0)
	leg.wantIDs(t, -1)
	leg.wantIDs(t, math.MinInt)
}

func testDenseTies(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(9, 0), leg.at(4, 0), leg.at(7, 0), leg.at(8, 40)})
	leg.apply(t, []index.VectorUnit{leg.at(5, 0), leg.at(2, 0)})
	leg.wantIDs(t, 3, 2, 4, 5)
	leg.wantIDs(t, 9, 2, 4, 5, 7, 9, 8)
}

func testDenseCopies(t *testing.T, leg *denseLeg) {
	const step = 1000
	for from := 0; from < leg.opts.Copies; from += step {
		var batch []index.VectorUnit
		for id := from; id < min(from+step, leg.opts.Copies); id++ {
			batch = append(batch, leg.at(uint64(id), 20))
		}
		leg.apply(t, batch)
	}
	leg.wantUnits(t, leg.opts.Copies)
	hits := leg.search(t, index.DenseQuery{Vector: leg.at(0, 20).Vector, K: 10, Exact: true})
	for i, h := range hits {
		if h.ID != uint64(i) || math.Abs(h.Score-1) > epsilon {
			t.Errorf("hit %d of equal vectors = %+v, want id %d at 1", i, h, i)
		}
	}
	if hits := leg.search(t, index.DenseQuery{Vector: leg.at(0, 20).Vector, K: 10}); len(hits) != 10 {
		t.Errorf("got %d of %d equal vectors, want 10", len(hits), leg.opts.Copies)
	}
}

func testDenseZero(t *testing.T, leg *denseLeg) {
	zero := make([]float32, leg.opts.Dim)
	leg.apply(t, []index.VectorUnit{leg.at(1, 0), {ID: 2, Vector: zero}, leg.at(3, 30)})
	leg.wantIDs(t, 10, 1, 3)
	leg.apply(t, []index.VectorUnit{{ID: 1, Vector: zero}}) // takes the old vector away
	leg.wantIDs(t, 10, 3)
	leg.wantUnits(t, 1)
	if hits := leg.search(t, index.DenseQuery{Vector: zero, K: 10}); len(hits) != 0 {
		t.Errorf("a zero query found %v", hits)
	}
}

func testDenseMagnitudes(t *testing.T, leg *denseLeg) {
	scaled := func(id uint64, degrees float64, by float32) index.VectorUnit {
		u := leg.at(id, degrees)
		for i := range u.Vector {
			u.Vector[i] *= by
		}
		return u
	}
	leg.apply(t, []index.VectorUnit{scaled(1, 40, 1e38), scaled(2, 20, 1e-30), scaled(3, 60, -1)})
	leg.wantIDs(t, 10, 2, 1, 3)
	for _, h := range leg.search(t, index.DenseQuery{Vector: scaled(0, 40, 1e-38).Vector, K: 1}) {
		if h.ID != 1 || math.Abs(h.Score-1) > epsilon {
			t.Errorf("nearest = %+v, want unit 1 at 1", h)
		}
	}
}

func testDenseRefused(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 0), leg.at(2, 30)})
	for name, bad := range leg.badVectors() {
		err := leg.Apply(t.Context(), 99, []index.VectorUnit{leg.at(3, 10), {ID: 1, Vector: bad}, leg.at(2, 0)}, []uint64{2})
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: Apply = %v, want ErrInvalid", name, err)
		}
		leg.wantIDs(t, 10, 1, 2)
		leg.wantUnits(t, 2)
		_, err = leg.Search(t.Context(), index.DenseQuery{Vector: bad, K: 1})
		if !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: Search = %v, want ErrInvalid", name, err)
		}
		if s, ok := leg.Similarity(bad, 1); ok {
			t.Errorf("%s: Similarity = %v, want none", name, s)
		}
	}
}

func testDenseOwned(t *testing.T, leg *denseLeg) {
	batch := []index.VectorUnit{leg.at(1, 0), leg.at(2, 30)}
	gone := []uint64{7}
	if err := leg.Apply(t.Context(), 1, batch, gone); err != nil {
		t.Fatal(err)
	}
	clear(batch[0].Vector)
	batch[1], gone[0] = index.VectorUnit{}, 1
	leg.wantIDs(t, 10, 1, 2)
	q := leg.at(0, 0).Vector
	hits := leg.search(t, index.DenseQuery{Vector: q, K: 2})
	clear(hits)
	if q[0] != leg.at(0, 0).Vector[0] {
		t.Error("Search changed the query")
	}
	leg.wantIDs(t, 10, 1, 2)
}

func testDenseCancelled(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 0)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := leg.Apply(ctx, 2, []index.VectorUnit{leg.at(2, 0)}, []uint64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply = %v, want context.Canceled", err)
	}
	if _, err := leg.Search(ctx, index.DenseQuery{Vector: leg.at(0, 0).Vector, K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search = %v, want context.Canceled", err)
	}
	leg.wantIDs(t, 10, 1)
}

func testDenseClosed(t *testing.T, leg *denseLeg) {
	leg.apply(t, []index.VectorUnit{leg.at(1, 0)})
	if err := leg.Close(); err != nil {
		t.Fatal(err)
	}
	_, searchErr := leg.Search(t.Context(), index.DenseQuery{Vector: leg.at(0, 0).Vector, K: 1})
	for name, err := range map[string]error{
		"Apply":   leg.Apply(t.Context(), 2, []index.VectorUnit{leg.at(2, 0)}, nil),
		"Search":  searchErr,
		"Flush":   leg.Flush(t.Context()),
		"Compact": leg.Compact(t.Context()),
	} {
		if !errors.Is(err, index.ErrClosed) {
			t.Errorf("%s after Close = %v, want ErrClosed", name, err)
		}
	}
	if err := leg.Close(); err != nil && !errors.Is(err, index.ErrClosed) {
		t.Errorf("second Close = %v", err)
	}
	if s, ok := leg.Similarity(leg.at(0, 0).Vector, 1); ok || s != 0 {
		t.Errorf("Similarity after Close = %v, %v", s, ok)
	}
	if c := leg.Cursor(); c != 0 {
		t.Errorf("Cursor after Close = %d", c)
	}
	if s := leg.Stats(); s != (index.LegStats{}) {
		t.Errorf("Stats after Close = %+v", s)
	}
}
