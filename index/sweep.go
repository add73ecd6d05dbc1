package index

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Remote is a [KeywordIndex] or [VectorIndex] with copies in a cluster. A copy that was away may restore what the others have
// deleted.
type Remote interface {
	// Stored passes the chunks of each copy of the index to visit, some at a time and in any order. A copy ends with its first error. An
	// index that another process feeds passes none.
	Stored(ctx context.Context, visit func(chunks []uint64) error) error
	// Purge deletes chunks from all copies. It fails if a copy may still have some.
	Purge(ctx context.Context, chunks []uint64) error
}

// sweepRest is the minimum rest between sweeps, as a multiple of the time that a sweep takes.
const sweepRest = 50

// sweepAll sweeps until ctx ends.
func (h *Hybrid) sweepAll(ctx context.Context) {
	rest := h.opts.Sweep
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
		began := time.Now()
		var err error
		throttle.Background(func() { _, err = h.Sweep(ctx) })
		if err != nil && ctx.Err() == nil {
			h.opts.Logger.WarnContext(ctx, "index cannot be compared with the store; that is retried", "error", err)
		}
		rest = max(h.opts.Sweep, sweepRest*time.Since(began))
	}
}

// Sweep deletes chunks from both indexes that are not in the store, where others can bring them back (see [Remote]). It returns how
// many it deleted. It skips an index that is not ready.
func (h *Hybrid) Sweep(ctx context.Context) (deleted int, err error) {
	words, errWords := sweep(ctx, h, "keyword", &h.keyword)
	vectors, errVectors := sweep(ctx, h, "vector", &h.vector.Load().slot)
	return words + vectors, errors.Join(errWords, errVectors)
}

func sweep[L part](ctx context.Context, h *Hybrid, name string, s *slot[L]) (deleted int, err error) {
	l, complete, ok := s.serving()
	remote, is := any(l).(Remote)
	if !ok || !complete || !is {
		return 0, nil
	}
	err = remote.Stored(ctx, func(chunks []uint64) error {
		extra := h.absent(chunks)
		if len(extra) == 0 {
			return nil
		}
		// The index may be ahead of the catalog while it is being fed, but not of the store.
		if err := h.CatchUp(ctx, math.MaxUint64); err != nil {
			return err
		}
		if extra = h.absent(extra); len(extra) == 0 {
			return nil
		}
		if err := remote.Purge(ctx, extra); err != nil {
			return err
		}
		deleted += len(extra)
		return nil
	})
	if deleted > 0 {
		h.opts.Logger.WarnContext(ctx, "index had chunks that are not in the store; they were deleted", "index", name, "chunks", deleted)
	}
	if errors.Is(err, ErrClosed) { // the slot was replaced
		err = nil
	}
	return deleted, err
}

// absent returns the chunks that are not in the catalog, or are of removed items.
func (h *Hybrid) absent(chunks []uint64) (absent []uint64) {
	c := h.view.Load()
	for _, id := range chunks {
		if at, ok := c.at(id); !ok || c.items[at].removed.Load() {
			absent = append(absent, id)
		}
	}
	return absent
}
