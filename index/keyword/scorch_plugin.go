package keyword

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	bleveindex "github.com/blevesearch/bleve_index_api"
	scorchsegment "github.com/blevesearch/scorch_segment_api/v2"

	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/throttle"
)

// Scorch decides which segments exist, when they merge and which chunks are deleted, and makes that durable. What is in
// a segment is decided here: a [termFile].

func init() { //nolint:gochecknoinits // scorch's registry may only be written before it is used
	scorch.RegisterSegmentPlugin(segmentPlugin{}, false) // a program may use bleve for itself
}

// Type and version of the segments.
const (
	segmentType    = "ragctx"
	segmentVersion = 1
)

// segmentPlugin implements [scorch.SegmentPlugin].
type segmentPlugin struct{}

func (segmentPlugin) Type() string    { return segmentType }
func (segmentPlugin) Version() uint32 { return segmentVersion }

// New implements [scorch.SegmentPlugin]: it builds the segment of a batch of pendingChunks. It yields to foreground
// requests, as only a flush waits for it.
func (segmentPlugin) New(documents []bleveindex.Document) (made scorchsegment.Segment, size uint64, err error) {
	throttle.Background(func() {
		var b []byte
		if b, err = buildSegment(documents); err != nil {
			return
		}
		var s *termSegment
		if s, err = newTermSegment(b, nil); err == nil {
			made, size = &builtSegment{s}, uint64(len(b))
		}
	})
	return made, size, err
}

// Open implements [scorch.SegmentPlugin].
func (segmentPlugin) Open(path string) (scorchsegment.Segment, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, unmap, err := atomicfile.Contents(f, info.Size(), false)
	if err != nil {
		return nil, err
	}
	s, err := newTermSegment(b, unmap)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	return &openedSegment{s, path}, nil
}

// Merge implements [scorch.SegmentPlugin]. It returns the new number of each chunk.
func (segmentPlugin) Merge(
	segments []scorchsegment.Segment, drops []*roaring.Bitmap, path string, closed chan struct{}, to scorchsegment.StatsReporter,
) (numbers [][]uint64, size uint64, err error) {
	throttle.Background(func() {
		m := &segmentMerge{reporter: throttledReporter{StatsReporter: to}, closed: closed}
		for i, s := range segments {
			holder, ok := s.(interface{ terms() *termSegment })
			if !ok {
				err = errForeign
				return
			}
			if err = m.include(holder.terms(), drops[i]); err != nil {
				return
			}
		}
		numbers = m.numbers
		size, err = writeSegmentFile(path, m.write)
	})
	return numbers, size, err
}

// errForeign reports a segment that another program or version wrote.
var errForeign = errors.New("segment of another format")

// writeSegmentFile writes a file durably. After a failure it removes the file.
func writeSegmentFile(path string, write func(w io.Writer) error) (size uint64, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	info, failed := f.Stat()
	if err = errors.Join(err, failed, f.Close()); err != nil {
		_ = os.Remove(path)
		return 0, err
	}
	return uint64(info.Size()), nil //nolint:gosec // not negative
}

// pendingChunk is a chunk of a memory segment on its way through scorch.
type pendingChunk struct {
	id     uint64
	from   *memorySegment
	number uint32 // in from
}

var _ bleveindex.Document = (*pendingChunk)(nil)

func (p *pendingChunk) ID() string                                      { return key(p.id) }
func (p *pendingChunk) Size() int                                       { return 0 }
func (p *pendingChunk) VisitFields(bleveindex.FieldVisitor)             {}
func (p *pendingChunk) VisitComposite(bleveindex.CompositeFieldVisitor) {}
func (p *pendingChunk) HasComposite() bool                              { return false }
func (p *pendingChunk) NumPlainTextBytes() uint64                       { return 0 }
func (p *pendingChunk) AddIDField()                                     {}
func (p *pendingChunk) StoredFieldsBytes() uint64                       { return 0 }
func (p *pendingChunk) Indexed() bool                                   { return true }

// dropped marks chunks that a segment leaves out.
const dropped = math.MaxUint32

// sourceTerm is a term of a memory segment.
type sourceTerm struct {
	term   string
	pair   bool
	source int
	list   int
}

func compareTerms(a, b sourceTerm) int {
	if a.pair != b.pair && a.term[0] > openingMark[0] && b.term[0] > openingMark[0] {
		if a.pair {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.source, b.source))
}

