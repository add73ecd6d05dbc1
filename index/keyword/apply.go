package keyword

import (
	"context"
	"log/slog"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

// segmentChunks is the target size of the segments that are to be stored; the rest of the last
// item may exceed it. One segment becomes one batch of the store, and larger batches are no
// faster.
const segmentChunks = 1000

// backlog is the multiple of FlushChunks at which Apply waits for the writer.
const backlog = 4

// Apply implements [index.KeywordIndex]. A failed background write is logged and retried later. Apply
// does not return it, because the batch is applied and searchable.
func (ix *Index) Apply(ctx context.Context, seq uint64, upserts []index.TextChunk, deletes []uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	upserts, err := ix.storeLong(ctx, index.Effective(upserts, deletes, func(u index.TextChunk) uint64 { return u.ID }))
	if err != nil {
		return err
	}
	var fresh []part
	size := len(upserts)
	if ix.dir != "" {
		size = segmentChunks
	}
	for rest := upserts; len(rest) > 0; {
		n := wholeItems(rest, size)
		fresh = append(fresh, newPart(analyse(rest[:n]), nil))
		rest = rest[n:]
	}
	if err := ix.publishBatch(seq, fresh, upserts, deletes); err != nil {
		return err
	}
	ix.keepUp(ctx)
	return nil
}

// wholeItems returns the number of leading chunks, at least size, that end with a complete
// item.
func wholeItems(chunks []index.TextChunk, size int) int {
	n := min(max(size, 1), len(chunks))
	for n < len(chunks) && chunks[n].Item == chunks[n-1].Item {
		n++
	}
	return n
}

// publishBatch publishes the view after a batch.
func (ix *Index) publishBatch(seq uint64, fresh []part, upserts []index.TextChunk, deletes []uint64) error {
	ids := slices.Clone(deletes)
	for _, u := range upserts {
		ids = append(ids, u.ID)
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.closed {
		return index.ErrClosed
	}
	v := ix.view.Load()
	if len(ids) > 0 {
		var parts []part
		err := guard(func() (err error) {
			parts, err = withoutAll(v.parts, ids)
			return err
		})
		if err != nil {
			return ix.damaged("apply", err)
		}
		fixed := len(v.stored()) + ix.frozen
		parts = compactMemory(append(parts, fresh...), fixed, ix.dir != "")
		ix.publish(newView(v.snap, parts))
	}
	for _, id := range deletes {
		ix.touched[id] = false
	}
	for _, u := range upserts {
		ix.touched[u.ID] = true
	}
	ix.applied = max(ix.applied, seq)
	return nil
}

// compactMemory merges the last memory parts so that few remain. A part is merged with its
// successors once they are at least half as large, so each posting moves a logarithmic number of
// times. The first fixed parts stay as they are.
func compactMemory(parts []part, fixed int, bounded bool) []part {
	tail := slices.DeleteFunc(parts[fixed:], func(p part) bool { return p.live == 0 })
	parts = parts[:fixed+len(tail)]
	if len(tail) < 2 {
		return parts
	}
	last := len(parts) - 1
	from, live := last, parts[last].live
	for from > fixed && parts[from-1].live <= 2*live && (!bounded || parts[from-1].live+live <= segmentChunks) {
		from--
		live += parts[from].live
	}
	if from < last {
		parts = append(parts[:from], mergeParts(parts[from:]))
	}
	return parts
}

// keepUp starts a background flush when enough chunks are pending, and waits for it when the
// backlog is full.
func (ix *Index) keepUp(ctx context.Context) {
	ix.mu.Lock()
	pending := len(ix.touched)
	due := !ix.closed && pending >= max(ix.opts.FlushChunks, ix.retryAt)
	behind := due && ix.retryAt == 0 && pending >= backlog*ix.opts.FlushChunks
	if due && !behind && ix.dir != "" && ix.flushing.CompareAndSwap(false, true) {
		ix.background.Go(func() {
			defer ix.flushing.Store(false)
			throttle.LowerPriority()
			ix.flushQuietly(ix.life)
		})
	}
	ix.mu.Unlock()
	if behind || due && ix.dir == "" {
		ix.flushQuietly(ctx)
	}
}

func (ix *Index) flushQuietly(ctx context.Context) {
	if err := ix.Flush(ctx); err != nil && ctx.Err() == nil && ix.life.Err() == nil {
		ix.opts.Logger.Error("keyword index: background flush failed; changes stay in memory",
			slog.String("dir", ix.dir), slog.Any("error", err))
	}
}
