package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Feed is the source from which an index reads the contents of the store.
type Feed interface {
	// All passes every chunk of the collection to apply, without texts and vectors, in any order.
	// The last batch carries the number of the newest change.
	All(ctx context.Context, apply func(Batch) error) error
	// Follow returns the changes after one, a bounded number at a time, complete and in order. Its
	// Seq is the number of the last change, or after if there are none.
	Follow(ctx context.Context, after uint64, want Want) (Batch, error)
}

// Want says which data the chunks of a batch must carry.
type Want struct {
	Texts bool
	// Space names the embedding space of the vectors wanted; "" for no vectors.
	Space string
}

// CatchUp implements [Follower]. Concurrent callers share the work.
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

// advance applies the next batch. It returns false if nothing is new. The caller holds follow.
func (h *Hybrid) advance(ctx context.Context) (bool, error) {
	want := Want{Texts: true, Space: h.Space()}
	if h.opts.Deferred {
		want = Want{} // for the catalog
	}
	b, err := h.opts.Feed.Follow(ctx, h.applied.Load(), want)
	if err != nil {
		return false, fmt.Errorf("follow store: %w", err)
	}
	if b.Seq <= h.applied.Load() {
		return false, nil
	}
	h.apply(ctx, b)
	if h.saveDue() {
		h.wakeUp()
	}
	return true, nil
}

// wakeUp makes the background loop check for work.
func (h *Hybrid) wakeUp() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// Reopen opens both indexes again in the background, which is no failure. Changes that they have not saved are then fed to
// them again.
func (h *Hybrid) Reopen() {
	h.keyword.outdated.Store(true)
	h.vector.Load().outdated.Store(true)
	h.wakeUp()
}

