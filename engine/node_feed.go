package engine

import (
	"context"
	"errors"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/throttle"
)

const (
	// feedInterval is how often a leader looks for indexes that lack changes.
	feedInterval = 10 * time.Second
	// feedRest is how long it rests at least, as a multiple of that work.
	feedRest = 20
	// feedTime is how long it waits for one index.
	feedTime = time.Minute
)

// feedUnused feeds indexes in a server that lack changes, once this process leads. After the death of another leader, only
// other processes may use their collections.
func (n *node) feedUnused(ctx context.Context) {
	shared, ok := n.engine.opts.Indexes.(index.Shared)
	if !ok || n.shared == nil || (Node{n.engine}).AwaitLead(ctx) != nil {
		return
	}
	n.reopen(func(store.Collection) bool { return true }) // they counted changes that the other leader may not have written
	for {
		began := time.Now()
		var lacked bool
		var err error
		throttle.Background(func() { lacked, err = n.feedAll(ctx, shared) })
		if err != nil && ctx.Err() == nil {
			n.engine.opts.Logger.WarnContext(ctx, "indexes that lack changes could not be fed; retrying", "error", err)
		}
		rest := feedInterval
		if err == nil && !lacked {
			rest = max(rest, feedRest*time.Since(began))
		}
		if httpclient.Sleep(ctx, rest) != nil || n.isLed() {
			return
		}
	}
}

// reopen opens the indexes of some open collections again.
func (n *node) reopen(which func(store.Collection) bool) {
	n.engine.collections.EachOpen(func(id store.Collection, idx index.Index) {
		if e, ok := idx.Engine.(interface{ Reopen() }); ok && which(id) {
			e.Reopen()
		}
	})
}

// feedAll feeds the collections that lack changes, one after the other. One without items gets its row, too: other nodes
// cannot open an index without it.
func (n *node) feedAll(ctx context.Context, shared index.Shared) (lacked bool, err error) {
	err = n.engine.eachCollection(ctx, func(_ string, id store.Collection) error {
		seq, err := n.shared.Newest(ctx, id)
		if err != nil {
			return err
		}
		for end := time.Now().Add(feedTime); time.Now().Before(end); {
			if has, err := shared.Has(ctx, n.engine.opening(id), seq); err != nil || has {
				return err
			}
			lacked = true
			if err := n.engine.collections.CatchUp(ctx, id, seq); err != nil && !errors.Is(err, ragctx.ErrUnavailable) {
				return err
			}
			if err := httpclient.Sleep(ctx, nodeInterval); err != nil {
				return err
			}
		}
		n.reopen(func(other store.Collection) bool { return other == id }) // it believes that the server has all
		return nil                                                         // the next round goes on
	})
	return lacked, err
}
