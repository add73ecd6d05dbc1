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

// minMerge is the least number of segments that are merged for their number.
const minMerge = 4

// mergeable returns the segments that are to become one; none if all is well.
//
// Those full of dead rows go first, then small ones; see [index.MergeRun].
func mergeable(segs []held) []held {
	if full := slices.DeleteFunc(slices.Clone(segs), func(h held) bool { return h.live*4 >= len(h.ids)*3 }); len(full) > 0 {
		return full
	}
	bySize := slices.SortedFunc(slices.Values(segs), func(a, b held) int { return cmp.Compare(a.live, b.live) })
	sizes := make([]int, len(bySize))
	for i, h := range bySize {
		sizes[i] = h.live
	}
	take, _ := index.MergeRun(sizes, minMerge)
	return bySize[:take]
}

// mergeBeside merges in the background, unless that is under way.
func (s *Stored) mergeBeside() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.merging.CompareAndSwap(false, true) {
		return
	}
	s.background.Go(func() {
		defer s.merging.Store(false)
		throttle.LowerPriority()
		if err := s.mergeAll(s.life); err != nil && s.life.Err() == nil {
			s.opts.Logger.Error("vector index: segments stay apart", slog.String("dir", s.opts.Dir), slog.Any("error", s.failed("merge", err)))
		}
	})
}

// mergeAll merges until all is well.
func (s *Stored) mergeAll(ctx context.Context) error {
	for {
		if err := s.take(ctx, s.merger); err != nil {
			return err
		}
		more, err := s.merge(ctx, mergeable)
		<-s.merger
		if err != nil || !more {
			return err
		}
	}
}

// merge makes one segment of those that pick picks, and reports whether there
// were any. The caller holds the merger's token; flushes go on beside it.
func (s *Stored) merge(ctx context.Context, pick func([]held) []held) (bool, error) {
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
	if err := s.take(ctx, s.writer); err != nil {
		s.drop(fresh)
		return false, err
	}
	defer func() { <-s.writer }()
	if err := s.adoptMerge(from, fresh); err != nil {
		return false, fmt.Errorf("vector: merge: %w", err)
	}
	return true, nil
}

// startMerge returns the segments to merge, each with a reference, and the name
// of what becomes of them.
func (s *Stored) startMerge(ctx context.Context, pick func([]held) []held) ([]held, string, error) {
	if err := s.take(ctx, s.writer); err != nil {
		return nil, "", err
	}
	defer func() { <-s.writer }()
	from := slices.Clone(pick(s.kept))
	if len(from) == 0 {
		return nil, "", nil
	}
	for _, h := range from {
		h.retain()
	}
	return from, s.nextName(), nil
}

// adoptMerge puts the merged segment, nil if it would have no rows, in the place
// of those it was made from: in the manifest, and in the view. The caller holds
// the writer's token and gives its reference to fresh away.
func (s *Stored) adoptMerge(from []held, fresh *segment) error {
	next, err := replaced(s.kept, from, fresh)
	if err == nil {
		err = s.commit(next, s.cursor.Load())
	}
	if err != nil {
		s.drop(fresh)
		return err
	}
	err = s.showMerge(from, fresh)
	for _, h := range from {
		s.removeLater(h.name)
	}
	releaseAll(from) // the references of kept
	s.removeStale()
	return err
}

// showMerge publishes the view with the merged segment.
func (s *Stored) showMerge(from []held, fresh *segment) error {
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

// replaced returns segs with fresh in the place of from. Rows that died since
// from was taken are dead in fresh.
func replaced(segs, from []held, fresh *segment) (next []held, err error) {
	err = guard(func() error {
		var gone []uint64
		for _, h := range segs {
			i := slices.IndexFunc(from, func(f held) bool { return f.segment == h.segment })
			if i < 0 {
				next = append(next, h)
				continue
			}
			for row := range h.dead.minus(from[i].dead) {
				gone = append(gone, h.ids[row])
			}
		}
		if fresh != nil {
			next = append(next, held{segment: fresh, live: len(fresh.ids)}.without(gone))
		}
		return nil
	})
	return next, err
}

// Compact implements [index.Dense]: it rewrites the segments that hold rows of
// units that are gone, and removes every file but those in use. Searches go on.
// After an error some may be left, and another call may succeed. A search that
// is under way keeps what it reads until it ends.
func (s *Stored) Compact(ctx context.Context) error {
	if err := s.take(ctx, s.merger); err != nil {
		return err
	}
	defer func() { <-s.merger }()
	if err := s.Flush(ctx); err != nil {
		return err
	}
	_, err := s.merge(ctx, func(segs []held) []held {
		return slices.DeleteFunc(slices.Clone(segs), func(h held) bool { return h.live == len(h.ids) })
	})
	if err != nil {
		return s.failed("compact", err)
	}
	if err := s.take(ctx, s.writer); err != nil {
		return err
	}
	defer func() { <-s.writer }()
	if _, err := sweep(s.opts.FS, s.opts.Dir, s.lists); err != nil {
		return fmt.Errorf("vector: compact: %w", err)
	}
	return nil
}
