package keyword

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/ragctx/ragctx/index"
)

// A query looks up each of its terms in each part, so parts cost time. Scorch leaves about ten of
// each order of magnitude to save writes. After a while without writes, the small ones are merged.
const (
	tidyDelay = 20 * time.Second // time without a flush
	minTidy   = 5                // minimum number of parts worth merging
)

// mergeable returns the total number of chunks of the parts that should be merged, given the live
// chunks of each part; 0 if no merge is due. See [index.MergeRun].
func mergeable(live []int) (chunks int) {
	slices.Sort(live)
	_, chunks = index.MergeRun(live, minTidy)
	return chunks
}

// scheduleTidy (re)starts the timer that tidies the index. The caller holds mu.
func (ix *Index) scheduleTidy() {
	if ix.dir == "" || ix.closed {
		return
	}
	if ix.tidyTimer != nil {
		ix.tidyTimer.Stop()
	}
	ix.tidyTimer = time.AfterFunc(ix.opts.tidyDelay, func() {
		ix.mu.Lock()
		defer ix.mu.Unlock()
		if ix.closed || !ix.tidying.CompareAndSwap(false, true) {
			return
		}
		ix.background.Go(func() {
			defer ix.tidying.Store(false)
			if err := ix.tidy(ix.life); err != nil && ix.life.Err() == nil {
				ix.opts.Logger.Warn("keyword index: merging small parts failed", slog.String("dir", ix.dir), slog.Any("error", err))
			}
		})
	})
}

// tidy merges small parts and publishes the result. It does not block flushes and searches.
func (ix *Index) tidy(ctx context.Context) error {
	select {
	case ix.merger <- struct{}{}:
		defer func() { <-ix.merger }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if !ix.needsTidy() {
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
	return errors.Join(err, ix.Flush(ctx)) // also publishes merges that scorch did on its own
}

// needsTidy reports whether the current view has parts that should be merged.
func (ix *Index) needsTidy() bool {
	v := ix.acquire()
	if v == nil {
		return false
	}
	defer v.release()
	return mergeable(liveCounts(v.stored())) > 0
}

// liveCounts returns the number of live chunks of each part.
func liveCounts(parts []part) []int {
	live := make([]int, len(parts))
	for i, p := range parts {
		live[i] = p.live
	}
	return live
}
