package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
)

// apply takes over a batch that follows what was applied before. Both legs that
// are there find it at once. A leg that fails is set aside, which costs its
// signal until it is made again.
func (h *Hybrid) apply(ctx context.Context, b Batch) {
	h.write.Lock()
	defer h.write.Unlock()
	h.catalogue(b)
	lead(ctx, h, "keyword", &h.lexical, &b)
	if len(b.Revised) > 0 {
		h.revising.Add(1)
		defer h.revising.Add(1)
	}
	lead(ctx, h, "vector", &h.dense.Load().slot, &b)
	h.mark(b)
	h.served.Store(h.view.Load())
	h.applied.Store(max(h.applied.Load(), b.Seq))
}

// lead gives a slot a batch. What a leg has begun ends with the index, and not with whoever
// waits for it.
func lead[L leg](ctx context.Context, h *Hybrid, name string, s *slot[L], b *Batch) {
	if err := s.take(h.reruns.life, b); err != nil && h.reruns.life.Err() == nil {
		h.failed(ctx, name, err, s.level.Load(), func() error { return s.stop(h.opts.Now()) }, func() { s.at.Store(b.Seq) })
	}
}

// failed deals with a leg that did not take a batch. What is wrong with the batch
// itself, such as a vector of another length, would fail again: it is passed
// over. Otherwise the leg starts again from what it has on disk.
func (h *Hybrid) failed(ctx context.Context, name string, err error, level bool, stop func() error, pass func()) {
	if errors.Is(err, ragctx.ErrInvalid) {
		h.opts.Logger.ErrorContext(ctx, "a leg refused units; they are not found by it", "leg", name, "error", err)
		if level {
			pass()
		}
		return
	}
	h.opts.Logger.WarnContext(ctx, "a leg failed and is opened again", "leg", name, "error", errors.Join(err, stop()))
	h.rouse()
}

// know takes over a batch of units without texts and vectors into the catalog.
func (h *Hybrid) know(b Batch) {
	h.write.Lock()
	defer h.write.Unlock()
	h.catalogue(b)
	h.mark(b)
	h.applied.Store(max(h.applied.Load(), b.Seq))
}

// learn fills the catalog from its file and the feed.
func (h *Hybrid) learn(ctx context.Context) error {
	if err := h.restore(); err != nil {
		h.opts.Logger.WarnContext(ctx, "index catalog is made again", "dir", h.opts.Dir, "reason", err)
	}
	if h.applied.Load() == 0 {
		err := h.opts.Feed.All(ctx, func(b Batch) error {
			h.know(b)
			return nil
		})
		if err != nil {
			return fmt.Errorf("read catalog: %w", err)
		}
	}
	for {
		b, err := h.opts.Feed.Follow(ctx, h.applied.Load(), Want{})
		if err != nil {
			return fmt.Errorf("follow store: %w", err)
		}
		if b.Seq <= h.applied.Load() {
			return nil
		}
		h.know(b)
	}
}

// mark notes ended and removed parents. It runs when the legs have the new
// units: for a moment both versions of a document can be found, and the check
// against the truth drops the old one; never neither.
func (h *Hybrid) mark(b Batch) {
	var changed []*parent
	for _, e := range b.Ended {
		if p := h.byParent[e.Parent]; p != nil {
			changed = append(changed, p)
			p.ended.Store(e.Seq)
			p.superseded.Store(micros(e.At))
			if p.thread != nil {
				p.thread.uneven.Store(true)
			}
		}
	}
	shorter := make(map[*thread]bool)
	for _, r := range b.Removed {
		if p := h.byParent[r.Parent]; p != nil {
			changed = append(changed, p)
			p.removed.Store(true)
			delete(h.byParent, r.Parent)
			if p.thread != nil {
				shorter[p.thread] = true
			}
		}
	}
	for t := range shorter {
		t.drop()
	}
	if len(b.Ended)+len(b.Removed) == 0 {
		return
	}
	next := *h.view.Load()
	if next.marked && len(next.plain.pages) > 0 {
		next.plain = next.lessPlain(changed)
	} else {
		next.marked = true
		next = next.withPlain()
	}
	h.gone += len(b.removedUnits())
	if h.gone >= max(leastGone, len(next.ids)/8) {
		next, h.gone = next.purged(), 0
	}
	h.view.Store(&next)
}

// leastGone is how many removed units at least make it worth going through the
// catalog to let go of them.
const leastGone = 1000

// catalogue publishes a view that holds the batch's new units.
func (h *Hybrid) catalogue(b Batch) {
	view := h.view.Load()
	voices := view.voices
	var fresh []known
	for i := range b.Add {
		e := &b.Add[i]
		if _, ok := view.at(e.ID); ok {
			continue // applied before
		}
		p := h.byParent[e.Parent.ID]
		if p == nil {
			p = newParent(e.Parent)
			p.thread = h.threads.of(e.Parent)
			h.byParent[e.Parent.ID] = p
		}
		var code uint32
		code, voices = h.intern(e.Voice, voices)
		fresh = append(fresh, known{e.ID, p, int32(e.Ordinal), code}) //nolint:gosec // a document has far fewer than 2³¹ chunks
	}
	if len(fresh) == 0 {
		return
	}
	next := view.with(fresh)
	next.voices = voices
	h.threads.add(fresh) // which are in order now
	count(fresh)
	h.view.Store(&next)
}

// count notes which units their parents have.
func count(units []known) {
	for _, u := range units {
		if p := u.parent; p.units == 0 || u.id < p.first {
			p.first = u.id
		}
		u.parent.units++
	}
}

// intern returns the code of a voice, and the voices with it.
func (h *Hybrid) intern(v Voice, voices []Voice) (uint32, []Voice) {
	timed := v.Timed
	v.Timed = false
	n, ok := h.voiceOf[v]
	if !ok {
		n = uint32(len(voices)) //nolint:gosec // far fewer than 2³¹ speakers
		voices = append(voices, v)
		h.voiceOf[v] = n
	}
	if timed {
		return n<<1 | 1, voices
	}
	return n << 1, voices
}

func newParent(of *Parent) *parent {
	p := &parent{Parent: of}
	p.ended.Store(of.Ended)
	p.superseded.Store(micros(of.Superseded))
	return p
}
