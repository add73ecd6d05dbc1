package vector

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/throttle"
)

const (
	// linkTime is how long linking runs before other work gets its turn.
	linkTime = 20 * time.Second
	// reconcileRows is how many rows are compared with the graph while a batch waits: a fraction of
	// a millisecond.
	reconcileRows = 128
)

// wake starts the background work if some is due and it is not running.
func (n *native) wake() {
	if !n.workDue() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || !n.maintaining.CompareAndSwap(false, true) {
		return
	}
	n.background.Go(func() {
		throttle.LowerPriority()
		n.maintain(n.ctx)
		n.maintaining.Store(false)
		n.wake() // for work that came up at the very end
	})
}

// workDue reports whether there may be background work.
func (n *native) workDue() bool {
	if n.rows.usable(n.ctx) != nil {
		return false
	}
	a := n.acquire()
	if a == nil {
		return n.chunkCount() >= n.opts.minGraphChunks && time.Now().UnixNano() >= n.retry.Load()
	}
	defer a.release()
	return !a.complete.Load() || a.linkable() || a.stale() || n.saveDue(a) || n.wasteful(a)
}

// A graph keeps the slots of deleted vectors for reuse. It is rebuilt when its slots exceed
// wasteShare times its vectors plus minWaste.
const (
	wasteShare = 4
	minWaste   = 50_000
)

func (n *native) wasteful(a *accelerator) bool {
	st := a.Stats()
	return a.complete.Load() && st.Slots > wasteShare*st.Live+n.opts.minWaste
}

// chunkCount returns the number of chunks in the index.
func (n *native) chunkCount() int {
	v, err := n.rows.current()
	if err != nil {
		return 0
	}
	defer v.release()
	return v.chunks
}

// maintain does the background work until none is due. Only one goroutine runs it at a time.
func (n *native) maintain(ctx context.Context) {
	for ctx.Err() == nil && n.workDue() {
		a, err := n.graphToMaintain()
		if err != nil {
			n.retryLater(err)
			return
		}
		if err := n.maintainOnce(ctx, a); err != nil && ctx.Err() == nil {
			n.fail(a, err)
		}
		a.release()
	}
}

// graphToMaintain returns the graph with a reference. It creates an empty one if necessary.
func (n *native) graphToMaintain() (*accelerator, error) {
	if a := n.acquire(); a != nil {
		return a, nil
	}
	if err := n.discardFailed(); err != nil {
		return nil, err
	}
	g, err := n.graphs.empty()
	if err != nil {
		return nil, err
	}
	n.write.Lock() // so that a batch goes either to rows and graph, or to rows alone
	defer n.write.Unlock()
	a := newAccelerator(g)
	a.retain()
	n.accel.Store(a)
	return a, nil
}

// discardFailed removes the files of a dropped graph.
func (n *native) discardFailed() error {
	select {
	case n.saving <- struct{}{}:
	case <-n.ctx.Done():
		return index.ErrClosed
	}
	defer func() { <-n.saving }()
	if n.file == "" {
		return nil
	}
	return n.discard()
}

// maintainOnce does each kind of work once.
func (n *native) maintainOnce(ctx context.Context, a *accelerator) error {
	if !a.complete.Load() {
		if err := n.reconcile(ctx, a); err != nil {
			return err
		}
	}
	if a.linkable() {
		if err := a.link(ctx); err != nil {
			return err
		}
	}
	if a.stale() {
		if err := n.tidy(ctx, a); err != nil {
			return err
		}
	}
	if n.wasteful(a) {
		if n.accel.CompareAndSwap(a, nil) {
			a.release()
		}
		return nil
	}
	if n.saveDue(a) {
		return n.save(ctx, a)
	}
	return nil
}

// tidy removes the deleted vectors from the graph.
func (n *native) tidy(ctx context.Context, a *accelerator) error {
	if err := a.tidy(ctx); err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	a.markSynced()
	return nil
}

// reconcile brings the graph in line with the rows, concurrently with changes, and then lets it
// answer queries.
func (n *native) reconcile(ctx context.Context, a *accelerator) error {
	v, err := n.rows.current()
	if err != nil {
		return nil // the index is closed or damaged
	}
	defer v.release()
	err = guard(func() error { return n.addMissing(ctx, a, v) })
	if err == nil {
		err = guard(func() error { return n.prune(ctx, a) })
	}
	if err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	a.markSynced()
	a.complete.Store(true)
	n.failures.Store(0)
	return nil
}

// addMissing puts the rows of a view into the graph, except those that the saved file has. Rows
// that changed since are used as they are now: the batch that changed them has updated the graph.
func (n *native) addMissing(ctx context.Context, a *accelerator, v *storedView) error {
	return n.inBatches(ctx, v.idsOutside(a.saved.Load().contains), func(v *storedView, ids []uint64) error {
		rows := make([][]int16, len(ids))
		if err := guard(func() error { return v.gather(ids, rows) }); err != nil {
			return n.rows.failed("make graph", err)
		}
		for i, row := range rows {
			if row == nil {
				continue
			}
			if err := a.put(ids[i], decoded(row, n.opts.Dimensions)); err != nil {
				return err
			}
		}
		return nil
	})
}

// prune removes the vectors from the graph that have no row.
func (n *native) prune(ctx context.Context, a *accelerator) error {
	return n.inBatches(ctx, a.IDs(), func(v *storedView, ids []uint64) error {
		for i, has := range v.has(ids) {
			if !has {
				a.Delete(ids[i])
			}
		}
		return nil
	})
}

// inBatches calls work for ids in small groups, sorted, with the current rows. Changes can run
// between the groups.
func (n *native) inBatches(ctx context.Context, chunks iter.Seq[uint64], work func(v *storedView, ids []uint64) error) error {
	ids := make([]uint64, 0, reconcileRows)
	for id := range chunks {
		if ids = append(ids, id); len(ids) < cap(ids) {
			continue
		}
		if err := n.runBatch(ctx, ids, work); err != nil {
			return err
		}
		ids = ids[:0]
	}
	return n.runBatch(ctx, ids, work)
}

func (n *native) runBatch(ctx context.Context, ids []uint64, work func(v *storedView, ids []uint64) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	v, err := n.rows.current()
	if err != nil {
		return err
	}
	defer v.release()
	slices.Sort(ids)
	return work(v, ids)
}
