package vector

import (
	"context"
	"log/slog"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

// maxBacklog times FlushUnits is the number of pending changes at which Apply waits for a flush.
const maxBacklog = 4

// Apply implements [index.VectorIndex]. A failed background write is logged and retried later. It is not
// an error of Apply, as the changes are kept in memory and can be found.
func (s *stored) Apply(ctx context.Context, seq uint64, upserts []index.VectorChunk, deletes []uint64) error {
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
	s.flushIfDue(ctx)
	return nil
}

// change applies a validated batch and publishes the new view.
func (s *stored) change(seq uint64, upserts []index.VectorChunk, lengths []float64, deletes []uint64) error {
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
	segs := make([]liveSegment, len(old))
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

// memory returns the states that are not stored yet. The caller holds mu.
func (s *stored) memory() []*snapshot {
	if s.frozen != nil {
		return []*snapshot{s.frozenState, s.activeState}
	}
	return []*snapshot{s.activeState}
}

// flushIfDue starts a background flush when enough is pending, and flushes synchronously when the
// backlog is too large.
func (s *stored) flushIfDue(ctx context.Context) {
	s.mu.Lock()
	due := !s.closed && s.changed >= max(s.opts.FlushChanges, s.retryAt)
	behind := due && s.retryAt == 0 && s.changed >= maxBacklog*s.opts.FlushChanges
	if due && !behind && s.flushing.CompareAndSwap(false, true) {
		s.background.Go(func() {
			defer s.flushing.Store(false)
			throttle.LowerPriority()
			s.flushAndLog(s.ctx)
		})
	}
	s.mu.Unlock()
	if behind {
		s.flushAndLog(ctx)
	}
}

func (s *stored) flushAndLog(ctx context.Context) {
	if err := s.Flush(ctx); err != nil && s.ctx.Err() == nil && ctx.Err() == nil {
		s.opts.Logger.Error("vector index: flush failed; changes stay in memory until a later flush",
			slog.String("dir", s.opts.Dir), slog.Any("error", err))
	}
}
