package engine

import (
	"context"
	"errors"
	"fmt"
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
	// feedRest is how long it rests if all but those that fail have everything, as a multiple of that work.
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
	for failed := false; ; {
		began := time.Now()
		var soon bool
		var err error
		throttle.Background(func() { soon, err = n.feedAll(ctx, shared) })
		log := n.engine.opts.Logger
		switch {
		case ctx.Err() != nil:
		case err != nil && !failed:
			log.WarnContext(ctx, "indexes that lack changes could not be fed; retrying", "error", err)
		case err != nil:
			log.DebugContext(ctx, "indexes that lack changes could not be fed again", "error", err)
		case failed:
			log.InfoContext(ctx, "indexes that lack changes are fed again")
		}
		failed = err != nil
		rest := feedInterval
		if !soon {
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

// feedAll feeds the collections that lack changes, one after the other. One that fails does not keep the others from it, unless
// the server or the store is away. soon reports whether there is more to do as soon as possible.
func (n *node) feedAll(ctx context.Context, shared index.Shared) (soon bool, err error) {
	var failed error // the first
	others := 0
	err = n.engine.eachCollection(ctx, func(name string, id store.Collection) error {
		seq, err := n.shared.Newest(ctx, id)
		if isNotFound(err) { // erased in between
			return nil
		}
		if err != nil {
			return err
		}
		lacked, err := n.feed(ctx, shared, id, seq)
		switch {
		case isNotFound(err): // the same
		case ctx.Err() != nil, errors.Is(err, index.ErrAway):
			return err
		case err == nil:
			soon = soon || lacked
		case failed == nil:
			failed = fmt.Errorf("%s of namespace %q: %w", id.Kind, name, err)
		default:
			others++
		}
		return nil
	})
	if others > 0 {
		failed = fmt.Errorf("%w; %d other collections failed, too", failed, others)
	}
	return soon || err != nil, errors.Join(failed, err)
}

// feed feeds a collection if it lacks changes up to one. One without items gets its row, too: other nodes cannot open an index without it.
func (n *node) feed(ctx context.Context, shared index.Shared, id store.Collection, seq uint64) (lacks bool, err error) {
	for end := time.Now().Add(feedTime); time.Now().Before(end); {
		if has, err := shared.Has(ctx, n.engine.opening(id), seq); err != nil || has {
			return lacks, err
		}
		lacks = true
		if err := n.engine.collections.Follow(ctx, id, seq); err != nil && !errors.Is(err, ragctx.ErrUnavailable) {
			return lacks, err
		}
		if err := httpclient.Sleep(ctx, nodeInterval); err != nil {
			return lacks, err
		}
	}
	n.reopen(func(other store.Collection) bool { return other == id }) // it believes that the server has all
	return lacks, nil                                                  // the next round goes on
}
