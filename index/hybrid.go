package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Options configure a [Hybrid]. Feed, Keyword and Vector are required.
type Options struct {
	// Dir is the directory of the catalog, so that opening need not read the whole store; "" keeps
	// the catalog in memory only.
	Dir  string
	Feed Feed
	// Keyword and Vector open the two indexes, at first and again after a failure. An index with
	// unusable files starts empty, with Cursor 0. The context ends when the [Hybrid] is closed.
	Keyword func(context.Context) (KeywordIndex, error)
	Vector  func(context.Context, Space) (VectorIndex, error)
	// Space is the embedding space of the vector index.
	Space Space
	// OpenWait is how long [Open] waits for incomplete indexes; 0 means [defaultOpenWait]. After
	// that they are fed in the background.
	OpenWait time.Duration
	// Deferred makes CatchUp and Open wait for the catalog alone, which hides what was deleted. The two indexes are opened
	// and fed in the background; a search waits for them up to a second, and is degraded while they lack something. Their
	// methods may then run concurrently.
	Deferred bool
	// Sweep is the rest between two sweeps, see [Hybrid.Sweep]; 0 means none by itself.
	Sweep time.Duration
	// Back returns a channel that is closed when the server of the indexes answers again, after which indexes that have failed are
	// opened at once; nil is for indexes without a server.
	Back func() <-chan struct{}
	// Origin returns the name of the store's state; Knows reports whether a name belongs to the
	// store's past. A catalog of another store is discarded. nil is for a store that is never
	// replaced.
	Origin func() string
	Knows  func(origin string) bool
	// Monitor records every search of the vector index, in addition to a monitor of this index
	// alone; nil measures nothing. See [Hybrid.Health].
	Monitor *RecallMonitor
	FS      atomicfile.FS // nil is the system's
	Now     func() time.Time
	Logger  *slog.Logger // silent by default
}

// defaultOpenWait is how long opening an index waits for its parts.
const defaultOpenWait = time.Second

