package keyword

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/ragctx/ragctx/index/keyword/internal/blockmax"
)

// Only the files named scorch use scorch's API. Some of it is exported without a stability promise,
// so the tests compare the data read with the data written.

// errLocked reports that the index is open elsewhere.
var errLocked = errors.New("the index is open already, here or in another process")

const (
	versionKey = "version"
	originKey  = "origin"
	cursorKey  = "cursor"
)

// lockTimeout is how long opening waits for another holder of the index.
const lockTimeout = 500 * time.Millisecond

type scorchStore struct {
	index *scorch.Scorch
	queue *bleveindex.AnalysisQueue
	cache map[uint64]*segmentCache // by segment id
	dir   string
	// failed counts the errors in scorch's own goroutines. Scorch counts them as well, but its
	// counters race with a merge.
	failed *asyncErrors
	// forcing is held during a forced merge: scorch refuses a second one.
	forcing chan struct{}
}

// Scorch reports errors of its goroutines to a callback that is registered by name, and identifies
// the index by its path.
const callbackName = "ragctx"

var failures sync.Map // path to *asyncErrors

// asyncErrors collects the errors of scorch's own goroutines.
type asyncErrors struct {
	number atomic.Uint64
	// cleanup is an error while removing old files, or nil.
	cleanup atomic.Pointer[error]
	// panicked reports that one of these goroutines has ended.
	panicked atomic.Bool
}

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegistryAsyncErrorCallbacks[callbackName] = func(err error, path string) {
		if known, ok := failures.Load(path); ok {
			failed := known.(*asyncErrors) //nolint:forcetypeassert // only these are stored
			failed.number.Add(1)
			if errors.Is(err, scorch.ErrCleanup) {
				failed.cleanup.Store(&err)
			}
			if errors.Is(err, scorch.ErrAsyncPanic) {
				failed.panicked.Store(true)
			}
		}
	}
}

func openScorch(dir string) (store, error) {
	if err := unseal(dir); err != nil {
		return nil, err
	}
	config := map[string]any{
		"forceSegmentType": segmentType, "forceSegmentVersion": segmentVersion,
		"path": scorchDir(dir), "bolt_timeout": lockTimeout.String(), "asyncErrorCallbackName": callbackName,
	}
	queue := bleveindex.NewAnalysisQueue(1)
	s := &scorchStore{
		queue: queue, dir: dir, cache: make(map[uint64]*segmentCache),
		failed: new(asyncErrors), forcing: make(chan struct{}, 1),
	}
	failures.Store(scorchDir(dir), s.failed)
	err := guard(func() error {
		if err := dropDamaged(dir); err != nil {
			return err
		}
		opened, err := scorch.NewScorch(scorch.Name, config, queue)
		if err != nil {
			return err
		}
		ix, ok := opened.(*scorch.Scorch)
		if !ok {
			return fmt.Errorf("scorch is a %T", opened)
		}
		if err := ix.Open(); err != nil {
			return err
		}
		s.index = ix
		return nil
	})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		err = errLocked
	}
	if err != nil {
		if s.index != nil {
			_ = guard(s.index.Close)
		}
		queue.Close()
		failures.CompareAndDelete(scorchDir(dir), s.failed)
		return nil, err
	}
	return s, nil
}

func (s *scorchStore) close() error {
	defer s.queue.Close()
	defer failures.CompareAndDelete(scorchDir(s.dir), s.failed)
	if err := guard(s.index.Close); err != nil {
		return err
	}
	return seal(s.dir)
}

func (s *scorchStore) write(b batch) error {
	sb := bleveindex.NewBatch()
	for _, id := range b.deletes {
		sb.Delete(key(id))
	}
	for _, u := range b.chunks {
		sb.Update(u)
	}
	sb.SetInternal([]byte(versionKey), []byte(b.meta.version))
	sb.SetInternal([]byte(originKey), []byte(b.meta.origin))
	cursor := binary.BigEndian.AppendUint64(nil, b.meta.cursor)
	cursor = binary.BigEndian.AppendUint64(cursor, b.meta.chunks)
	cursor = binary.BigEndian.AppendUint64(cursor, b.meta.length)
	sb.SetInternal([]byte(cursorKey), cursor)
	return s.watch(context.Background(), func() error { return s.index.Batch(sb) }, func() {})
}

// watch checks for errors every watchEvery and gives up after maxLate checks.
const (
	watchEvery = time.Second
	maxLate    = 10
)

// watch runs an operation of scorch. A panic in one of scorch's goroutines leaves the operation
// without an answer, so watch also checks the error count. When it rises, watch cancels the
// operation; if that does not help, its goroutine is leaked. watch also returns when ctx ends,
// while the operation goes on.
func (s *scorchStore) watch(ctx context.Context, run func() error, cancel func()) error {
	before := s.errors()
	done := make(chan error, 1)
	go func() { done <- guard(run) }()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for late := 0; late < maxLate; {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if s.errors() > before {
				late++
				cancel()
			}
		}
	}
	return errors.New("scorch failed and does not respond")
}

