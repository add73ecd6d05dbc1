package keyword

import (
	"context"
	"log/slog"
	"slices"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

// segmentUnits is the size of the segments that are to be stored, not counting
// the rest of a last parent: one makes a batch of the store's, and a longer batch
// gains nothing there.
const segmentUnits = 1000

// backlog is how many times FlushUnits may be pending before Apply waits.
const backlog = 4

// Apply implements [index.Lexical]. A failure to write in the background is
// logged and tried again later; it is not Apply's error, for what was applied is
// kept and found.
func (ix *Index) Apply(ctx context.Context, seq uint64, upserts []index.TextUnit, deletes []uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	upserts, err := ix.keepsLong(ctx, newest(upserts, deletes))
	if err != nil {
		return err
	}
	var fresh []part
	size := len(upserts)
	if ix.dir != "" {
		size = segmentUnits
	}
	for rest := upserts; len(rest) > 0; {
		n := wholeParents(rest, size)
		fresh = append(fresh, newPart(analyse(rest[:n]), nil))
		rest = rest[n:]
	}
	if err := ix.change(seq, fresh, upserts, deletes); err != nil {
		return err
	}
	ix.keepUp(ctx)
	return nil
}

// wholeParents returns how many of the units, size or more, make a segment that
// ends with a parent.
func wholeParents(units []index.TextUnit, size int) int {
	n := min(max(size, 1), len(units))
	for n < len(units) && units[n].Parent == units[n-1].Parent {
		n++
	}
	return n
}

// newest keeps the last upsert of each id, and none of those that the same batch
// deletes.
func newest(upserts []index.TextUnit, deletes []uint64) []index.TextUnit {
	seen := make(map[uint64]struct{}, len(upserts)+len(deletes))
	for _, id := range deletes {
		seen[id] = struct{}{}
	}
	kept := make([]index.TextUnit, 0, len(upserts))
	for _, u := range slices.Backward(upserts) {
		if _, ok := seen[u.ID]; !ok {
			seen[u.ID] = struct{}{}
			kept = append(kept, u)
		}
	}
	slices.Reverse(kept)
	return kept
}

// change publishes the view after a batch.
func (ix *Index) change(seq uint64, fresh []part, upserts []index.TextUnit, deletes []uint64) error {
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
		parts = settle(append(parts, fresh...), fixed, ix.dir != "")
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

// settle merges the last memory parts so that there are few of them: a part is
// merged with what comes after it once that is at least half as large, which moves
// each posting a logarithmic number of times. The first fixed parts stay as they are.
func settle(parts []part, fixed int, bounded bool) []part {
	tail := slices.DeleteFunc(parts[fixed:], func(p part) bool { return p.live == 0 })
	parts = parts[:fixed+len(tail)]
	if len(tail) < 2 {
		return parts
	}
	last := len(parts) - 1
	from, live := last, parts[last].live
	for from > fixed && parts[from-1].live <= 2*live && (!bounded || parts[from-1].live+live <= segmentUnits) {
		from--
		live += parts[from].live
	}
	if from < last {
		parts = append(parts[:from], mergeParts(parts[from:]))
	}
	return parts
}

// keepUp starts a background flush when enough is pending, and waits when far
// too much is.
func (ix *Index) keepUp(ctx context.Context) {
	ix.mu.Lock()
	pending := len(ix.touched)
	due := !ix.closed && pending >= max(ix.opts.FlushUnits, ix.retryAt)
	behind := due && ix.retryAt == 0 && pending >= backlog*ix.opts.FlushUnits
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
		ix.opts.Logger.Error("keyword index: units stay in memory", slog.String("dir", ix.dir), slog.Any("error", err))
	}
}
