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
	// linkTime is how long vectors are linked before other work has its turn.
	linkTime = 20 * time.Second
	// reconcileRows is how many rows are compared with the graph while a batch
	// waits: a fraction of a millisecond.
	reconcileRows = 128
)

// wake starts the background work, if there is any and it is not under way.
func (n *Native) wake() {
	if !n.due() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || !n.tending.CompareAndSwap(false, true) {
		return
	}
	n.background.Go(func() {
		throttle.LowerPriority()
		n.tend(n.life)
		n.tending.Store(false)
		n.wake() // for what came up at the very end
	})
}

// due reports whether there may be something to do.
func (n *Native) due() bool {
	if n.rows.usable(n.life) != nil {
		return false
	}
	a := n.acquire()
	if a == nil {
		return n.units() >= n.opts.graphUnits && time.Now().UnixNano() >= n.retry.Load()
	}
	defer a.release()
	return !a.whole.Load() || a.linkable() || a.stale() || n.unsaved(a) || n.wasteful(a)
}

// A graph keeps the places of vectors that are gone for others. It is made again when
// it has wasteShare places for each of its vectors, and wasteLeast more.
const (
	wasteShare = 4
	wasteLeast = 50_000
)

func (n *Native) wasteful(a *accelerator) bool {
	st := a.Stats()
	return a.whole.Load() && st.Slots > wasteShare*st.Live+n.opts.wasteLeast
}

// units is the number of units of the leg.
func (n *Native) units() int {
	v, err := n.rows.current()
	if err != nil {
		return 0
	}
	defer v.release()
	return v.units
}

// tend does what is due, until nothing is. It runs once at a time.
func (n *Native) tend(ctx context.Context) {
	for ctx.Err() == nil && n.due() {
		a, err := n.tended()
		if err != nil {
			n.later(err)
			return
		}
		if err := n.tendOnce(ctx, a); err != nil && ctx.Err() == nil {
			n.fail(a, err)
		}
		a.release()
	}
}

// tended returns the graph with a reference, an empty one if there was none.
func (n *Native) tended() (*accelerator, error) {
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
	n.write.Lock() // a batch goes to rows and graph, or to rows alone
	defer n.write.Unlock()
	a := newAccelerator(g)
	a.retain()
	n.accel.Store(a)
	return a, nil
}

// discardFailed removes the files of a graph that was given up.
func (n *Native) discardFailed() error {
	select {
	case n.saving <- struct{}{}:
	case <-n.life.Done():
		return index.ErrClosed
	}
	defer func() { <-n.saving }()
	if n.file == "" {
		return nil
	}
	return n.discard()
}

// tendOnce does each kind of work once.
func (n *Native) tendOnce(ctx context.Context, a *accelerator) error {
	if !a.whole.Load() {
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
	if n.unsaved(a) {
		return n.save(ctx, a)
	}
	return nil
}

// tidy takes out of the graph what was deleted.
func (n *Native) tidy(ctx context.Context, a *accelerator) error {
	if err := a.tidy(ctx); err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	a.settle()
	return nil
}

// reconcile makes the graph have what the rows have, beside changes, and lets it
// answer.
func (n *Native) reconcile(ctx context.Context, a *accelerator) error {
	v, err := n.rows.current()
	if err != nil {
		return nil // the leg is closed or damaged
	}
	defer v.release()
	err = guard(func() error { return n.add(ctx, a, v) })
	if err == nil {
		err = guard(func() error { return n.prune(ctx, a) })
	}
	if err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	a.settle()
	a.whole.Store(true)
	n.failures.Store(0)
	return nil
}

// add puts the rows of a view, less those that are known, into the graph. What has
// changed since the view is seen to by the batch that changed it: a row counts as
// it is now.
func (n *Native) add(ctx context.Context, a *accelerator, v *storedView) error {
	return n.inTurns(ctx, v.unknown(a.saved.Load().knows), func(v *storedView, ids []uint64) error {
		rows := make([][]float32, len(ids))
		if err := guard(func() error { return v.gather(ids, rows) }); err != nil {
			return n.rows.failed("make graph", err)
		}
		for i, row := range rows {
			if row == nil {
				continue
			}
			if err := a.put(ids[i], row); err != nil {
				return err
			}
		}
		return nil
	})
}

// prune takes what no row stands for out of the graph.
func (n *Native) prune(ctx context.Context, a *accelerator) error {
	return n.inTurns(ctx, a.IDs(), func(v *storedView, ids []uint64) error {
		for i, has := range v.has(ids) {
			if !has {
				a.Delete(ids[i])
			}
		}
		return nil
	})
}

// inTurns runs work for units, a few at a time by ascending id, with the rows as they
// are then: batches have their turns between.
func (n *Native) inTurns(ctx context.Context, units iter.Seq[uint64], work func(v *storedView, ids []uint64) error) error {
	ids := make([]uint64, 0, reconcileRows)
	for id := range units {
		if ids = append(ids, id); len(ids) < cap(ids) {
			continue
		}
		if err := n.inTurn(ctx, ids, work); err != nil {
			return err
		}
		ids = ids[:0]
	}
	return n.inTurn(ctx, ids, work)
}

func (n *Native) inTurn(ctx context.Context, ids []uint64, work func(v *storedView, ids []uint64) error) error {
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
