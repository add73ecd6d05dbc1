package vector

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/hnsw"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

// scanShare: if K exceeds 1/scanShare of all chunks, comparing with all is as fast as the graph and
// the random access to the rows it finds.
const scanShare = 16

// Search implements [index.VectorIndex].
func (n *native) Search(ctx context.Context, q index.VectorQuery) ([]index.Scored, error) {
	if hits, ok, err := n.nearest(ctx, q); ok || err != nil {
		return hits, err
	}
	return n.rows.Search(ctx, q)
}

// nearest searches with the graph. It returns false if all rows must be compared.
func (n *native) nearest(ctx context.Context, q index.VectorQuery) ([]index.Scored, bool, error) {
	if q.Only != nil {
		return nil, false, nil // few chunks, which are compared one by one
	}
	a := n.acquire()
	if a == nil {
		if n.retry.Load() != 0 {
			n.wake() // the retry delay may have passed
		}
		return nil, false, nil
	}
	defer a.release()
	if !a.complete.Load() {
		return nil, false, nil
	}
	unit, err := queryUnit(q.Vector, n.opts.Dimensions)
	if err != nil || unit == nil {
		return nil, false, nil // the rows return the error, in their order of checks
	}
	m := a.synced.Load()
	v, err := n.rows.current()
	if err != nil {
		return nil, false, err
	}
	defer v.release()
	if q.K <= 0 || q.K > v.chunks/scanShare {
		return nil, false, nil
	}
	s := scratchPool.Get().(*scratch)
	defer scratchPool.Put(s)
	s.top = topK{k: q.K, hits: make([]index.Scored, 0, q.K)}
	sure, err := a.near(ctx, m, hnsw.Query{Unit: unit, K: q.K, Accept: q.Accept, Exhaustive: q.Exact}, s)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			n.fail(a, err)
		}
		return nil, false, ctx.Err()
	}
	if len(s.found) > max(v.chunks/scanShare, 4*q.K) {
		return nil, false, nil // codes resolve too little: comparing with all is faster
	}
	var off int
	err = guard(func() error {
		off, err = s.score(unit, v)
		return err
	})
	if err != nil {
		return nil, false, n.rows.failed("search", err)
	}
	ok := sure && off == 0 || !q.Exact && s.top.full()
	return s.top.sorted(), ok, nil
}

// near searches the graph for the contents of a view taken after m. It reports whether the result
// certainly includes all vectors that may be among the best.
func (a *accelerator) near(ctx context.Context, m *syncPoint, q hnsw.Query, s *scratch) (sure bool, err error) {
	if err := s.search(ctx, a, q); err != nil {
		return false, err
	}
	if !a.deletedSince(m) {
		return s.info.Exhaustive, nil
	}
	if q.Exhaustive || a.freedSince(m) {
		s.found = s.found[:0]
		return false, nil
	}
	q.Dead = true
	if err := s.search(ctx, a, q); err != nil {
		return false, err
	}
	if a.freedSince(m) {
		s.found = s.found[:0]
	}
	return false, nil
}

// scratch holds the reusable buffers of a search.
type scratch struct {
	found   []hnsw.Near
	info    hnsw.Info
	ids     []uint64
	rows    [][]int16
	present []uint32 // positions of the rows that exist
	dots    []float32
	top     topK
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// search searches the graph.
func (s *scratch) search(ctx context.Context, a *accelerator, q hnsw.Query) error {
	return guard(func() (err error) {
		s.found, s.info, err = a.Search(ctx, q, s.found[:0])
		return err
	})
}

// score offers the found vectors to top, scored by the rows of a view. It returns for how many of
// them the view has no vector or another one than the graph.
func (s *scratch) score(unit []float32, v *storedView) (off int, err error) {
	n := len(s.found)
	slices.SortFunc(s.found, func(a, b hnsw.Near) int { return cmp.Compare(a.ID, b.ID) })
	// A replaced chunk may be found twice.
	s.found = slices.CompactFunc(s.found, func(a, b hnsw.Near) bool { return a.ID == b.ID })
	s.ids = s.ids[:0]
	for _, f := range s.found {
		s.ids = append(s.ids, f.ID)
	}
	s.rows = slices.Grow(s.rows[:0], len(s.ids))[:len(s.ids)]
	clear(s.rows)
	defer clear(s.rows) // they may be unmapped
	if err := v.gather(s.ids, s.rows); err != nil {
		return 0, err
	}
	return n - s.offer(unit), nil
}

// offer offers the existing rows to top. It returns how many have the score that the graph found,
// within its error.
func (s *scratch) offer(unit []float32) (right int) {
	s.present = s.present[:0]
	for i, row := range s.rows {
		if row != nil {
			s.present = append(s.present, uint32(i)) //nolint:gosec // as many as were asked for
		}
	}
	s.dots = slices.Grow(s.dots[:0], len(s.present))[:len(s.present)]
	// One call: the rows are scattered, so fetching some overlaps with multiplying others.
	kernels.Dot16(unit, kernel.Rows16{Chunks: s.rows, Stride: len(unit)}, s.present, s.dots)
	for i, at := range s.present {
		product, f := s.dots[i], s.found[at]
		if max(product-f.Score, f.Score-product) <= s.info.Error {
			right++
		}
		if h := (index.Scored{ID: f.ID, Score: cosine(product)}); s.top.admits(h) {
			s.top.add(h)
		}
	}
	return right
}
