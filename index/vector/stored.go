package vector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// DefaultFlushUnits is the default of [Options].
const DefaultFlushUnits = 1000

var _ index.Dense = (*Stored)(nil)

// Stored is a dense leg that compares the query with every vector, as [Flat]
// does, and keeps the vectors in files. Its scores are those of a Flat, bit for
// bit. Rows are read where the files are mapped, so they take no memory of the
// process but what the system may take back.
//
// Changes live in memory and are found at once. When enough are pending, and on
// Flush, they go to a segment, an immutable file of rows; a manifest, replaced as
// a whole, says which rows of which segments are live, and as of which change. In
// the background segments are merged, so that their number grows with the
// logarithm of the units, and each row is written a logarithmic number of times.
//
// A search works on an immutable view and waits for nobody. Opening reads the
// manifest and the ids; the checksum of a block of rows is compared when a search
// first uses the block, so damage is found before it shows. Then the leg answers
// with an error until it is opened again, which starts it afresh.
//
// # Files
//
// The directory holds "manifest", segments named by 16 hexadecimal digits and
// ".segment", and the empty file "damaged" once reading has failed. There are
// none before the first flush. Files of other names are not touched.
type Stored struct {
	opts      Options
	recovered string

	view   atomic.Pointer[storedView] // nil once closed
	cursor atomic.Uint64
	broken atomic.Pointer[error] // why nothing is answered any more

	mu      sync.RWMutex // guards what follows, and the replacing of the view
	closed  bool
	applied uint64 // newest seq
	changed int    // changes since the last flush began
	retryAt int    // after a failed flush: the number that tries again
	active  *arena // takes changes
	frozen  *arena // what a running flush writes; nil between flushes
	// what views show of the two
	activeState, frozenState *snapshot
	stale                    []string // files to be removed once a manifest without them is durable

	writer chan struct{} // holds a token while the manifest is changed; guards:
	kept   []held        // what the manifest lists, with a reference each
	number uint64        // highest number of a segment

	merger     chan struct{} // holds a token while segments are merged
	background sync.WaitGroup
	flushing   atomic.Bool // a background flush is under way
	merging    atomic.Bool // a background merge is under way
	stop       context.CancelFunc
	life       context.Context //nolint:containedctx // ends background work with the leg
}