// loop feeds the indexes their missing changes until ctx ends. It closes fed once there is nothing
// more to feed for now.
func (h *Hybrid) loop(ctx context.Context, fed chan<- struct{}) {
	defer close(h.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	back := h.opts.Back()
	for {
		select {
		case <-ctx.Done():
			return
		case <-back:
			back = h.opts.Back()
			h.retryNow()
		case <-h.wake:
		case <-timer.C:
		}
		wait := h.maintain(ctx)
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

// retryNow makes indexes that have failed be reopened at once.
func (h *Hybrid) retryNow() {
	h.write.Lock()
	defer h.write.Unlock()
	h.keyword.retryNow()
	h.vector.Load().retryNow()
	if h.next != nil {
		h.next.retryNow()
	}
}

// idle means no work until the next event.
const idle = time.Duration(-1)

// maintain does the next piece of work for each index that is not ready. It returns the time until
// more work is due.
func (h *Hybrid) maintain(ctx context.Context) time.Duration {
	wait := maintainSlot(ctx, h, "keyword", &h.keyword, Want{Texts: true})
	vectors := h.vector.Load()
	wait = sooner(wait, maintainSlot(ctx, h, "vector", &vectors.slot, Want{Space: vectors.name}))
	h.write.Lock()
	next := h.next
	h.write.Unlock()
	if next != nil {
		wait = sooner(wait, maintainSlot(ctx, h, "next vector", &next.slot, Want{Space: next.name}))
	}
	h.fedSome()
	return wait
}

// sooner returns the earlier of two waits.
func sooner(a, b time.Duration) time.Duration {
	if a == idle || b != idle && b < a {
		return b
	}
	return a
}

// openSlot opens a missing index if a retry is due. It returns false if the slot stays empty, and then the
// time until the next retry.
func openSlot[L part](ctx context.Context, h *Hybrid, name string, s *slot[L]) (wait time.Duration, ok bool) {
	err := ensure(h, s)
	if errors.Is(err, ErrClosed) { // the slot was replaced
		return idle, false
	}
	if err != nil && h.shadows.life.Err() == nil {
		level := slog.LevelError
		if s.logged {
			level = slog.LevelDebug
		}
		s.logged = true
		h.opts.Logger.Log(ctx, level, "index cannot be opened; that is retried", "index", name, "error", err)
	}
	if _, ok = s.current(); ok {
		s.logged = false
	}
	h.write.Lock()
	defer h.write.Unlock()
	return s.retryIn(h.opts.Now()), ok
}

// maintainSlot does the next piece of work for an index.
func maintainSlot[L part](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) time.Duration {
	if failed, outdated := s.suspected.Swap(false), s.outdated.Swap(false); failed || outdated {
		h.write.Lock()
		if failed {
			s.failed(h.opts.Now())
		}
		err := s.vacate()
		h.write.Unlock()
		if err != nil {
			h.opts.Logger.WarnContext(ctx, "index was closed with an error, and is reopened", "index", name, "error", err)
		}
	}
	if wait, ok := openSlot(ctx, h, name, s); !ok {
		return wait
	}
	if s.complete.Load() {
		return idle
	}
	if err := feedNext(ctx, h, name, s, want); err != nil {
		if ctx.Err() != nil {
			return 0
		}
		level := slog.LevelWarn
		if s.loggedUnfed {
			level = slog.LevelDebug
		}
		s.loggedUnfed = true
		h.opts.Logger.Log(ctx, level, "index could not be fed; that is retried", "index", name, "error", err)
		return time.Second
	}
	s.loggedUnfed = false
	return 0
}

// feedNext feeds an index the next changes that it lacks.
func feedNext[L part](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) error {
	s.feeding.Lock()
	defer s.feeding.Unlock()
	b, err := h.opts.Feed.Follow(ctx, s.at.Load(), want)
	if err != nil {
		return err
	}
	h.write.Lock()
	defer h.write.Unlock()
	l := s.part.Load()
	if l == nil {
		return nil // it failed in between
	}
	if b.Seq > s.at.Load() {
		if want.Space != "" {
			defer h.revises(b)()
		}
		err := feedPart(h, s, *l, &b)
		if s.part.Load() != l {
			return nil // it was replaced
		}
		if err != nil {
			if h.shadows.life.Err() == nil {
				failed(ctx, h, name, s, err, true, b.Seq)
			}
			return nil
		}
		s.at.Store(b.Seq)
	}
	s.paused.Store(false)
	if s.at.Load() >= h.applied.Load() {
		s.complete.Store(true)
		s.failures.Store(0)
	}
	return nil
}

// feedPart feeds an index a batch. If that is deferred or it is paused, batches of the catalog do not wait for it. The caller holds write.
func feedPart[L part](h *Hybrid, s *slot[L], l L, b *Batch) error {
	if h.opts.Deferred || s.paused.Load() {
		h.write.Unlock()
		defer h.write.Lock()
	}
	return s.feed(h.shadows.life, l, s.at.Load(), b.Seq, b)
}

// defers notes that both indexes lack a batch of the catalog. The caller holds write.
func (h *Hybrid) defers() {
	h.keyword.complete.Store(false)
	h.vector.Load().complete.Store(false)
	if h.lacking == nil {
		h.lacking = make(chan struct{})
	}
	h.wakeUp()
}

// fedSome ends the wait of searches when each index has everything, or has failed.
func (h *Hybrid) fedSome() {
	h.write.Lock()
	defer h.write.Unlock()
	vectors := &h.vector.Load().slot
	if h.lacking == nil || !settled(&h.keyword) || !settled(vectors) {
		return
	}
	if h.keyword.complete.Load() && vectors.complete.Load() {
		h.fedView.Store(h.view.Load())
	}
	close(h.lacking)
	h.lacking = nil
}

// settled reports whether an index is not being fed: it has everything, or has failed. The caller holds Hybrid.write.
func settled[L part](s *slot[L]) bool {
	_, ok := s.current()
	return s.complete.Load() || !ok && s.failures.Load() > 0
}

// feedWait is how long a search waits for indexes that are fed in the background. After a wait in vain, searches do not wait for
// twice as long.
const feedWait = time.Second

// awaitFed waits until the indexes have all chunks of the catalog.
func (h *Hybrid) awaitFed(ctx context.Context) {
	h.write.Lock()
	lacking := h.lacking
	h.write.Unlock()
	if lacking == nil || time.Now().UnixNano() < h.impatient.Load() {
		return
	}
	patience := time.NewTimer(feedWait)
	defer patience.Stop()
	select {
	case <-lacking:
	case <-ctx.Done():
	case <-patience.C:
		h.impatient.Store(time.Now().Add(2 * feedWait).UnixNano())
	}
}

// Prepare implements [Spaces].
func (h *Hybrid) Prepare(_ context.Context, to Space) error {
	h.write.Lock()
	defer h.write.Unlock()
	if h.next != nil {
		if h.next.name == to.Name {
			return nil
		}
		if err := h.next.close(); err != nil {
			return fmt.Errorf("prepare vector index: %w", err)
		}
	}
	h.next = newVectorSpace(to, h.opts.Vector)
	h.wakeUp()
	return nil
}

// Prepared implements [Spaces].
func (h *Hybrid) Prepared(context.Context) (bool, error) {
	h.write.Lock()
	defer h.write.Unlock()
	return h.next != nil && h.next.complete.Load(), nil
}

var errNotPrepared = errors.New("index: no vector index is prepared")

// Switch implements [Spaces]. It closes the old index.
func (h *Hybrid) Switch(ctx context.Context) error {
	h.follow.Lock()
	defer h.follow.Unlock()
	h.write.Lock()
	next := h.next
	if next == nil {
		h.write.Unlock()
		return errNotPrepared
	}
	h.write.Unlock()
	if err := ensure(h, &next.slot); err != nil { // in case it was prepared a moment ago
		return err
	}
	if _, ok := next.current(); !ok {
		return errNotPrepared
	}
	for next.at.Load() < h.applied.Load() {
		if err := feedNext(ctx, h, "vector", &next.slot, Want{Space: next.name}); err != nil {
			return err
		}
		if _, ok := next.current(); !ok {
			return errNotPrepared
		}
	}
	h.write.Lock()
	defer h.write.Unlock()
	if _, ok := next.current(); !ok || next.at.Load() < h.applied.Load() {
		return errNotPrepared // it failed a moment ago
	}
	next.paused.Store(false) // its server has taken everything since
	next.complete.Store(true)
	old := h.vector.Swap(next)
	h.next = nil
	return old.close()
}

// Abandon implements [Spaces].
func (h *Hybrid) Abandon(context.Context) error {
	h.write.Lock()
	defer h.write.Unlock()
	next := h.next
	h.next = nil
	if next == nil {
		return nil
	}
	return next.close()
}
