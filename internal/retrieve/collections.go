package retrieve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// Unused indexes are closed after idleAfter. Above MaxOpen the least recently used one is closed
// before another is opened, so any number of namespaces is cheap.
const (
	idleAfter = 10 * time.Minute
	MaxOpen   = 256
)

// Collections manages the open indexes, one per kind of item and namespace. It opens them on demand
// and keeps them in sync with the store.
type Collections struct {
	open   func(context.Context, store.Collection) (index.Engine, error)
	newest func(context.Context, store.Collection) (uint64, error)
	log    *slog.Logger

	mu      sync.Mutex
	all     map[store.Collection]*collection // nil after close
	closing map[store.Collection]chan struct{}
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelFunc
	wg      sync.WaitGroup
}

// collection is one open index.
type collection struct {
	id    store.Collection
	ready chan struct{} // closed when index and err are set
	index index.Index
	err   error

	late  atomic.Int64 // until when, in Unix nanoseconds, users do not wait for changes of another process
	users int          // guarded by Collections.mu
	used  time.Time    // guarded by Collections.mu
}

// loaded reports whether opening the index has finished, successfully or not.
func (c *collection) loaded() bool {
	select {
	case <-c.ready:
		return true
	default:
		return false
	}
}

// NewCollections returns a manager without open indexes; open opens one. newest returns the change of another
// process that an index must have applied before it is used, 0 for none. Close ends the manager.
func NewCollections(
	open func(context.Context, store.Collection) (index.Engine, error),
	newest func(context.Context, store.Collection) (uint64, error), log *slog.Logger,
) *Collections {
	c := &Collections{
		open: open, newest: newest, log: log,
		all: make(map[store.Collection]*collection), closing: make(map[store.Collection]chan struct{}),
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.wg.Go(c.janitor)
	return c
}

// Get returns the index of a collection, opening it if necessary, and a func that releases it.
func (c *Collections) Get(ctx context.Context, id store.Collection) (index.Index, func(), error) {
	col, release, err := c.get(ctx, id)
	if err != nil {
		return index.Index{}, nil, err
	}
	if err := c.catchUp(ctx, col); err != nil {
		release()
		return index.Index{}, nil, err
	}
	return col.index, release, nil
}

// maxBehind is how long the user of an index waits for changes of another process.
const maxBehind = 2 * time.Second

// catchUp applies the changes of another process to an index. If that takes too long, the index is not used: it
// could show deleted items. For a while after that, other users wait only briefly.
func (c *Collections) catchUp(ctx context.Context, col *collection) error {
	wait := maxBehind
	if time.Now().UnixNano() < col.late.Load() {
		wait = briefly
	}
	short, end := context.WithTimeout(ctx, wait)
	defer end()
	seq, err := c.newest(short, col.id)
	if err == nil && seq != 0 {
		err = c.follow(short, col, seq)
	}
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		col.late.Store(time.Now().Add(maxBehind).UnixNano())
		return fmt.Errorf("%w: the index of this node is behind the database; try again", ragctx.ErrUnavailable)
	}
	return err
}

// briefly is the wait for an index that was behind a moment ago.
const briefly = 50 * time.Millisecond

// lasting returns ctx without its end, but with that of c.
func (c *Collections) lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(c.life, end)
	return ctx, func() { stop(); end() }
}

// closed returns [ragctx.ErrClosed] for an error of work that Close has ended.
func (c *Collections) closed(err error) error {
	if err != nil && c.life.Err() != nil {
		return fmt.Errorf("engine: %w", ragctx.ErrClosed)
	}
	return err
}

// follow applies the changes up to one to an index. If ctx ends first, that goes on until c is closed.
func (c *Collections) follow(ctx context.Context, col *collection, seq uint64) error {
	done := make(chan error, 1)
	c.mu.Lock()
	if c.all == nil {
		c.mu.Unlock()
		return fmt.Errorf("engine: %w", ragctx.ErrClosed)
	}
	col.users++
	c.wg.Go(func() {
		ctx, end := c.lasting(ctx)
		defer end()
		done <- c.closed(col.index.CatchUp(ctx, seq))
		c.mu.Lock()
		defer c.mu.Unlock()
		col.users--
	})
	c.mu.Unlock()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CatchUpOpen applies changes of another process to all indexes that are open or being opened. newest returns the
// change that an index must have applied; 0 is none.
func (c *Collections) CatchUpOpen(ctx context.Context, newest func(store.Collection) (uint64, error)) error {
	for _, id := range c.ids() {
		seq, err := newest(id)
		if err != nil {
			return err
		}
		if seq == 0 {
			continue
		}
		col, release, err := c.get(ctx, id)
		if err != nil {
			continue // its next opening reads all changes
		}
		err = col.index.CatchUp(ctx, seq)
		release()
		if err != nil {
			return err
		}
	}
	return nil
}

// get returns a collection, opening it if necessary, and a func that releases it.
func (c *Collections) get(ctx context.Context, id store.Collection) (*collection, func(), error) {
	c.mu.Lock()
	if c.all == nil {
		c.mu.Unlock()
		return nil, nil, fmt.Errorf("engine: %w", ragctx.ErrClosed)
	}
	col, ok := c.all[id]
	if !ok {
		col = &collection{id: id, ready: make(chan struct{})}
		c.all[id] = col
		// Independent of the request's context: others wait for the same index.
		closing := c.closing[id]
		c.wg.Go(func() {
			ctx, end := c.lasting(ctx)
			defer end()
			c.load(ctx, col, closing)
		})
	}
	col.users++
	c.mu.Unlock()

	release := sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		col.users--
		col.used = time.Now()
	})
	select {
	case <-col.ready:
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
	if col.err != nil {
		release()
		return nil, nil, col.err
	}
	return col, release, nil
}