func (s *scorchStore) errors() uint64 { return s.failed.number.Load() }

// cleanupError implements store. Scorch takes a file off its list before removing it and reads the
// list again only on open.
func (s *scorchStore) cleanupError() error {
	if err := s.failed.cleanup.Load(); err != nil {
		return fmt.Errorf("%w: %w", errNotRemoved, *err)
	}
	return nil
}

func (s *scorchStore) snapshot() (snap *snapshot, err error) {
	err = guard(func() error {
		reader, err := s.index.Reader()
		if err != nil {
			return err
		}
		stored, ok := reader.(*scorch.IndexSnapshot)
		if !ok {
			return fmt.Errorf("scorch's reader is a %T", reader)
		}
		snap, err = s.read(stored)
		if err != nil {
			_ = stored.Close()
		}
		return err
	})
	return snap, err
}

func (s *scorchStore) read(stored *scorch.IndexSnapshot) (*snapshot, error) {
	snap := &snapshot{bytes: storeSize(s.dir), done: func() { _ = stored.Close() }}
	snap.refs.Store(1)
	internal := stored.Internal()
	snap.meta.version = string(internal[versionKey])
	snap.meta.origin = string(internal[originKey])
	if c := internal[cursorKey]; len(c) == 24 {
		snap.meta.cursor = binary.BigEndian.Uint64(c)
		snap.meta.chunks = binary.BigEndian.Uint64(c[8:])
		snap.meta.length = binary.BigEndian.Uint64(c[16:])
	}
	cache := make(map[uint64]*segmentCache)
	for _, seg := range stored.Segments() {
		holder, ok := seg.Segment().(interface{ terms() *termSegment })
		if !ok {
			return nil, errForeign
		}
		d := s.cache[seg.Id()]
		if d == nil {
			rows, err := holder.terms().rows()
			if err != nil {
				return nil, err
			}
			cols := arrange(rows)
			d = &segmentCache{cols: &cols, owners: sync.OnceValue(cols.owners)}
		}
		stored := &storedSegment{id: seg.Id(), seg: seg.Segment(), file: holder.terms(), segmentCache: d}
		p := newPart(stored, deadChunks(seg.Deleted(), d.cols.chunks()))
		if d.liveFreqs == nil || d.live != p.live { // more chunks are dead: the counts are out of date
			d.liveFreqs, d.deadSet, d.live = p.freqs, p.deadSet, p.live
		}
		p.freqs, p.deadSet = d.liveFreqs, d.deadSet
		cache[seg.Id()] = d
		snap.parts = append(snap.parts, p)
	}
	s.cache = cache
	return snap, nil
}

func deadChunks(deleted *roaring.Bitmap, chunks int) bitset {
	if deleted == nil || deleted.IsEmpty() {
		return nil
	}
	dead := bitset(nil).clone(chunks)
	for it := deleted.Iterator(); it.HasNext(); {
		if chunk := it.Next(); int(chunk) < chunks {
			dead.set(chunk)
		}
	}
	return dead
}

// storedSegment is a segment in scorch.
type storedSegment struct {
	*segmentCache

	id      uint64 // scorch's segment id
	seg     scorchsegment.Segment
	file    *termSegment
	readers sync.Pool // of *termReader
}

// segmentCache is the data derived from a segment, shared by all snapshots.
type segmentCache struct {
	cols      *columns
	owners    func() owners
	liveFreqs *docFreqCache // valid for the current number of live chunks
	deadSet   *deadSet      // likewise
	live      int

	words      atomic.Pointer[blockmax.Segment] // nil until loaded into memory
	loadFailed bool                             // loading failed; only the loading goroutine reads this
}

// termReader holds memory that is reused from one term to the next.
type termReader struct {
	key  []byte
	nums []uint32
}

func (s *storedSegment) columns() *columns { return s.cols }

func (s *storedSegment) locate(ids []uint64, to []uint32) ([]uint32, error) {
	for _, id := range ids {
		if s.cols.holds(id) {
			if n, ok := s.file.byID()[id]; ok {
				to = append(to, n)
			}
		}
	}
	return to, nil
}

// reader returns a reader, which the caller returns to readers.
func (s *storedSegment) reader() *termReader {
	if r, ok := s.readers.Get().(*termReader); ok {
		return r
	}
	return new(termReader)
}

// find returns the list of a term.
func (s *storedSegment) find(r *termReader, term string) (termList, bool, error) {
	r.key = appendKey(r.key[:0], term)
	return s.file.find(r.key)
}

func (s *storedSegment) postings(q lookup, dead bitset, to []posting) ([]posting, error) {
	r := s.reader()
	defer s.readers.Put(r)
	l, ok, err := s.find(r, q.term)
	if err != nil || !ok {
		return to, err
	}
	if l.count > q.limit {
		return to, errMany
	}
	first := len(to)
	to, err = l.appendPostings(to, dead, &r.nums)
	for i := range to[first:] {
		to[first+i].tf = min(to[first+i].tf, q.maxTf)
	}
	return to, err
}

// key is the document id of a chunk in scorch.
func key(id uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], id)
	return string(b[:])
}