// openStored opens the leg in o.Dir, or an empty one in place of one that cannot
// be used.
func openStored(o Options) (*Stored, error) {
	s := &Stored{
		opts: o, active: newArena(o.Dimensions), activeState: new(snapshot),
		writer: make(chan struct{}, 1), merger: make(chan struct{}, 1),
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.life, s.stop = context.WithCancel(context.Background())
	s.view.Store(newStoredView(s.kept, s.activeState))
	return s, nil
}

// load reads what is stored, or starts afresh if that cannot be used.
func (s *Stored) load() error {
	m, segs, err := s.read()
	switch {
	case err == nil, errors.Is(err, errNothing):
	case says(err):
		s.recovered = err.Error()
		s.opts.Logger.Warn("vector index is rebuilt", slog.String("dir", s.opts.Dir), slog.Any("reason", err))
		if err := discard(s.opts.FS, s.opts.Dir); err != nil {
			return fmt.Errorf("vector: remove unusable index: %w", err)
		}
	default:
		return fmt.Errorf("vector: open %s: %w", s.opts.Dir, err)
	}
	s.kept = segs
	if m != nil {
		s.applied = m.Cursor
		s.cursor.Store(m.Cursor)
	}
	s.number, err = sweep(s.opts.FS, s.opts.Dir, s.lists)
	if err != nil {
		s.opts.Logger.Warn("old files of the vector index stay", slog.String("dir", s.opts.Dir), slog.Any("error", err))
	}
	for _, h := range segs {
		number, _ := segmentNumber(h.name)
		s.number = max(s.number, number)
	}
	return nil
}

// lists reports whether a file is one of the manifest's, or of a graph that is
// kept beside the rows.
func (s *Stored) lists(name string) bool {
	return isGraph(name) && s.opts.Graph == kindNative || slices.ContainsFunc(s.kept, func(h held) bool { return h.name == name })
}

// errNothing says that nothing is stored.
var errNothing = errors.New("nothing is stored")

// says reports whether an error says something about what is stored, and not
// about this process or its rights.
func says(err error) bool {
	for _, other := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fs.ErrPermission} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

func (s *Stored) read() (*manifest, []held, error) {
	noted, err := exists(s.opts.FS, s.opts.Dir, damagedFile)
	if err != nil {
		return nil, nil, err
	}
	if noted {
		return nil, nil, errors.New("reading it has failed before")
	}
	m, err := readManifest(s.opts.FS, s.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errNothing
	}
	if err == nil {
		err = m.usable(&s.opts)
	}
	if err != nil {
		return nil, nil, err
	}
	segs, err := m.open(&s.opts)
	if err != nil {
		return nil, nil, err
	}
	return m, segs, nil
}

// Recovered says why what was stored was thrown away on open; "" if it was not.
func (s *Stored) Recovered() string { return s.recovered }

// Search implements [index.Dense].
func (s *Stored) Search(ctx context.Context, q index.DenseQuery) (hits []index.Scored, err error) {
	v, err := s.current()
	if err != nil {
		return nil, err
	}
	defer v.release()
	unit, err := queryUnit(q.Vector, s.opts.Dimensions)
	if err != nil || unit == nil {
		return nil, err
	}
	err = guard(func() error {
		hits, err = v.scan(ctx, search{unit: unit, k: q.K, accept: q.Accept, only: q.Only})
		return err
	})
	if err != nil {
		return nil, s.failed("search", err)
	}
	return hits, nil
}

// Similarity implements [index.Dense]. It is also false for a v that has no
// cosine: zero, not finite, or of another dimension; and once the files are found
// to be damaged.
func (s *Stored) Similarity(v []float32, id uint64) (float64, bool) {
	unit, release := direction(v, s.opts.Dimensions)
	if unit == nil {
		return 0, false
	}
	defer release()
	row, state := s.find(id)
	if row != nil {
		return cosine(dot(unit, row)), true
	}
	if state == nil {
		return 0, false
	}
	defer state.release()
	var product float32
	var ok bool
	err := guard(func() (err error) {
		product, ok, err = state.similarity(unit, id)
		return err
	})
	if err != nil || !ok {
		_ = s.failed("similarity", err)
		return 0, false
	}
	return cosine(product), true
}

// find returns the row of an id if it is in memory, which never changes, or the
// view that may have it.
func (s *Stored) find(id uint64) ([]float32, *storedView) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed || s.broken.Load() != nil {
		return nil, nil
	}
	if row := s.active.get(id); row != nil {
		return row, nil
	}
	if s.frozen != nil {
		if row := s.frozen.get(id); row != nil {
			return row, nil
		}
	}
	return nil, s.acquire()
}

// Cursor implements [index.Dense].
func (s *Stored) Cursor() uint64 {
	if s.view.Load() == nil {
		return 0
	}
	return s.cursor.Load()
}

// Stats implements [index.Dense].
func (s *Stored) Stats() index.LegStats {
	v := s.acquire()
	if v == nil {
		return index.LegStats{}
	}
	defer v.release()
	st := index.LegStats{Units: v.units, Pending: v.pending(), Kind: kindFlat}
	for _, h := range v.segs {
		st.Bytes += h.size
	}
	return st
}

// usable returns the error of a leg that is closed or broken, or of an ended
// context.
func (s *Stored) usable(ctx context.Context) error {
	if s.view.Load() == nil {
		return index.ErrClosed
	}
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// Close ends background work and lets go of the files. What was not flushed is
// lost, as the cursor says. Searches under way end on their view. Closing twice
// is harmless.
func (s *Stored) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	v := s.view.Swap(nil)
	s.mu.Unlock()
	s.stop()
	s.background.Wait()
	s.merger <- struct{}{} // for good: what is under way ends, others find it closed
	s.writer <- struct{}{}
	v.release()
	releaseAll(s.kept)
	return nil
}

func (o Options) withDefaults() Options {
	o.Graph = cmp.Or(o.Graph, kindNative)
	o.FlushUnits = cmp.Or(o.FlushUnits, DefaultFlushUnits)
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = atomicfile.OS{}
	}
	o.graphUnits = cmp.Or(o.graphUnits, graphUnits)
	o.saveUnits = cmp.Or(o.saveUnits, saveUnits)
	o.restful = cmp.Or(o.restful, restful)
	o.saveRest = cmp.Or(o.saveRest, saveRest)
	o.wasteLeast = cmp.Or(o.wasteLeast, wasteLeast)
	if o.graphs == nil {
		o.graphs = hnswGraphs(o)
	}
	return o
}
