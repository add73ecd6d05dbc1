package vector

import (
	"context"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
)

// held is a segment as a view sees it.
type held struct {
	*segment
	dead bitset
	live int
}

// without returns the segment with some more ids dead.
func (h held) without(ids []uint64) held {
	copied := false
	for _, id := range ids {
		row, ok := h.locate(id)
		if !ok || h.dead.has(row) {
			continue
		}
		if !copied {
			h.dead, copied = h.dead.clone(len(h.ids)), true
		}
		h.dead.set(row)
		h.live--
	}
	return h
}

// scan offers the live rows to top. It refuses rows that are not what was
// written.
func (h held) scan(ctx context.Context, q search, top *topK) error {
	for block := range h.sums {
		if block%scanStep == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		live := ^h.dead.word(block)
		if live == 0 {
			continue
		}
		if err := h.check(block); err != nil {
			return &damage{err}
		}
		from := block * blockRows
		to := min(from+blockRows, len(h.ids))
		scanRows(q, h.vecs[from*h.width:to*h.width], h.ids[from:to], live, top)
	}
	return nil
}

// look is scan for a search among few units: it looks for each of them.
func (h held) look(ctx context.Context, q search, top *topK) error {
	for i, id := range q.within(h.first, h.last) {
		if i%(scanStep*blockRows) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row, ok := h.locate(id)
		if !ok || h.dead.has(row) {
			continue
		}
		if err := h.check(row / blockRows); err != nil {
			return &damage{err}
		}
		q.offer(h.row(row), id, top)
	}
	return nil
}

func releaseAll(segs []held) {
	for _, h := range segs {
		h.release()
	}
}

// storedView is one state of a leg: stored segments, and the rows that are
// not stored yet. Every unit is live in one place at most. It is immutable but
// for its reference count, which keeps the segments mapped.
type storedView struct {
	refs   atomic.Int64
	segs   []held
	memory []*snapshot
	units  int
}

// newStoredView returns a view with one reference. It takes its own references
// to the segments.
func newStoredView(segs []held, memory ...*snapshot) *storedView {
	v := &storedView{segs: segs, memory: memory}
	v.refs.Store(1)
	for _, h := range segs {
		h.retain()
		v.units += h.live
	}
	v.units += v.pending()
	return v
}

// pending returns the number of units that are not stored.
func (v *storedView) pending() (n int) {
	for _, m := range v.memory {
		n += m.units
	}
	return n
}

func (v *storedView) release() {
	if v.refs.Add(-1) == 0 {
		releaseAll(v.segs)
	}
}

// acquire returns the current view with a reference of the caller's, nil once
// the leg is closed.
func (s *Stored) acquire() *storedView {
	for {
		v := s.view.Load()
		if v == nil {
			return nil
		}
		if n := v.refs.Load(); n > 0 && v.refs.CompareAndSwap(n, n+1) {
			return v
		}
	}
}

// publish replaces the view. The caller holds mu.
func (s *Stored) publish(v *storedView) { s.view.Swap(v).release() }

// scan returns the k units nearest to the padded unit vector of a search, best
// first.
func (v *storedView) scan(ctx context.Context, q search) ([]index.Scored, error) {
	top := newTopK(min(q.k, v.units))
	if top == nil {
		return nil, ctx.Err()
	}
	for _, h := range v.segs {
		scan := h.scan
		if q.only != nil {
			scan = h.look
		}
		if err := scan(ctx, q, top); err != nil {
			return nil, err
		}
	}
	for _, m := range v.memory {
		if err := m.offer(ctx, q, top); err != nil {
			return nil, err
		}
	}
	return top.sorted(), nil
}

// similarity returns the product of q with the stored row of an id.
func (v *storedView) similarity(q []float32, id uint64) (product float32, ok bool, err error) {
	for _, h := range v.segs {
		row, found := h.locate(id)
		if !found || h.dead.has(row) {
			continue
		}
		if err := h.check(row / blockRows); err != nil {
			return 0, false, &damage{err}
		}
		return dot(q, h.row(row)), true, nil
	}
	return 0, false, nil
}
