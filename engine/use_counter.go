package engine

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// useCounter counts how often memories are part of an answer. Counts are written in batches, so that no
// query waits for a write; a crash loses only some counts.
type useCounter struct {
	store interface {
		RecordUses(ctx context.Context, uses []store.Use) error
	}
	log *slog.Logger
	// reportUnsaved is called if counts could not be written.
	reportUnsaved func(context.Context, error)

	mu     sync.Mutex
	counts map[use]store.Use
	due    chan struct{}
	end    context.CancelFunc
	wg     sync.WaitGroup
}

type use struct {
	ns  int64
	key string
}

// Counts are written useInterval after the first, or as soon as maxPendingUses memories are counted.
const (
	useInterval    = 2 * time.Second
	maxPendingUses = 1000
)

func startUseCounter(e *core) *useCounter {
	u := &useCounter{
		store: e.store, log: e.opts.Logger, counts: make(map[use]store.Use), due: make(chan struct{}, 1),
		reportUnsaved: func(ctx context.Context, err error) {
			e.publishUnsaved(ctx, ragctx.Turn{}, "count uses of memories", err)
		},
	}
	var ctx context.Context
	ctx, u.end = context.WithCancel(context.Background())
	u.wg.Go(func() { u.loop(ctx) })
	return u
}

// add counts the memories among the items of an answer.
func (u *useCounter) add(ns int64, items []ragctx.ContextItem, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before := len(u.counts)
	for _, it := range items {
		if it.Provider != memory.Name {
			continue // items of other providers may have equal ids
		}
		k := use{ns, it.ID}
		c := u.counts[k]
		u.counts[k] = store.Use{Namespace: ns, Key: it.ID, Count: c.Count + 1, Last: now}
	}
	if before == 0 && len(u.counts) > 0 || len(u.counts) >= maxPendingUses {
		select {
		case u.due <- struct{}{}:
		default:
		}
	}
}

func (u *useCounter) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.due:
		}
		u.mu.Lock()
		many := len(u.counts) >= maxPendingUses
		u.mu.Unlock()
		if !many {
			select {
			case <-ctx.Done():
				return
			case <-time.After(useInterval):
			}
		}
		u.flush(ctx)
	}
}

func (u *useCounter) flush(ctx context.Context) {
	u.mu.Lock()
	all := make([]store.Use, 0, len(u.counts))
	for _, c := range u.counts {
		all = append(all, c)
	}
	clear(u.counts)
	u.mu.Unlock()
	if len(all) == 0 {
		return
	}
	if err := u.store.RecordUses(ctx, all); err != nil && ctx.Err() == nil {
		u.log.Warn("recording uses of memories failed", "error", err)
		u.reportUnsaved(ctx, err)
	}
}

// close writes the pending counts.
func (u *useCounter) close() {
	if u == nil {
		return
	}
	u.end()
	u.wg.Wait()
	u.flush(context.Background())
}
