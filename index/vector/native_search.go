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

// scanShare is what part of all units is asked for when comparing with all is as
// quick as the graph and the rows of what it finds.
const scanShare = 16

// Search implements [index.Dense].
func (n *Native) Search(ctx context.Context, q index.DenseQuery) ([]index.Scored, error) {
	if hits, ok, err := n.nearest(ctx, q); ok || err != nil {
		return hits, err
	}
	return n.rows.Search(ctx, q)
}

// nearest asks the graph, and reports false if all rows must be compared.
func (n *Native) nearest(ctx context.Context, q index.DenseQuery) ([]index.Scored, bool, error) {
	if q.Only != nil {
		return nil, false, nil // few, to be looked at one by one
	}
	a := n.acquire()
	if a == nil {
		if n.retry.Load() != 0 {
			n.wake() // perhaps it is time
		}
		return nil, false, nil
	}
	defer a.release()
	if !a.whole.Load() {
		return nil, false, nil
	}
	unit, err := queryUnit(q.Vector, n.opts.Dimensions)
	if err != nil || unit == nil {
		return nil, false, nil // the rows say what is wrong, and in which order
	}
	m := a.mark.Load()
	v, err := n.rows.current()
	if err != nil {
		return nil, false, err
	}
	defer v.release()
	if q.K <= 0 || q.K > v.units/scanShare {
		return nil, false, nil
	}
	s := spare.Get().(*scratch)
	defer spare.Put(s)
	s.top = topK{k: q.K, hits: make([]index.Scored, 0, q.K)}
	sure, err := a.near(ctx, m, hnsw.Query{Unit: unit, K: q.K, Accept: q.Accept, Exhaustive: q.Exact}, s)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			n.fail(a, err)
		}
		return nil, false, ctx.Err()
	}
	if len(s.found) > max(v.units/scanShare, 4*q.K) {
		return nil, false, nil // codes tell too little apart: comparing with all is quicker
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

// near searches the graph for what a view after m has. It reports whether all that
// may be among the best was found.
func (a *accelerator) near(ctx context.Context, m *mark, q hnsw.Query, s *scratch) (sure bool, err error) {
	if err := s.ask(ctx, a, q); err != nil {
		return false, err
	}
	if !a.overtaken(m) {
		return s.info.Exhaustive, nil
	}
	if q.Exhaustive || a.tidied(m) {
		s.found = s.found[:0]
		return false, nil
	}
	q.Dead = true
	if err := s.ask(ctx, a, q); err != nil {
		return false, err
	}
	if a.tidied(m) {
		s.found = s.found[:0]
	}
	return false, nil
}

// scratch is what a search needs besides.
type scratch struct {
	found []hnsw.Near
	info  hnsw.Info
	ids   []uint64
	rows  [][]float32
	there []uint32 // places of the rows that there are
	dots  []float32
	top   topK
}

var spare = sync.Pool{New: func() any { return new(scratch) }}

// ask asks the graph.
func (s *scratch) ask(ctx context.Context, a *accelerator, q hnsw.Query) error {
	return guard(func() (err error) {
		s.found, s.info, err = a.Search(ctx, q, s.found[:0])
		return err
	})
}

// score offers what was found to the best, by the rows of a view. It returns for
// how much of it the view has another vector than the graph, or none.
func (s *scratch) score(unit []float32, v *storedView) (off int, err error) {
	n := len(s.found)
	slices.SortFunc(s.found, func(a, b hnsw.Near) int { return cmp.Compare(a.ID, b.ID) })
	// A unit that was replaced may come twice.
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

// offer offers the rows that there are to the best. It returns how many have the
// score that the graph has found, within its error.
func (s *scratch) offer(unit []float32) (right int) {
	s.there = s.there[:0]
	for i, row := range s.rows {
		if row != nil {
			s.there = append(s.there, uint32(i)) //nolint:gosec // as many as were asked for
		}
	}
	s.dots = slices.Grow(s.dots[:0], len(s.there))[:len(s.there)]
	// In one call: the rows lie anywhere, and are fetched while others are multiplied.
	kernels.Dot32(unit, kernel.Rows32{Chunks: s.rows, Stride: len(unit)}, s.there, s.dots)
	for i, at := range s.there {
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
