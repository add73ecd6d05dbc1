package index

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Feed is where an index learns what the store has.
type Feed interface {
	// All gives apply every unit of the collection, without texts and vectors, in
	// any order. The last batch carries the number of the newest change.
	All(ctx context.Context, apply func(Batch) error) error
	// Follow returns the changes after one, a bounded number at a time, whole and
	// in order. Its Seq is that of the last; it is after itself when there are
	// none.
	Follow(ctx context.Context, after uint64, want Want) (Batch, error)
}

// Want says what the entries of a batch are to carry.
type Want struct {
	Texts bool
	// Space names the embedding whose vectors are wanted; "" for none.
	Space string
}

// CatchUp implements [Index]. Callers that come together share the work.
func (h *Hybrid) CatchUp(ctx context.Context, seq uint64) error {
	h.follow.Lock()
	defer h.follow.Unlock()
	for h.applied.Load() < seq {
		more, err := h.advance(ctx)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// advance applies the next batch; it reports false if there is none. The caller
// holds follow.
func (h *Hybrid) advance(ctx context.Context) (bool, error) {
	b, err := h.opts.Feed.Follow(ctx, h.applied.Load(), Want{Texts: true, Space: h.Space()})
	if err != nil {
		return false, fmt.Errorf("follow store: %w", err)
	}
	if b.Seq <= h.applied.Load() {
		return false, nil
	}
	h.apply(ctx, b)
	if h.saveDue() {
		h.rouse()
	}
	return true, nil
}

// rouse makes the background work look around.
func (h *Hybrid) rouse() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// loop feeds the legs what they lack until ctx ends. It closes fed once they have all that
// they can have for now.
func (h *Hybrid) loop(ctx context.Context, fed chan<- struct{}) {
	defer close(h.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		case <-timer.C:
		}
		wait := h.tend(ctx)
		if wait >= 0 {
			timer.Reset(wait)
		}
		if wait != 0 && fed != nil {
			close(fed)
			fed = nil
		}
		if h.saveDue() {
			if err := h.save(false); err != nil {
				h.opts.Logger.WarnContext(ctx, "index catalog was not saved", "dir", h.opts.Dir, "error", err)
			}
		}
	}
}

// idle says that nothing is to be done until something happens.
const idle = time.Duration(-1)

// tend does the next piece of work for each leg that is not ready, and returns
// when there is more to do.
func (h *Hybrid) tend(ctx context.Context) time.Duration {
	wait := tendSlot(ctx, h, "keyword", &h.lexical, Want{Texts: true})
	dense := h.dense.Load()
	wait = sooner(wait, tendSlot(ctx, h, "vector", &dense.slot, Want{Space: dense.name}))
	h.write.Lock()
	next := h.next
	h.write.Unlock()
	if next != nil {
		wait = sooner(wait, tendSlot(ctx, h, "next vector", &next.slot, Want{Space: next.name}))
	}
	return wait
}

// sooner returns the earlier of two waits.
func sooner(a, b time.Duration) time.Duration {
	if a == idle || b != idle && b < a {
		return b
	}
	return a
}

// openSlot opens a leg that is not there and is due; ok is false if there is none, and wait
// is then when to try again.
func openSlot[L leg](ctx context.Context, h *Hybrid, name string, s *slot[L]) (wait time.Duration, ok bool) {
	now := h.opts.Now()
	h.write.Lock()
	wait, err := s.due(now), error(nil)
	_, there := s.current()
	if !there && wait == 0 {
		if err = s.ensure(now); err != nil {
			wait = s.due(now)
		}
	}
	h.write.Unlock()
	switch {
	case errors.Is(err, ErrClosed): // its place was taken
		return idle, false
	case err != nil:
		h.opts.Logger.ErrorContext(ctx, "a leg cannot be opened", "leg", name, "error", err)
		return wait, false
	}
	return wait, there || wait == 0
}

// tendSlot does the next piece of work for a leg.
func tendSlot[L leg](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) time.Duration {
	if s.ill.Swap(false) {
		h.write.Lock()
		err := s.stop(h.opts.Now())
		h.write.Unlock()
		h.opts.Logger.WarnContext(ctx, "a leg is opened again after a failed search", "leg", name, "error", err)
	}
	if wait, ok := openSlot(ctx, h, name, s); !ok {
		return wait
	}
	if s.level.Load() {
		return idle
	}
	if err := step(ctx, h, name, s, want); err != nil {
		if ctx.Err() != nil {
			return 0
		}
		h.opts.Logger.WarnContext(ctx, "a leg could not be fed", "leg", name, "error", err)
		return time.Second
	}
	return 0
}

// step feeds a leg the next changes that it lacks.
func step[L leg](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) error {
	b, err := h.opts.Feed.Follow(ctx, s.at.Load(), want)
	if err != nil {
		return err
	}
	h.write.Lock()
	defer h.write.Unlock()
	l, ok := s.current()
	if !ok {
		return nil // failed meanwhile
	}
	if b.Seq > s.at.Load() {
		if err := s.give(h.reruns.life, l, s.at.Load(), b.Seq, &b); err != nil {
			if h.reruns.life.Err() == nil {
				h.failed(ctx, name, err, true, func() error { return s.stop(h.opts.Now()) }, func() { s.at.Store(b.Seq) })
			}
			return nil
		}
		s.at.Store(b.Seq)
	}
	if s.at.Load() >= h.applied.Load() {
		s.level.Store(true)
		s.failures = 0
	}
	return nil
}

// Prepare begins to fill a dense leg with the vectors of another space, beside
// the one in use.
func (h *Hybrid) Prepare(name string, open func() (Dense, error)) error {
	h.write.Lock()
	defer h.write.Unlock()
	if h.next != nil {
		if h.next.name == name {
			return nil
		}
		if err := h.next.close(); err != nil {
			return fmt.Errorf("prepare vector leg: %w", err)
		}
	}
	h.next = newSpace(name, open)
	h.rouse()
	return nil
}

// Prepared reports whether the leg that [Hybrid.Prepare] began has everything,
// and how far it is.
func (h *Hybrid) Prepared() (stats LegStats, ok bool) {
	h.write.Lock()
	defer h.write.Unlock()
	if h.next == nil {
		return LegStats{}, false
	}
	return h.next.stats(), h.next.level.Load()
}

var errNotPrepared = errors.New("index: no vector leg is prepared")

// Switch puts the prepared leg in the place of the one in use, which it closes.
// A query whose vector is of the old space loses its vector signal; the caller
// asks again (see [Hybrid.Space]).
func (h *Hybrid) Switch(ctx context.Context) error {
	h.follow.Lock()
	defer h.follow.Unlock()
	h.write.Lock()
	next := h.next
	if next == nil {
		h.write.Unlock()
		return errNotPrepared
	}
	err := next.ensure(h.opts.Now()) // where it was prepared a moment ago
	h.write.Unlock()
	if err != nil {
		return err
	}
	for next.at.Load() < h.applied.Load() {
		if err := step(ctx, h, "vector", &next.slot, Want{Space: next.name}); err != nil {
			return err
		}
		if _, ok := next.current(); !ok {
			return errNotPrepared
		}
	}
	h.write.Lock()
	defer h.write.Unlock()
	next.level.Store(true)
	old := h.dense.Swap(next)
	h.next = nil
	return old.close()
}

// Abandon ends what [Hybrid.Prepare] began.
func (h *Hybrid) Abandon() error {
	h.write.Lock()
	defer h.write.Unlock()
	next := h.next
	h.next = nil
	if next == nil {
		return nil
	}
	return next.close()
}
