package vector

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

// minMerge is the minimum number of segments that are merged because of their number.
const minMerge = 4

// pickMerge returns the segments to merge into one, or none if no merge is needed.
//
// Segments with many dead rows go first, then small ones; see [index.MergeRun].
func pickMerge(segs []liveSegment) []liveSegment {
	if full := slices.DeleteFunc(slices.Clone(segs), func(h liveSegment) bool { return h.live*4 >= len(h.ids)*3 }); len(full) > 0 {
		return full
	}
	bySize := slices.SortedFunc(slices.Values(segs), func(a, b liveSegment) int { return cmp.Compare(a.live, b.live) })
	sizes := make([]int, len(bySize))
	for i, h := range bySize {
		sizes[i] = h.live
	}
	take, _ := index.MergeRun(sizes, minMerge)
	return bySize[:take]
}

// mergeInBackground starts a background merge unless one is running.
func (s *stored) mergeInBackground() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.merging.CompareAndSwap(false, true) {
		return
	}
	s.background.Go(func() {
		defer s.merging.Store(false)
		throttle.LowerPriority()
		if err := s.mergeAll(s.ctx); err != nil && s.ctx.Err() == nil {
			s.opts.Logger.Error("vector index: segments were not merged",
				slog.String("dir", s.opts.Dir), slog.Any("error", s.failed("merge", err)))
		}
	})
}

// mergeAll merges until no merge is needed.
func (s *stored) mergeAll(ctx context.Context) error {
	for {
		if err := s.acquireToken(ctx, s.merger); err != nil {
			return err
		}
		more, err := s.merge(ctx, pickMerge)
		<-s.merger
		if err != nil || !more {
			return err
		}
	}
}

// merge merges the segments that pick selects into one, and reports whether there were any. The
// caller holds the merger's token. Flushes run concurrently.
func (s *stored) merge(ctx context.Context, pick func([]liveSegment) []liveSegment) (bool, error) {
	from, name, err := s.startMerge(ctx, pick)
	if err != nil || len(from) == 0 {
		return false, err
	}
	defer releaseAll(from)
	var fresh *segment
	err = guard(func() error {
		refs, source := mergedRows(from)
		fresh, err = s.store(ctx, name, refs, source)
		return err
	})
	if err != nil {
		s.removeLater(name)
		return false, fmt.Errorf("vector: merge: %w", err)
	}
	if err := s.acquireToken(ctx, s.writer); err != nil {
		s.discardSegment(fresh)
		return false, err
	}
	defer func() { <-s.writer }()
	if err := s.commitMerge(from, fresh); err != nil {
		return false, fmt.Errorf("vector: merge: %w", err)
	}
	return true, nil
}

// startMerge returns the segments to merge, each with a reference, and the name of the new segment.
func (s *stored) startMerge(ctx context.Context, pick func([]liveSegment) []liveSegment) ([]liveSegment, string, error) {
	if err := s.acquireToken(ctx, s.writer); err != nil {
		return nil, "", err
	}
	defer func() { <-s.writer }()
	from := slices.Clone(pick(s.listed))
	if len(from) == 0 {
		return nil, "", nil
	}
	for _, h := range from {
		h.retain()
	}
	return from, s.nextName(), nil
}

// commitMerge replaces the merged segments by fresh, in the manifest and in the view. fresh is nil
// if it would have no rows. The caller holds the writer's token and passes on its reference to
// fresh.
func (s *stored) commitMerge(from []liveSegment, fresh *segment) error {
	next, err := replaced(s.listed, from, fresh)
	if err == nil {
		err = s.commit(next, s.cursor.Load())
	}
	if err != nil {
		s.discardSegment(fresh)
		return err
	}
	err = s.publishMerge(from, fresh)
	for _, h := range from {
		s.removeLater(h.name)
	}
	releaseAll(from) // the references of listed
	s.removeStale()
	return err
}

// publishMerge publishes the view with the merged segment.
func (s *stored) publishMerge(from []liveSegment, fresh *segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	segs, err := replaced(s.view.Load().segs, from, fresh)
	if err == nil {
		s.publish(newStoredView(segs, s.memory()...))
	}
	return err
}

// replaced returns segs with fresh in place of from. Rows that died since from was taken are dead
// in fresh.
func replaced(segs, from []liveSegment, fresh *segment) (next []liveSegment, err error) {
	err = guard(func() error {
		var gone []uint64
		for _, h := range segs {
			i := slices.IndexFunc(from, func(f liveSegment) bool { return f.segment == h.segment })
			if i < 0 {
				next = append(next, h)
				continue
			}
			for row := range h.dead.minus(from[i].dead) {
				gone = append(gone, h.ids[row])
			}
		}
		if fresh != nil {
			next = append(next, liveSegment{segment: fresh, live: len(fresh.ids)}.without(gone))
		}
		return nil
	})
	return next, err
}

// Compact implements [index.VectorIndex]. It rewrites the segments that hold rows of deleted chunks and
// removes every file that is not in use. Searches continue. After an error some rows or files may
// remain, and a later call may succeed. A running search keeps its files until it ends.
func (s *stored) Compact(ctx context.Context) error {
	if err := s.acquireToken(ctx, s.merger); err != nil {
		return err
	}
	defer func() { <-s.merger }()
	if err := s.Flush(ctx); err != nil {
		return err
	}
	_, err := s.merge(ctx, func(segs []liveSegment) []liveSegment {
		return slices.DeleteFunc(slices.Clone(segs), func(h liveSegment) bool { return h.live == len(h.ids) })
	})
	if err != nil {
		return s.failed("compact", err)
	}
	if err := s.acquireToken(ctx, s.writer); err != nil {
		return err
	}
	defer func() { <-s.writer }()
	if _, err := sweep(s.opts.FS, s.opts.Dir, s.inUse); err != nil {
		return fmt.Errorf("vector: compact: %w", err)
	}
	return nil
}
