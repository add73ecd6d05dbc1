package keyword

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/document"
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
	termField   = "t"
	lengthField = "n"
	itemField   = "p"
	versionKey  = "version"
	originKey   = "origin"
	cursorKey   = "cursor"
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
		doc := document.NewDocument(key(u.id))
		doc.AddField(newTerms(u.keys))
		doc.AddField(newNumber(lengthField, uint64(u.length)))
		doc.AddField(newNumber(itemField, u.item))
		sb.Update(doc)
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
		d := s.cache[seg.Id()]
		if d == nil {
			cols, err := readColumns(seg.Segment())
			if err != nil {
				return nil, err
			}
			d = &segmentCache{cols: cols, owners: sync.OnceValue(cols.owners), allFreqs: new(docFreqCache)}
		}
		p := newPart(&storedSegment{id: seg.Id(), seg: seg.Segment(), segmentCache: d}, deadChunks(seg.Deleted(), d.cols.chunks()))
		if d.liveFreqs == nil || d.live != p.live { // more chunks are dead: the counts are out of date
			d.liveFreqs, d.deadSet, d.live = p.freqs, p.deadSet, p.live
			if p.dead == nil {
				d.liveFreqs = d.allFreqs
			}
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

// readColumns reads ids, lengths and items. It rejects a segment in which some are missing.
func readColumns(seg scorchsegment.Segment) (*columns, error) {
	n := seg.Count()
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("segment of %d chunks", n)
	}
	rows := make([]row, n)
	for chunk := range n {
		id, err := seg.DocID(chunk)
		if err != nil {
			return nil, err
		}
		if len(id) != 8 {
			return nil, fmt.Errorf("chunk id of %d bytes", len(id))
		}
		rows[chunk].id, rows[chunk].chunk = binary.BigEndian.Uint64(id), uint32(chunk)
	}
	if err := numbers(seg, lengthField, func(chunk uint32, v uint64) {
		rows[chunk].length = uint32(min(v, math.MaxUint32))
	}); err != nil {
		return nil, err
	}
	if err := numbers(seg, itemField, func(chunk uint32, v uint64) { rows[chunk].item = v }); err != nil {
		return nil, err
	}
	cols := arrange(rows)
	return &cols, nil
}

// numbers reads a field that holds one number for each chunk, as the frequency of one term minus
// one. It returns an error if a chunk has no number.
func numbers(seg scorchsegment.Segment, field string, set func(chunk uint32, v uint64)) error {
	dict, err := seg.Dictionary(field)
	if err != nil {
		return err
	}
	chunks, n := seg.Count(), uint64(0)
	err = each(dict, field, chunks, func(chunk uint32, freq uint64) {
		n++
		set(chunk, freq-1)
	})
	if err == nil && n != chunks {
		err = fmt.Errorf("segment has %d chunks and %d numbers in field %q", chunks, n, field)
	}
	return err
}

// storedSegment is a segment in scorch.
type storedSegment struct {
	*segmentCache

	id      uint64 // scorch's segment id
	seg     scorchsegment.Segment
	readers sync.Pool // of *termReader
}

// segmentCache is the data derived from a segment, shared by all snapshots.
type segmentCache struct {
	cols      *columns
	owners    func() owners
	allFreqs  *docFreqCache // dead chunks included
	liveFreqs *docFreqCache // valid for the current number of live chunks
	deadSet   *deadSet      // likewise
	live      int

	words      atomic.Pointer[blockmax.Segment] // nil until loaded into memory
	loadFailed bool                             // loading failed; only the loading goroutine reads this
}

// termReader holds memory that is reused from one term to the next.
type termReader struct {
	dict scorchsegment.TermDictionary
	list scorchsegment.PostingsList
	iter scorchsegment.PostingsIterator
	key  []byte
	nums []uint32
}

func (s *storedSegment) columns() *columns { return s.cols }

