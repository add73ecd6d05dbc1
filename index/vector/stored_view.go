package vector

import (
	"context"
	"sync/atomic"

	"github.com/ragctx/ragctx/index"
)

// liveSegment is a segment with its dead rows as of a view.
type liveSegment struct {
	*segment
	dead bitset
	live int
}

// without returns the segment with additional dead ids.
func (h liveSegment) without(ids []uint64) liveSegment {
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

// scan offers the live rows to top. It returns an error for rows with a wrong checksum.
func (h liveSegment) scan(ctx context.Context, q search, top *topK) error {
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

// scanOnly is scan restricted to the ids of q.only: it looks up each of them.
func (h liveSegment) scanOnly(ctx context.Context, q search, top *topK) error {
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

func releaseAll(segs []liveSegment) {
	for _, h := range segs {
		h.release()
	}
}

// storedView is one state of an index: stored segments, and the rows not stored yet. Every chunk is
// live in at most one place. It is immutable except for its reference count, which keeps the
// segments mapped.
type storedView struct {
	refs   atomic.Int64
	segs   []liveSegment
	memory []*snapshot
	chunks int
}

// newStoredView returns a view with one reference. It takes its own references to the segments.
func newStoredView(segs []liveSegment, memory ...*snapshot) *storedView {
	v := &storedView{segs: segs, memory: memory}
	v.refs.Store(1)
	for _, h := range segs {
		h.retain()
		v.chunks += h.live
	}
	v.chunks += v.pending()
	return v
}

// pending returns the number of chunks that are not stored.
func (v *storedView) pending() (n int) {
	for _, m := range v.memory {
		n += m.rows
	}
	return n
}

func (v *storedView) release() {
	if v.refs.Add(-1) == 0 {
		releaseAll(v.segs)
	}
}

// acquire returns the current view with a reference for the caller, or nil once the index is
// closed.
func (s *stored) acquire() *storedView {
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
func (s *stored) publish(v *storedView) { s.view.Swap(v).release() }

// scan returns the k chunks nearest to the query of a search, best first.
func (v *storedView) scan(ctx context.Context, q search) ([]index.Scored, error) {
	top := newTopK(min(q.k, v.chunks))
	if top == nil {
		return nil, ctx.Err()
	}
	for _, h := range v.segs {
		scan := h.scan
		if q.only != nil {
			scan = h.scanOnly
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