// buildSegment returns the file of a batch. Scorch passes the chunks in any order.
func buildSegment(documents []bleveindex.Document) ([]byte, error) {
	chunks := make([]*pendingChunk, len(documents))
	for i, d := range documents {
		p, ok := d.(*pendingChunk)
		if !ok {
			return nil, errForeign
		}
		chunks[i] = p
	}
	slices.SortFunc(chunks, func(a, b *pendingChunk) int { return cmp.Compare(a.id, b.id) })
	rows := make([]row, len(chunks))
	sources := make(map[*memorySegment]int)
	var places [][]uint32 // for each source the new numbers of its chunks
	var terms []sourceTerm
	for i, p := range chunks {
		n, ok := sources[p.from]
		if !ok {
			n = len(places)
			sources[p.from] = n
			places = append(places, slices.Repeat([]uint32{dropped}, p.from.cols.chunks()))
			for term, list := range p.from.terms {
				terms = append(terms, sourceTerm{term, isPair(term), n, list})
			}
		}
		places[n][p.number] = uint32(i) //nolint:gosec // below 2³²
		rows[i] = p.from.cols.row(p.number)
	}
	lists := make([][][]posting, len(places))
	for s, n := range sources {
		lists[n] = s.lists
	}
	slices.SortFunc(terms, compareTerms)
	var out bytes.Buffer
	w := newTermWriter(&out, rows)
	var list []posting
	var k []byte
	for i, t := range terms {
		if i == 0 || t.term != terms[i-1].term {
			list = list[:0]
		}
		for _, e := range lists[t.source][t.list] {
			if at := places[t.source][e.chunk]; at != dropped {
				list = append(list, posting{at, e.tf})
			}
		}
		if i+1 < len(terms) && terms[i+1].term == t.term {
			continue
		}
		byChunk := func(a, b posting) int { return cmp.Compare(a.chunk, b.chunk) }
		if !slices.IsSortedFunc(list, byChunk) {
			slices.SortFunc(list, byChunk)
		}
		k = appendKey(k[:0], t.term)
		w.add(k, list)
	}
	err := w.finish()
	return out.Bytes(), err
}

// termSegment is what scorch needs of a segment.
type termSegment struct {
	*termFile

	refs  atomic.Int64
	unmap func() error             // nil for a segment in memory
	byID  func() map[uint64]uint32 // built on first use
}

// newTermSegment returns a segment with one reference.
func newTermSegment(b []byte, unmap func() error) (*termSegment, error) {
	f, err := parseTermFile(b)
	if err != nil {
		return nil, err
	}
	s := &termSegment{termFile: f, unmap: unmap}
	s.refs.Store(1)
	s.byID = sync.OnceValue(func() map[uint64]uint32 {
		m := make(map[uint64]uint32, f.chunks)
		for i := range f.chunks {
			m[f.id(i)] = uint32(i) //nolint:gosec // below 2³²
		}
		return m
	})
	return s, nil
}

// terms returns the segment itself, from the types that scorch tells apart.
func (s *termSegment) terms() *termSegment { return s }

// Dictionary implements [scorchsegment.Segment]. Scorch's own searches are not used.
func (s *termSegment) Dictionary(string) (scorchsegment.TermDictionary, error) {
	return nil, errForeign
}

// VisitStoredFields implements [scorchsegment.Segment].
func (s *termSegment) VisitStoredFields(uint64, scorchsegment.StoredFieldValueVisitor) error {
	return nil
}

// DocID implements [scorchsegment.Segment].
func (s *termSegment) DocID(num uint64) ([]byte, error) {
	if num >= uint64(s.chunks) { //nolint:gosec // not negative
		return nil, errTermFile
	}
	return slices.Clone(s.ids[8*num : 8*num+8]), nil
}

// Count implements [scorchsegment.Segment].
func (s *termSegment) Count() uint64 { return uint64(s.chunks) } //nolint:gosec // not negative

// DocNumbers implements [scorchsegment.Segment].
func (s *termSegment) DocNumbers(ids []string) (*roaring.Bitmap, error) {
	found := roaring.New()
	for _, id := range ids {
		if len(id) != 8 {
			continue
		}
		if n, ok := s.byID()[binary.BigEndian.Uint64([]byte(id))]; ok {
			found.Add(n)
		}
	}
	return found, nil
}

// Fields implements [scorchsegment.Segment].
func (s *termSegment) Fields() []string { return nil }

// Size implements [scorchsegment.Segment].
func (s *termSegment) Size() int { return len(s.data) }