func (o Options) withDefaults() Options {
	o.OpenWait = cmp.Or(o.OpenWait, defaultOpenWait)
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Knows == nil {
		o.Knows = func(string) bool { return true }
	}
	if o.Back == nil {
		o.Back = func() <-chan struct{} { return nil }
	}
	if o.FS == nil {
		o.FS = atomicfile.OS{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Hybrid is an [Engine] over a keyword and a vector index in this process. It follows the store
// through its [Feed].
//
// An index is reopened if it fails or its files were lost, torn or written by another version. It is
// fed from the store in the background. During that time the other one answers, and the
// incomplete one finds the chunks it has. Degraded names it until it is complete. New writes can be
// found in it at once.
type Hybrid struct {
	opts Options

	follow sync.Mutex // one goroutine at a time reads new changes from the feed

	write         sync.Mutex         // guards the fields below and all changes of the indexes
	byItem        map[uint64]*item   // the items of the view
	removedChunks int                // chunks of removed items in the view
	speakerCodes  map[Speaker]uint32 // positions among the view's speakers
	keyword       slot[KeywordIndex]
	vector        atomic.Pointer[vectorSpace] // replaced under follow and write
	next          *vectorSpace                // being prepared, or nil; guarded by write

	view    atomic.Pointer[catalog]
	threads threads
	applied atomic.Uint64 // newest change in the view
	saved   savedCatalog

	monitor *RecallMonitor          // for this index; nil measures nothing
	shadows shadowQueries           // background comparisons for the monitor
	fedView atomic.Pointer[catalog] // all complete indexes have the chunks of this view
	// revising counts the beginnings and ends of batches in which chunks get their vectors late: it
	// is odd during one.
	revising atomic.Uint64

	// lacking is closed, and then nil, when no index waits to be fed what it lacks; it is nil unless Options.Deferred. Guarded by
	// write. Searches do not wait for it until impatient, in Unix nanoseconds.
	lacking   chan struct{}
	impatient atomic.Int64

	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	sweeps sync.WaitGroup
}

// vectorSpace is a vector index and its embedding space.
type vectorSpace struct {
	slot[VectorIndex]

	name string
}

var _ Engine = (*Hybrid)(nil)

// Open returns an index of everything in the feed. It fails if the feed fails or ctx ends. An index
// that cannot be opened is retried later.
func Open(ctx context.Context, o Options) (*Hybrid, error) {
	o = o.withDefaults()
	h := &Hybrid{
		opts: o, byItem: make(map[uint64]*item), speakerCodes: map[Speaker]uint32{{}: 0},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if o.Dir != "" {
		if err := atomicfile.Clean(o.FS, o.Dir); err != nil {
			o.Logger.WarnContext(ctx, "cannot remove files of an interrupted write", "dir", o.Dir, "error", err)
		}
	}
	h.keyword.open, h.keyword.feed = o.Keyword, feedTexts
	h.vector.Store(newVectorSpace(o.Space, o.Vector))
	if o.Monitor != nil {
		h.monitor = o.Monitor.child()
	}
	h.view.Store(&catalog{speakers: make([]Speaker, 1)})
	if err := h.loadCatalog(ctx); err != nil {
		return nil, err
	}
	h.fedView.Store(h.view.Load())
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.shadows.life = stop, life
	leave := context.AfterFunc(ctx, stop)
	fed := make(chan struct{})
	if o.Deferred {
		h.lacking = make(chan struct{})
	} else {
		openSlot(ctx, h, "keyword", &h.keyword)
		openSlot(ctx, h, "vector", &h.vector.Load().slot)
	}
	go h.loop(life, fed)
	if o.Sweep > 0 {
		h.sweeps.Go(func() { h.sweepAll(life) })
	}
	if !o.Deferred {
		patience := time.NewTimer(o.OpenWait) // regardless of how long one document takes
		defer patience.Stop()
		select {
		case <-fed:
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	if !leave() {
		return nil, errors.Join(ctx.Err(), h.Close())
	}
	return h, nil
}

func newVectorSpace(of Space, open func(context.Context, Space) (VectorIndex, error)) *vectorSpace {
	s := &vectorSpace{name: of.Name}
	s.open = func(ctx context.Context) (VectorIndex, error) { return open(ctx, of) }
	s.feed = feedVectors
	return s
}

// Space implements [Spaces].
func (h *Hybrid) Space() string { return h.vector.Load().name }

// fileIndex has the methods of both indexes that act on their files.
type fileIndex interface {
	Flush(ctx context.Context) error
	Compact(ctx context.Context) error
}

// Flush makes all applied changes durable, as far as the indexes have files.
func (h *Hybrid) Flush(ctx context.Context) error {
	h.write.Lock()
	defer h.write.Unlock()
	var errs []error
	if l, ok := h.keyword.current(); ok {
		errs = append(errs, l.Flush(ctx))
	}
	if d, ok := h.vector.Load().current(); ok {
		errs = append(errs, d.Flush(ctx))
	}
	return errors.Join(errs...)
}

// Compact implements [Follower]. It includes an index that is being prepared, which has files, too. It
// returns [ragctx.ErrUnavailable] while an index is missing or incomplete: its files may hold
// removed data, or may still be fed it.
func (h *Hybrid) Compact(ctx context.Context) error {
	vectors := h.vector.Load()
	errs := []error{
		compact(ctx, h, "keyword", &h.keyword, Want{Texts: true}),
		compact(ctx, h, "vector", &vectors.slot, Want{Space: vectors.name}),
	}
	h.write.Lock()
	next := h.next
	h.write.Unlock()
	if next != nil {
		errs = append(errs, compact(ctx, h, "next vector", &next.slot, Want{Space: next.name}))
	}
	return errors.Join(append(errs, h.save(true))...)
}

// compact compacts an index that has everything that was applied when it is called. An index being prepared gets no new changes
// until it is switched to, so compact feeds it first, and so it does one that is fed in the background.
func compact[L part](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) error {
	newest := h.applied.Load()
	if h.opts.Deferred {
		if err := ensure(h, s); err != nil {
			return fmt.Errorf("%w: the %s index: %w", ragctx.ErrUnavailable, name, err)
		}
	}
	for s.at.Load() < newest && (s.complete.Load() || h.opts.Deferred) {
		if _, ok := s.current(); !ok {
			break
		}
		if err := feedNext(ctx, h, name, s, want); err != nil {
			return err
		}
	}
	l, ok := s.current()
	if !ok || s.at.Load() < newest {
		return fmt.Errorf("%w: the %s index is %s; try again when it is ready", ragctx.ErrUnavailable, name, s.state())
	}
	err := l.Compact(ctx)
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("%w: the %s index was replaced; try again", ragctx.ErrUnavailable, name)
	}
	return err
}

// Close ends the background work and closes both indexes.
func (h *Hybrid) Close() error {
	h.stop()
	<-h.done
	h.sweeps.Wait()
	h.shadows.close()
	h.follow.Lock()
	defer h.follow.Unlock()
	errSave := h.save(false)
	h.write.Lock()
	defer h.write.Unlock()
	errs := []error{errSave, h.keyword.close(), h.vector.Load().close()}
	if h.next != nil {
		errs = append(errs, h.next.close())
	}
	return errors.Join(errs...)
}
