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

	"github.com/ragctx/ragctx/index/keyword/blockmax"
)

// Only the files named after scorch know it. What they use is exported but not
// promised, so the tests compare what comes back with what was written.

// errLocked says that somebody else has the index open.
var errLocked = errors.New("the index is open already, here or in another process")

const (
	termField   = "t"
	lengthField = "n"
	parentField = "p"
	versionKey  = "version"
	originKey   = "origin"
	cursorKey   = "cursor"
)

// lockTimeout is how long another holder of the index is waited for.
const lockTimeout = 500 * time.Millisecond

type scorchStore struct {
	index *scorch.Scorch
	queue *bleveindex.AnalysisQueue
	cache map[uint64]*derived // by segment id
	dir   string
	// failed counts the errors in scorch's own goroutines. Scorch counts them, too,
	// but its counts cannot be read beside a merge without a race.
	failed *asyncErrors
	// forcing is held while scorch is asked to merge by a plan: it refuses a second one.
	forcing chan struct{}
}

// Scorch tells of errors in its goroutines by a func that is registered by name,
// and of the index by its path.
const callbackName = "ragctx"

var failures sync.Map // path to *asyncErrors

// asyncErrors are the errors in scorch's own goroutines.
type asyncErrors struct {
	number atomic.Uint64
	// uncleaned is an error at removing old files; nil if there was none.
	uncleaned atomic.Pointer[error]
	// panicked says that one of these goroutines is no more.
	panicked atomic.Bool
}

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegistryAsyncErrorCallbacks[callbackName] = func(err error, path string) {
		if known, ok := failures.Load(path); ok {
			failed := known.(*asyncErrors) //nolint:forcetypeassert // only these are stored
			failed.number.Add(1)
			if errors.Is(err, scorch.ErrCleanup) {
				failed.uncleaned.Store(&err)
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
	config := map[string]any{"path": scorchDir(dir), "bolt_timeout": lockTimeout.String(), "asyncErrorCallbackName": callbackName}
	queue := bleveindex.NewAnalysisQueue(1)
	s := &scorchStore{queue: queue, dir: dir, cache: make(map[uint64]*derived), failed: new(asyncErrors), forcing: make(chan struct{}, 1)}
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
	for _, u := range b.units {
		doc := document.NewDocument(key(u.id))
		doc.AddField(newTerms(u.keys))
		doc.AddField(newNumber(lengthField, uint64(u.length)))
		doc.AddField(newNumber(parentField, u.parent))
		sb.Update(doc)
	}
	sb.SetInternal([]byte(versionKey), []byte(b.meta.version))
	sb.SetInternal([]byte(originKey), []byte(b.meta.origin))
	cursor := binary.BigEndian.AppendUint64(nil, b.meta.cursor)
	cursor = binary.BigEndian.AppendUint64(cursor, b.meta.units)
	cursor = binary.BigEndian.AppendUint64(cursor, b.meta.length)
	sb.SetInternal([]byte(cursorKey), cursor)
	return s.watch(context.Background(), func() error { return s.index.Batch(sb) }, func() {})
}

// How long an operation may take once scorch has reported an error.
const (
	watchEvery = time.Second
	patience   = 10
)

// watch runs an operation of scorch's. A panic in one of scorch's own goroutines
// ends it without an answer, which would be waited for for ever: the count of its
// errors tells. Then the operation is called off, and if that does not help, its
// goroutine is lost. It is left to itself when ctx ends.
func (s *scorchStore) watch(ctx context.Context, run func() error, callOff func()) error {
	before := s.errors()
	done := make(chan error, 1)
	go func() { done <- guard(run) }()
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for late := 0; late < patience; {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if s.errors() > before {
				late++
				callOff()
			}
		}
	}
	return errors.New("scorch has failed and does not answer")
}

func (s *scorchStore) errors() uint64 { return s.failed.number.Load() }

// uncleaned implements store. Scorch takes files off its list before it notes that they go, and
// reads the list anew only when it is opened.
func (s *scorchStore) uncleaned() error {
	if err := s.failed.uncleaned.Load(); err != nil {
		return fmt.Errorf("%w: %w", errUncleaned, *err)
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
		snap.meta.units = binary.BigEndian.Uint64(c[8:])
		snap.meta.length = binary.BigEndian.Uint64(c[16:])
	}
	cache := make(map[uint64]*derived)
	for _, seg := range stored.Segments() {
		d := s.cache[seg.Id()]
		if d == nil {
			cols, err := readColumns(seg.Segment())
			if err != nil {
				return nil, err
			}
			d = &derived{cols: cols, owners: sync.OnceValue(cols.owners), all: new(knownSpread)}
		}
		p := newPart(&storedSegment{id: seg.Id(), seg: seg.Segment(), derived: d}, deadUnits(seg.Deleted(), d.cols.units()))
		if d.known == nil || d.live != p.live { // fewer are alive: what was counted is too much
			d.known, d.gone, d.live = p.known, p.gone, p.live
			if p.dead == nil {
				d.known = d.all
			}
		}
		p.known, p.gone = d.known, d.gone
		cache[seg.Id()] = d
		snap.parts = append(snap.parts, p)
	}
	s.cache = cache
	return snap, nil
}

func deadUnits(deleted *roaring.Bitmap, units int) bitset {
	if deleted == nil || deleted.IsEmpty() {
		return nil
	}
	dead := bitset(nil).clone(units)
	for it := deleted.Iterator(); it.HasNext(); {
		if unit := it.Next(); int(unit) < units {
			dead.set(unit)
		}
	}
	return dead
}

// readColumns derives ids and lengths, and refuses a segment that lacks some.
func readColumns(seg scorchsegment.Segment) (*columns, error) {
	n := seg.Count()
	if n > math.MaxUint32 {
		return nil, fmt.Errorf("segment of %d units", n)
	}
	rows := make([]row, n)
	for unit := range n {
		id, err := seg.DocID(unit)
		if err != nil {
			return nil, err
		}
		if len(id) != 8 {
			return nil, fmt.Errorf("unit id of %d bytes", len(id))
		}
		rows[unit].id, rows[unit].unit = binary.BigEndian.Uint64(id), uint32(unit)
	}
	if err := numbers(seg, lengthField, func(unit uint32, v uint64) {
		rows[unit].length = uint32(min(v, math.MaxUint32))
	}); err != nil {
		return nil, err
	}
	if err := numbers(seg, parentField, func(unit uint32, v uint64) { rows[unit].parent = v }); err != nil {
		return nil, err
	}
	cols := arrange(rows)
	return &cols, nil
}

// numbers reads a field that holds one number per unit, as the frequency of one
// term less one, and refuses it if a unit has none.
func numbers(seg scorchsegment.Segment, field string, set func(unit uint32, v uint64)) error {
	dict, err := seg.Dictionary(field)
	if err != nil {
		return err
	}
	units, n := seg.Count(), uint64(0)
	err = each(dict, field, units, func(unit uint32, freq uint64) {
		n++
		set(unit, freq-1)
	})
	if err == nil && n != units {
		err = fmt.Errorf("segment has %d units and %d numbers in field %q", units, n, field)
	}
	return err
}

// storedSegment is a segment in scorch.
type storedSegment struct {
	*derived

	id      uint64 // scorch's
	seg     scorchsegment.Segment
	readers sync.Pool // of *termReader
}

// derived is what is known of a segment in every state of the store.
type derived struct {
	cols   *columns
	owners func() owners
	all    *knownSpread // dead units counted
	known  *knownSpread // while so many units are alive
	gone   *departed    // as well
	live   int

	words    atomic.Pointer[blockmax.Segment] // in memory; nil until they are
	wordless bool                             // they cannot be; only who derives them looks at this
}

// termReader holds what may be used again from one term to the next.
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

// reader returns a reader of the terms, to be put back into readers.
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

// keyOf returns the key of a term's nth further occurrence, until the next use; see
// [keysOf].
func (r *termReader) keyOf(term string, n uint32) []byte {
	if r.key = append(r.key[:0], term...); n > 0 {
		r.key = append(r.key, byte(n+1))
	}
	return r.key
}

// collect reads a term and its further occurrences; see [keysOf].
func (s *storedSegment) collect(r *termReader, q lookup, dead bitset, to []posting) ([]posting, error) {
	first := len(to)
	for n := range q.most {
		units, err := s.units(r, r.keyOf(q.term, n), q.limit)
		if err != nil || len(units) == 0 {
			return to, err
		}
		if n == 0 {
			to = s.begin(units, dead, to)
		} else {
			again(units, to[first:])
		}
	}
	return to, nil
}

// begin appends postings of one occurrence.
func (s *storedSegment) begin(units []uint32, dead bitset, to []posting) []posting {
	if dead == nil {
		for _, unit := range units {
			to = append(to, posting{unit, 1})
		}
		return to
	}
	for _, unit := range units {
		if !dead.has(unit) {
			to = append(to, posting{unit, 1})
		}
	}
	return to
}

// again counts one more occurrence in those of the postings that are of the units.
func again(units []uint32, list []posting) {
	i := 0
	for _, unit := range units {
		for i < len(list) && list[i].unit < unit {
			i++
		}
		if i < len(list) && list[i].unit == unit {
			list[i].tf++
		}
	}
}

// units returns the units stored under a key, by ascending number, until the next
// use of r; errMany if there are more than limit.
func (s *storedSegment) units(r *termReader, key []byte, limit int) (units []uint32, err error) {
	if r.list, err = r.dict.PostingsList(key, nil, r.list); err != nil {
		return nil, err
	}
	if r.list.Count() > uint64(limit) { //nolint:gosec // not negative
		return nil, errMany
	}
	return s.listed(r)
}

// each calls fn for the postings of a term in a segment of so many units.
func each(dict scorchsegment.TermDictionary, term string, units uint64, fn func(unit uint32, freq uint64)) error {
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
		unit := p.Number()
		if unit >= units {
			return fmt.Errorf("posting of unit %d of %d", unit, units)
		}
		fn(uint32(unit), p.Frequency())
	}
}

// key is a unit's id in scorch.
func key(id uint64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], id)
	return string(b[:])
}
