package keyword

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ragctx/ragctx/index"
)

// A question looks up each of its terms in each part of the index, so parts cost
// time: scorch, which leaves about ten of each order of magnitude, spares writes.
// Once nothing was written for a while, the small ones are merged.
const (
	restful = 20 * time.Second // without a flush
	minTidy = 5                // parts that are merged for their number, at least
)

// mergeable returns how many units the parts that should become one have together, by
// the number of live units of each; 0 if all is well. See [index.MergeRun].
func mergeable(live []int) (units int) {
	slices.Sort(live)
	_, units = index.MergeRun(live, minTidy)
	return units
}

// rest has the index tidied when nothing is written for a while. The caller holds
// mu.
func (ix *Index) rest() {
	if ix.dir == "" || ix.closed {
		return
	}
	if ix.resting != nil {
		ix.resting.Stop()
	}
	ix.resting = time.AfterFunc(ix.opts.restful, func() {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		if ix.closed || !ix.tidying.CompareAndSwap(false, true) {
			return
		}
		ix.background.Go(func() {
			defer ix.tidying.Store(false)
			if err := ix.tidy(ix.life); err != nil && ix.life.Err() == nil {
				ix.opts.Logger.Warn("keyword index: parts were not merged", slog.String("dir", ix.dir), slog.Any("error", err))
			}
		})
	})
}

// tidy merges what is mergeable, and shows searches the outcome. Flushes and
// searches go on beside it.
func (ix *Index) tidy(ctx context.Context) error {
	select {
	case ix.merger <- struct{}{}:
		defer func() { <-ix.merger }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !ix.untidy() {
		return nil
	}
	var merge func(context.Context) error
	err := ix.withStore(ctx, func(s store) (err error) {
		merge, err = s.prepareTidy()
		return err
	})
	if err == nil && merge != nil {
		err = merge(ctx)
	}
	return errors.Join(err, ix.Flush(ctx)) // which shows also what scorch has merged by itself
}

// untidy reports whether searches see parts that should be one.
func (ix *Index) untidy() bool {
	v := ix.acquire()
	if v == nil {
		return false
	}
	defer v.release()
	return mergeable(liveUnitsOf(v.stored())) > 0
}

// liveUnitsOf returns how many live units each part has.
func liveUnitsOf(parts []part) []int {
	live := make([]int, len(parts))
	for i, p := range parts {
		live[i] = p.live
	}
	return live
}
