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

// Options says what a [Hybrid] is made of. Feed, Lexical and Dense are required.
type Options struct {
	// Dir is where the catalog is kept, so that opening need not read all of the
	// store; "" keeps it in memory only.
	Dir  string
	Feed Feed
	// Lexical and Dense open the legs, now and again after one failed. A leg that
	// finds its files unusable starts afresh, with Cursor 0.
	Lexical func() (Lexical, error)
	Dense   func() (Dense, error)
	// Space names what the vectors of the dense leg are embedded with.
	Space string
	// Patience is how long [Open] waits for legs that lack something; 0 means
	// [DefaultPatience]. After that they are fed in the background.
	Patience time.Duration
	// Origin names the state of the store; Knows tells whether a name belongs to
	// the store's past. A catalog of another store is not used. nil for a store
	// that is never exchanged.
	Origin func() string
	Knows  func(origin string) bool
	// Gauge is told of every search of the dense leg, beside a part of it that is the
	// index's own; nil measures nothing. See [Hybrid.Vitals].
	Gauge  *Gauge
	FS     atomicfile.FS // nil is the system's
	Now    func() time.Time
	Logger *slog.Logger // silent by default
}

// DefaultPatience is how long opening an index waits for its legs.
const DefaultPatience = time.Second

func (o Options) withDefaults() Options {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Knows == nil {
		o.Knows = func(string) bool { return true }
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

// Hybrid is an [Index] over a lexical and a dense leg in this process. It
// follows the store through its [Feed].
//
// A leg that fails, or whose files were lost, torn or made by another version,
// is opened again and fed from the store in the background, while the other one
// answers and it finds what it has; Degraded names it until it has everything.
// What is written meanwhile is found in it at once.
type Hybrid struct {
	opts Options

	follow sync.Mutex // one at a time asks the feed for what is new

	write    sync.Mutex         // guards what follows and all changes of the legs
	byParent map[uint64]*parent // of the view's units
	gone     int                // units in the view whose parents were removed
	voiceOf  map[Voice]uint32   // places among the view's voices
	lexical  slot[Lexical]
	dense    atomic.Pointer[space] // replaced under follow and write
	next     *space                // is being prepared, or nil; guarded by write

	view    atomic.Pointer[catalog]
	threads threads
	applied atomic.Uint64 // newest change in the view
	saved   savedCatalog

	gauge  *Gauge                  // of this index; nil measures nothing
	reruns reruns                  // for the gauge
	served atomic.Pointer[catalog] // whose units the legs have that have everything
	// revising counts the beginnings and ends of batches in which units get their
	// vectors late: it is odd during one.
	revising atomic.Uint64

	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}
}

// space is a dense leg and what its vectors are embedded with.
type space struct {
	slot[Dense]

	name string
}

var _ Index = (*Hybrid)(nil)

// Open returns an index of everything in the feed. It fails when the feed does,
// or ctx ends; a leg that cannot be opened is tried again later.
func Open(ctx context.Context, o Options) (*Hybrid, error) {
	o = o.withDefaults()
	h := &Hybrid{
		opts: o, byParent: make(map[uint64]*parent), voiceOf: map[Voice]uint32{{}: 0},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if o.Dir != "" {
		if err := atomicfile.Clean(o.FS, o.Dir); err != nil {
			o.Logger.WarnContext(ctx, "files of an interrupted write are left", "dir", o.Dir, "error", err)
		}
	}
	h.lexical.open, h.lexical.give = o.Lexical, giveTexts
	h.dense.Store(newSpace(o.Space, o.Dense))
	if o.Gauge != nil {
		h.gauge = o.Gauge.Part()
	}
	h.view.Store(&catalog{voices: make([]Voice, 1)})
	if err := h.learn(ctx); err != nil {
		return nil, err
	}
	h.served.Store(h.view.Load())
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop, h.reruns.life = stop, life
	openSlot(ctx, h, "keyword", &h.lexical)
	openSlot(ctx, h, "vector", &h.dense.Load().slot)
	fed := make(chan struct{})
	go h.loop(life, fed)
	patience := time.NewTimer(o.Patience) // whatever one document takes
	defer patience.Stop()
	select {
	case <-fed:
	case <-patience.C:
	case <-ctx.Done():
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func newSpace(name string, open func() (Dense, error)) *space {
	s := &space{name: name}
	s.open, s.give = open, giveVectors
	return s
}

// Space names what queries' vectors are to be embedded with.
func (h *Hybrid) Space() string { return h.dense.Load().name }

// Dense returns the dense leg, for questions that only some implementations
// answer; nil while there is none.
func (h *Hybrid) Dense() Dense {
	d, _ := h.dense.Load().current()
	return d
}

// durableLeg is what the legs do to their files.
type durableLeg interface {
	Flush(ctx context.Context) error
	Compact(ctx context.Context) error
}

// Flush makes everything that was caught up with durable, as far as legs keep
// anything.
func (h *Hybrid) Flush(ctx context.Context) error {
	h.write.Lock()
	defer h.write.Unlock()
	var errs []error
	if l, ok := h.lexical.current(); ok {
		errs = append(errs, l.Flush(ctx))
	}
	if d, ok := h.dense.Load().current(); ok {
		errs = append(errs, d.Flush(ctx))
	}
	return errors.Join(errs...)
}

// Compact implements [Index]. A leg that is being prepared has files, too. While a
// leg is not there or not ready it is [ragctx.ErrUnavailable]: its files may hold
// what was removed, or may be given it yet.
func (h *Hybrid) Compact(ctx context.Context) error {
	dense := h.dense.Load()
	errs := []error{
		compact(ctx, h, "keyword", &h.lexical, Want{Texts: true}),
		compact(ctx, h, "vector", &dense.slot, Want{Space: dense.name}),
	}
	h.write.Lock()
	next := h.next
	h.write.Unlock()
	if next != nil {
		errs = append(errs, compact(ctx, h, "next vector", &next.slot, Want{Space: next.name}))
	}
	return errors.Join(append(errs, h.save(true))...)
}

// compact compacts a leg once it has everything. One that is prepared is not told
// of changes until its time comes, so it is told now.
func compact[L leg](ctx context.Context, h *Hybrid, name string, s *slot[L], want Want) error {
	for s.level.Load() && s.at.Load() < h.applied.Load() {
		if err := step(ctx, h, name, s, want); err != nil {
			return err
		}
	}
	l, whole, ok := s.serving()
	if !ok || !whole {
		return fmt.Errorf("%w: the %s leg of the index is %s", ragctx.ErrUnavailable, name, s.state())
	}
	err := l.Compact(ctx)
	if errors.Is(err, ErrClosed) {
		return fmt.Errorf("%w: the %s leg of the index was replaced meanwhile", ragctx.ErrUnavailable, name)
	}
	return err
}

// Stats implements [Index].
func (h *Hybrid) Stats() Stats {
	h.write.Lock()
	defer h.write.Unlock()
	return Stats{
		Units: len(h.view.Load().ids), Parents: len(h.byParent), Applied: h.applied.Load(),
		Lexical: h.lexical.stats(), Dense: h.dense.Load().stats(),
	}
}

// Close ends the background work and closes both legs.
func (h *Hybrid) Close() error {
	h.stop()
	<-h.done
	h.reruns.close()
	h.follow.Lock()
	defer h.follow.Unlock()
	errSave := h.save(false)
	h.write.Lock()
	defer h.write.Unlock()
	errs := []error{errSave, h.lexical.close(), h.dense.Load().close()}
	if h.next != nil {
		errs = append(errs, h.next.close())
	}
	return errors.Join(errs...)
}
