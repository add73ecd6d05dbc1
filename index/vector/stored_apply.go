package vector

import (
	"context"
	"log/slog"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

// backlog is how many times FlushUnits may be pending before Apply waits.
const backlog = 4

// Apply implements [index.Dense]. A failure to write in the background is logged
// and tried again later; it is not Apply's error, for what was applied is kept
// and found.
func (s *Stored) Apply(ctx context.Context, seq uint64, upserts []index.VectorUnit, deletes []uint64) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	lengths, err := norms(upserts, s.opts.Dimensions)
	if err != nil {
		return err
	}
	if err := s.change(seq, upserts, lengths, deletes); err != nil {
		return s.failed("apply", err)
	}
	s.keepUp(ctx)
	return nil
}

// change publishes the view after a checked batch.
func (s *Stored) change(seq uint64, upserts []index.VectorUnit, lengths []float64, deletes []uint64) error {
	ids := make([]uint64, 0, len(upserts)+len(deletes))
	for _, u := range upserts {
		ids = append(ids, u.ID)
	}
	ids = append(ids, deletes...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return index.ErrClosed
	}
	s.applied = max(s.applied, seq)
	if len(ids) == 0 {
		return nil
	}
	old := s.view.Load().segs
	segs := make([]held, len(old))
	err := guard(func() error {
		for i, h := range old {
			segs[i] = h.without(ids)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.frozen != nil {
		s.frozenState = s.frozen.apply(nil, nil, ids)
	}
	s.activeState = s.active.apply(upserts, lengths, deletes)
	s.changed += len(ids)
	s.publish(newStoredView(segs, s.memory()...))
	return nil
}

// memory returns the states of what is not stored. The caller holds mu.
func (s *Stored) memory() []*snapshot {
	if s.frozen != nil {
		return []*snapshot{s.frozenState, s.activeState}
	}
	return []*snapshot{s.activeState}
}

// keepUp starts a background flush when enough is pending, and waits when far
// too much is.
func (s *Stored) keepUp(ctx context.Context) {
	s.mu.Lock()
	due := !s.closed && s.changed >= max(s.opts.FlushUnits, s.retryAt)
	behind := due && s.retryAt == 0 && s.changed >= backlog*s.opts.FlushUnits
	if due && !behind && s.flushing.CompareAndSwap(false, true) {
		s.background.Go(func() {
			defer s.flushing.Store(false)
			throttle.LowerPriority()
			s.flushQuietly(s.life)
		})
	}
	s.mu.Unlock()
	if behind {
		s.flushQuietly(ctx)
	}
}

func (s *Stored) flushQuietly(ctx context.Context) {
	if err := s.Flush(ctx); err != nil && s.life.Err() == nil && ctx.Err() == nil {
		s.opts.Logger.Error("vector index: units stay in memory", slog.String("dir", s.opts.Dir), slog.Any("error", err))
	}
}