// load opens the index. closing, if not nil, is closed once the previous instance of the same index
// is closed.
func (c *Collections) load(ctx context.Context, col *collection, closing <-chan struct{}) {
	defer close(col.ready)
	if closing != nil {
		<-closing // two instances must not open one directory
	}
	fail := func(err error) {
		col.err = c.closed(err)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.all[col.id] == col {
			delete(c.all, col.id) // the next request tries again
		}
	}
	// Each opening first closes excess indexes, so a burst of namespaces cannot outrun the closing.
	c.retire(c.excess()...)
	engine, err := c.open(ctx, col.id)
	if err != nil {
		fail(err)
		return
	}
	col.index = index.Index{Engine: engine}
}

// CatchUp applies the store's changes up to seq, so that an acknowledged write is found at once. It does so also if ctx ends. An erased
// namespace has no changes.
func (c *Collections) CatchUp(ctx context.Context, id store.Collection, seq uint64) error {
	err := c.Follow(context.WithoutCancel(ctx), id, seq)
	if isNotFound(err) {
		return nil
	}
	return err
}

// Follow applies the store's changes up to seq. If ctx ends first, that goes on. An erased namespace is [ragctx.ErrNotFound].
func (c *Collections) Follow(ctx context.Context, id store.Collection, seq uint64) error {
	col, release, err := c.get(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	return c.follow(ctx, col, seq)
}

// ids returns the collections whose index is open or being opened.
func (c *Collections) ids() []store.Collection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.all))
}

// Each calls fn for every index that is open or being opened.
func (c *Collections) Each(ctx context.Context, fn func(store.Collection, index.Index) error) error {
	for _, id := range c.ids() {
		col, release, err := c.get(ctx, id)
		if err != nil {
			return err
		}
		err = fn(id, col.index)
		release()
		if err != nil {
			return err
		}
	}
	return nil
}

// EachOpen calls fn for every open index. It does not count as a use, and skips indexes that are still
// being opened.
func (c *Collections) EachOpen(fn func(store.Collection, index.Index)) {
	c.mu.Lock()
	var held []*collection
	for _, col := range c.all {
		if col.loaded() && col.err == nil {
			col.users++
			held = append(held, col)
		}
	}
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, col := range held {
			col.users--
		}
	}()
	for _, col := range held {
		fn(col.id, col.index)
	}
}

// WithClosed closes an index once it has no users, calls fn, and lets it be opened again. Callers that
// request the index during fn wait. An index that cannot be opened counts as closed.
func (c *Collections) WithClosed(ctx context.Context, id store.Collection, fn func() error) error {
	col, release, err := c.get(ctx, id)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		release()
	}
	c.mu.Lock()
	if c.all == nil || c.all[id] != col || c.closing[id] != nil {
		c.mu.Unlock()
		return fmt.Errorf("%w: the index is being opened or closed; try again", ragctx.ErrConflict)
	}
	delete(c.all, id)
	closed := make(chan struct{})
	c.closing[id] = closed
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(closed)
		delete(c.closing, id)
	}()
	if col != nil {
		for !c.unused(col) { // existing users finish; new ones cannot get it
			time.Sleep(time.Millisecond)
		}
		err = col.index.Close()
	} else {
		err = nil
	}
	return errors.Join(err, fn())
}

func (c *Collections) unused(col *collection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return col.users == 0
}

// janitor closes idle indexes every minute.
func (c *Collections) janitor() {
	tick := time.NewTicker(time.Minute)
	defer tick.Stop()
	for {
		select {
		case <-c.life.Done():
			return
		case <-tick.C:
			c.retire(append(c.idle(time.Now()), c.excess()...)...)
		}
	}
}

// retire closes indexes that drop has removed.
func (c *Collections) retire(list ...*collection) {
	for _, col := range list {
		if err := col.index.Close(); err != nil {
			c.log.Warn("closing an index failed", "error", err)
		}
		c.mu.Lock()
		close(c.closing[col.id])
		delete(c.closing, col.id)
		c.mu.Unlock()
	}
}

// idle removes the unused indexes past idleAfter from the map and returns them.
func (c *Collections) idle(now time.Time) (out []*collection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, col := range c.all {
		if col.users == 0 && col.loaded() && now.Sub(col.used) > idleAfter {
			out = append(out, c.drop(col))
		}
	}
	return out
}

// excess removes the least recently used indexes above MaxOpen from the map and returns them.
func (c *Collections) excess() (out []*collection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.all) > MaxOpen {
		var oldest *collection
		for _, col := range c.all {
			if col.users == 0 && col.loaded() && (oldest == nil || col.used.Before(oldest.used)) {
				oldest = col
			}
		}
		if oldest == nil {
			break
		}
		out = append(out, c.drop(oldest))
	}
	return out
}

// drop removes an index from the map; the caller passes it to retire. The caller holds c.mu.
func (c *Collections) drop(col *collection) *collection {
	delete(c.all, col.id)
	c.closing[col.id] = make(chan struct{})
	return col
}

// Close closes all indexes, which ends the work on them. Later calls of Get fail with [ragctx.ErrClosed].
func (c *Collections) Close() error {
	c.mu.Lock()
	all := c.all
	c.all = nil
	c.mu.Unlock()
	if all == nil {
		return nil
	}
	c.end()
	defer c.wg.Wait()
	var errs []error
	for _, col := range all {
		<-col.ready
		if col.err == nil {
			errs = append(errs, col.index.Close())
		}
	}
	return errors.Join(errs...)
}