// AddRef implements [scorchsegment.Segment].
func (s *termSegment) AddRef() { s.refs.Add(1) }

// DecRef implements [scorchsegment.Segment]. The last reference unmaps the file.
func (s *termSegment) DecRef() error {
	if s.refs.Add(-1) == 0 && s.unmap != nil {
		return s.unmap()
	}
	return nil
}

// Close implements [scorchsegment.Segment].
func (s *termSegment) Close() error { return s.DecRef() }

// BytesRead, ResetBytesRead and BytesWritten implement [scorchsegment.DiskStatsReporter].
func (s *termSegment) BytesRead() uint64     { return 0 }
func (s *termSegment) ResetBytesRead(uint64) {}
func (s *termSegment) BytesWritten() uint64  { return 0 }

// builtSegment is a segment in memory.
type builtSegment struct{ *termSegment }

// Persist implements [scorchsegment.UnpersistedSegment].
func (s *builtSegment) Persist(path string) error {
	_, err := writeSegmentFile(path, func(w io.Writer) error {
		_, err := w.Write(s.data)
		return err
	})
	return err
}

// openedSegment is a segment in a file.
type openedSegment struct {
	*termSegment

	path string
}

// Path implements [scorchsegment.PersistedSegment].
func (s *openedSegment) Path() string { return s.path }

// segmentMerge merges segments.
type segmentMerge struct {
	reporter throttledReporter
	closed   chan struct{}
	rows     []row
	numbers  [][]uint64 // for each segment the new number of each chunk, for scorch
	cursors  cursors
}

// cursors is a heap of the next key of each segment.
type cursors []mergeCursor

type mergeCursor struct {
	*termCursor

	segment int
	numbers []uint64
}

func (c cursors) Len() int { return len(c) }
func (c cursors) Less(i, j int) bool {
	return cmp.Or(bytes.Compare(c[i].key, c[j].key), cmp.Compare(c[i].segment, c[j].segment)) < 0
}
func (c cursors) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *cursors) Push(x any)   { *c = append(*c, x.(mergeCursor)) } //nolint:forcetypeassert // only these are pushed
func (c *cursors) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// include adds a segment without some chunks.
func (m *segmentMerge) include(s *termSegment, drop *roaring.Bitmap) error {
	rows, err := s.rows()
	if err != nil {
		return err
	}
	numbers := make([]uint64, len(rows))
	for i, r := range rows {
		if drop != nil && drop.Contains(uint32(i)) { //nolint:gosec // below 2³²
			numbers[i] = math.MaxUint64
			continue
		}
		numbers[i] = uint64(len(m.rows))
		m.rows = append(m.rows, r)
	}
	m.numbers = append(m.numbers, numbers)
	c := mergeCursor{&termCursor{file: s.termFile}, len(m.cursors), numbers}
	if c.advance() {
		m.cursors = append(m.cursors, c)
	}
	return c.err
}

// write writes the merged file.
func (m *segmentMerge) write(to io.Writer) error {
	w := newTermWriter(to, m.rows)
	heap.Init(&m.cursors)
	var list []posting
	var nums []uint32
	var k []byte
	for n := 0; len(m.cursors) > 0; n++ {
		if n%checkEvery == 0 {
			select {
			case <-m.closed:
				return scorchsegment.ErrClosed
			default:
			}
		}
		k, list = append(k[:0], m.cursors[0].key...), list[:0]
		for len(m.cursors) > 0 && bytes.Equal(m.cursors[0].key, k) {
			c := m.cursors[0]
			l, err := c.file.list(c.list)
			if err != nil {
				return err
			}
			from := len(list)
			if list, err = l.appendPostings(list, nil, &nums); err != nil {
				return err
			}
			list = renumbered(list, from, c.numbers)
			if c.advance() {
				heap.Fix(&m.cursors, 0)
			} else if heap.Pop(&m.cursors); c.err != nil {
				return c.err
			}
		}
		before := w.size
		w.add(k, list)
		m.reporter.ReportBytesWritten(w.size - before)
	}
	return w.finish()
}

// renumbered gives the postings from from on their new numbers and leaves out dropped chunks.
func renumbered(list []posting, from int, numbers []uint64) []posting {
	kept := list[:from]
	for _, e := range list[from:] {
		if n := numbers[e.chunk]; n != math.MaxUint64 {
			kept = append(kept, posting{uint32(n), e.tf}) //nolint:gosec // scorch numbers chunks with 32 bits
		}
	}
	return kept
}
