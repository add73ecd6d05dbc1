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

// DefaultFlushChanges is the default of [Options].
const DefaultFlushChanges = 1000

var _ index.VectorIndex = (*stored)(nil)

// stored is a vector index that compares the query with every vector, as [flat] does, and stores
// the vectors in files. Its scores are bit-identical to those of [flat]. Rows are read from mapped
// files, so they take only memory that the system can reclaim.
//
// Changes are in memory at first and can be found at once. When enough are pending, and on Flush,
// they are written to a segment, an immutable file of rows. A manifest, which is replaced
// atomically, lists the live rows of each segment and the newest change included. Segments are
// merged in the background, so their number grows with the logarithm of the number of chunks, and
// each row is written a logarithmic number of times.
//
// A search works on an immutable view and never waits. Opening reads the manifest and the ids; the
// checksum of a block of rows is verified when a search first uses the block, so damage is detected
// before it affects a result. The index then returns an error until it is reopened, which starts
// with an empty index.
//
// # Files
//
// The directory holds "manifest", segments named by 16 hexadecimal digits and ".segment", and the
// empty file "damaged" once reading has failed. There are no files before the first flush. Files
// with other names are not touched.
type stored struct {
	opts      Options
	recovered string

	view   atomic.Pointer[storedView] // nil once closed
	cursor atomic.Uint64
	broken atomic.Pointer[error] // the error that disabled the index, or nil

	mu      sync.RWMutex // guards the fields below and the replacement of the view
	closed  bool
	applied uint64 // newest seq applied
	changed int    // changes since the last flush began
	retryAt int    // after a failed flush: the number of changes at which to retry
	active  *arena // receives changes
	frozen  *arena // being written by a running flush; nil between flushes
	// their states as shown by views
	activeState, frozenState *snapshot
	stale                    []string // files to remove once a manifest without them is durable

	writer chan struct{} // holds a token while the manifest changes; guards:
	listed []liveSegment // the segments of the manifest, with a reference each
	number uint64        // highest segment number

	merger     chan struct{} // holds a token while segments are merged
	background sync.WaitGroup
	flushing   atomic.Bool // a background flush is running
	merging    atomic.Bool // a background merge is running
	stop       context.CancelFunc
	ctx        context.Context //nolint:containedctx // ends background work with the index
}

// openStored opens the index in o.Dir. It starts with an empty one if the files cannot be used.
func openStored(o Options) (*stored, error) {
	s := &stored{
		opts: o, active: newArena(o.Dimensions), activeState: new(snapshot),
		writer: make(chan struct{}, 1), merger: make(chan struct{}, 1),
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.view.Store(newStoredView(s.listed, s.activeState))
	return s, nil
}

// load reads the stored state. If that cannot be used, it discards it and starts empty.
func (s *stored) load() error {
	m, segs, err := s.read()
	switch {
	case err == nil, errors.Is(err, errEmpty):
	case isDataError(err):
		s.recovered = err.Error()
		s.opts.Logger.Warn("stored vector index cannot be used and is rebuilt", slog.String("dir", s.opts.Dir), slog.Any("reason", err))
		if err := discard(s.opts.FS, s.opts.Dir); err != nil {
			return fmt.Errorf("vector: remove unusable index: %w", err)
		}
	default:
		return fmt.Errorf("vector: open %s: %w", s.opts.Dir, err)
	}
	s.listed = segs
	if m != nil {
		s.applied = m.Cursor
		s.cursor.Store(m.Cursor)
	}
	s.number, err = sweep(s.opts.FS, s.opts.Dir, s.inUse)
	if err != nil {
		s.opts.Logger.Warn("cannot remove old files of the vector index", slog.String("dir", s.opts.Dir), slog.Any("error", err))
	}
	for _, h := range segs {
		number, _ := segmentNumber(h.name)
		s.number = max(s.number, number)
	}
	return nil
}

// inUse reports whether a file is listed in the manifest or belongs to the graph of a native index.
func (s *stored) inUse(name string) bool {
	return isGraph(name) && s.opts.Graph == kindNative || slices.ContainsFunc(s.listed, func(h liveSegment) bool { return h.name == name })
}

// errEmpty reports that nothing is stored.
var errEmpty = errors.New("nothing is stored")

// isDataError reports whether an error concerns the stored data, not the process's resources or
// permissions.
func isDataError(err error) bool {
	for _, other := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, fs.ErrPermission} {
		if errors.Is(err, other) {
			return false
		}
	}
	return true
}

func (s *stored) read() (*manifest, []liveSegment, error) {
	noted, err := exists(s.opts.FS, s.opts.Dir, damagedFile)
	if err != nil {
		return nil, nil, err
	}
	if noted {
		return nil, nil, errors.New("an earlier read failed")
	}
	m, err := readManifest(s.opts.FS, s.opts.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errEmpty
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

// Recovered returns why stored data was discarded on open, or "".
func (s *stored) Recovered() string { return s.recovered }

// Search implements [index.VectorIndex].
func (s *stored) Search(ctx context.Context, q index.VectorQuery) (hits []index.Scored, err error) {
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

// Similarity implements [index.VectorIndex]. It finds nothing if v is zero, not finite, or of another dimension, and once the
// files are known to be damaged.
func (s *stored) Similarity(v []float32) func(id uint64) (float64, bool) {
	unit, _ := queryUnit(v, s.opts.Dimensions)
	if unit == nil {
		return dissimilar
	}
	return func(id uint64) (float64, bool) { return s.similarity(unit, id) }
}

func (s *stored) similarity(unit []float32, id uint64) (float64, bool) {
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

// find returns the row of an id if it is in memory, where rows are immutable. Otherwise it returns
// the view that may have it.
func (s *stored) find(id uint64) ([]int16, *storedView) {
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

// Cursor implements [index.VectorIndex].
func (s *stored) Cursor() uint64 {
	if s.view.Load() == nil {
		return 0
	}
	return s.cursor.Load()
}

// Stats implements [index.VectorIndex].
func (s *stored) Stats() index.PartStats {
	v := s.acquire()
	if v == nil {
		return index.PartStats{}
	}
	defer v.release()
	st := index.PartStats{Chunks: v.chunks, Pending: v.pending(), Kind: kindFlat}
	for _, h := range v.segs {
		st.Bytes += h.size
	}
	return st
}

// usable returns the error of a closed or damaged index, or of an ended context.
func (s *stored) usable(ctx context.Context) error {
	if s.view.Load() == nil {
		return index.ErrClosed
	}
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}

// Close ends background work and releases the files. Changes that were not flushed are lost, as
// Cursor reports. Running searches finish on their view. Closing twice is harmless.
func (s *stored) Close() error {
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
	s.merger <- struct{}{} // not released: running holders end, later ones find the index closed
	s.writer <- struct{}{}
	v.release()
	releaseAll(s.listed)
	return nil
}

func (o Options) withDefaults() Options {
	o.Graph = cmp.Or(o.Graph, kindNative)
	o.FlushChanges = cmp.Or(o.FlushChanges, DefaultFlushChanges)
	if o.Origin == nil {
		o.Origin = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = atomicfile.OS{}
	}
	o.minGraphChunks = cmp.Or(o.minGraphChunks, minGraphChunks)
	o.minSaveChanges = cmp.Or(o.minSaveChanges, minSaveChanges)
	o.quietAfter = cmp.Or(o.quietAfter, quietAfter)
	o.savePause = cmp.Or(o.savePause, savePause)
	o.minWaste = cmp.Or(o.minWaste, minWaste)
	if o.graphs == nil {
		o.graphs = hnswGraphs(o)
	}
	return o
}