func (s *storedSegment) locate(ids []uint64, to []uint32) ([]uint32, error) {
	var keys []string
	for _, id := range ids {
		if s.cols.holds(id) {
			keys = append(keys, key(id))
		}
	}
	if keys == nil {
		return to, nil
	}
	found, err := s.seg.DocNumbers(keys)
	if err != nil {
		return to, err
	}
	for it := found.Iterator(); it.HasNext(); {
		to = append(to, it.Next())
	}
	return to, nil
}

func (s *storedSegment) postings(q lookup, dead bitset, to []posting) ([]posting, error) {
	r, err := s.reader()
	if err != nil {
		return to, err
	}
	to, err = s.collect(r, q, dead, to)
	if err == nil || errors.Is(err, errMany) {
		s.readers.Put(r)
	}
	return to, err
}

// reader returns a reader of the terms. The caller returns it to readers.
func (s *storedSegment) reader() (*termReader, error) {
	if r, ok := s.readers.Get().(*termReader); ok {
		return r, nil
	}
	dict, err := s.seg.Dictionary(termField)
	if err != nil {
		return nil, err
	}
	return &termReader{dict: dict}, nil
}

// keyOf returns the key of a term's nth further occurrence; see [keysOf]. The key is valid until
// the next call.
func (r *termReader) keyOf(term string, n uint32) []byte {
	if r.key = append(r.key[:0], term...); n > 0 {
		r.key = append(r.key, byte(n+1))
	}
	return r.key
}

// collect reads a term and its further occurrences; see [keysOf].
func (s *storedSegment) collect(r *termReader, q lookup, dead bitset, to []posting) ([]posting, error) {
	first := len(to)
	for n := range q.maxTf {
		chunks, err := s.chunksUnder(r, r.keyOf(q.term, n), q.limit)
		if err != nil || len(chunks) == 0 {
			return to, err
		}
		if n == 0 {
			to = s.appendPostings(chunks, dead, to)
		} else {
			increment(chunks, to[first:])
		}
	}
	return to, nil
}

// appendPostings appends postings of one occurrence.
func (s *storedSegment) appendPostings(chunks []uint32, dead bitset, to []posting) []posting {
	if dead == nil {
		for _, chunk := range chunks {
			to = append(to, posting{chunk, 1})
		}
		return to
	}
	for _, chunk := range chunks {
		if !dead.has(chunk) {
			to = append(to, posting{chunk, 1})
		}
	}
	return to
}

// increment adds one occurrence to the postings of the given chunks.
func increment(chunks []uint32, list []posting) {
	i := 0
	for _, chunk := range chunks {
		for i < len(list) && list[i].chunk < chunk {
			i++
		}
		if i < len(list) && list[i].chunk == chunk {
			list[i].tf++
		}
	}
}

// chunksUnder returns the chunks stored under a key, by ascending number, or errMany if there are
// more than limit. The slice is valid until the next use of r.
func (s *storedSegment) chunksUnder(r *termReader, key []byte, limit int) (chunks []uint32, err error) {
	if r.list, err = r.dict.PostingsList(key, nil, r.list); err != nil {
		return nil, err
	}
	if r.list.Count() > uint64(limit) { //nolint:gosec // not negative
		return nil, errMany
	}
	return s.listed(r)
}

// each calls fn for the postings of a term in a segment of the given number of chunks.
func each(dict scorchsegment.TermDictionary, term string, chunks uint64, fn func(chunk uint32, freq uint64)) error {
	list, err := dict.PostingsList([]byte(term), nil, nil)
	if err != nil {
		return err
	}
	iter := list.Iterator(true, false, false, nil)
	for {
		p, err := iter.Next()
		if err != nil || p == nil {
			return err
		}
		chunk := p.Number()
		if chunk >= chunks {
			return fmt.Errorf("posting of chunk %d of %d", chunk, chunks)
		}
		fn(uint32(chunk), p.Frequency())
	}
}

// key is the document id of a chunk in scorch.
func key(id uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], id)
	return string(b[:])
}
