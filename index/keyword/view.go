package keyword

import (
	"errors"
	"iter"
	"math/bits"
	"slices"
	"sync/atomic"
)

// posting says that a chunk of a segment contains a term tf times, at most [MaxFrequency].
type posting struct{ chunk, tf uint32 }

// segment is an immutable set of chunks.
type segment interface {
	columns() *columns
	// locate appends the numbers of the chunks with the given ids.
	locate(ids []uint64, to []uint32) ([]uint32, error)
	// postings appends the postings of a term, by ascending chunk, without dead chunks, or returns
	// errMany.
	postings(q lookup, dead bitset, to []posting) ([]posting, error)
	// among appends the postings of a term in some of the chunks. If requested, it also returns the
	// document frequency in all live chunks.
	among(q subsetLookup, to []posting) ([]posting, docFreq, error)
	// match calls fn for the matching words, in byte order, with the number of chunks that have
	// them, dead ones included.
	match(m *matcher, fn func(word string, chunks int) error) error
}

// lookup asks a segment for a term, which no chunk has more than maxTf times. If the document
// frequency exceeds limit, dead chunks included, the segment returns errMany and reads nothing.
type lookup struct {
	term  string
	maxTf uint32
	limit int
}

var errMany = errors.New("keyword: too many chunks have the term")

// part is a segment as a view sees it.
type part struct {
	segment
	dead    bitset
	live    int
	texts   int    // items with live chunks
	length  uint64 // total length of the live chunks
	freqs   *docFreqCache
	deadSet *deadSet
}

func newPart(s segment, dead bitset) part {
	p := part{segment: s, dead: dead, freqs: new(docFreqCache), deadSet: new(deadSet)}
	cols := s.columns()
	if dead == nil {
		p.live, p.texts, p.length = cols.chunks(), len(cols.items), cols.length
		return p
	}
	p.texts = cols.countItems(func(yield func(uint32) bool) {
		for chunk, place := range cols.place {
			if dead.has(uint32(chunk)) {
				continue
			}
			p.live++
			p.length += uint64(cols.lengths[place])
			if !yield(uint32(chunk)) {
				return
			}
		}
	})
	return p
}

// without returns the part with the given chunks dead.
func (p part) without(ids []uint64) (part, error) {
	chunks, err := p.locate(ids, nil)
	if err != nil || len(chunks) == 0 {
		return p, err
	}
	cols := p.columns()
	copied := false
	var places []uint32
	for _, chunk := range chunks {
		if p.dead.has(chunk) {
			continue
		}
		if !copied {
			p.dead, p.freqs, p.deadSet, copied = p.dead.clone(cols.chunks()), new(docFreqCache), new(deadSet), true
		}
		p.dead.set(chunk)
		p.live--
		place := cols.place[chunk]
		p.length -= uint64(cols.lengths[place])
		places = append(places, place)
	}
	slices.Sort(places)
	for i, place := range places {
		if text := cols.text[place]; i == 0 || cols.text[places[i-1]] != text {
			if !p.alive(cols, place) {
				p.texts--
			}
		}
	}
	return p, nil
}

// alive reports whether the item of the chunk at place has a live chunk.
func (p part) alive(cols *columns, place uint32) bool {
	text := cols.text[place]
	for place > 0 && cols.text[place-1] == text {
		place--
	}
	for ; int(place) < len(cols.text) && cols.text[place] == text; place++ {
		if !p.dead.has(cols.chunk[place]) {
			return true
		}
	}
	return false
}

func withoutAll(parts []part, ids []uint64) ([]part, error) {
	out := make([]part, 0, len(parts)+1)
	for _, p := range parts {
		p, err := p.without(ids)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// view is one state of the index. It is immutable except for its reference count, which keeps the
// stored segments open while a search reads them.
type view struct {
	refs    atomic.Int64
	subsets []subset  // replaces parts in a narrowed view; see [view.narrow]
	snap    *snapshot // nil while nothing is stored
	parts   []part    // the stored parts of snap first
	// firsts and firstTexts number the chunks and items of all parts by place. They hold the
	// first number of each part, and the total at the end.
	firsts, firstTexts []int

	live   int
	texts  int
	length uint64
}

// newView returns a view with one reference. It takes its own reference to snap.
func newView(snap *snapshot, parts []part) *view {
	v := &view{snap: snap, parts: parts, firsts: make([]int, 1, len(parts)+1), firstTexts: make([]int, 1, len(parts)+1)}
	v.refs.Store(1)
	if snap != nil {
		snap.refs.Add(1)
	}
	for i, p := range parts {
		v.firsts = append(v.firsts, v.firsts[i]+p.columns().chunks())
		v.firstTexts = append(v.firstTexts, v.firstTexts[i]+len(p.columns().items))
		v.live += p.live
		v.texts += p.texts
		v.length += p.length
	}
	return v
}

// memory returns the parts that are not stored.
func (v *view) memory() []part {
	if v.snap == nil {
		return v.parts
	}
	return v.parts[len(v.snap.parts):]
}

func (v *view) stored() []part { return v.parts[:len(v.parts)-len(v.memory())] }

func (v *view) release() {
	if v.refs.Add(-1) == 0 && v.snap != nil {
		v.snap.release()
	}
}

// acquire returns the current view with a reference that the caller must release, or nil once the
// index is closed.
func (ix *Index) acquire() *view {
	for {
		v := ix.view.Load()
		if v == nil {
			return nil
		}
		if n := v.refs.Load(); n > 0 && v.refs.CompareAndSwap(n, n+1) {
			return v
		}
	}
}

// publish replaces the view. The caller holds mu.
func (ix *Index) publish(v *view) { ix.view.Swap(v).release() }

// snapshot is one state of the store. It starts with one reference.
type snapshot struct {
	refs  atomic.Int64
	parts []part
	meta  meta
	bytes int64 // on disk
	done  func()
}

func (s *snapshot) release() {
	if s.refs.Add(-1) == 0 && s.done != nil {
		s.done()
	}
}

// bitset is a set of small numbers, such as chunk numbers. A nil bitset is empty.
type bitset []uint64

func (b bitset) has(i uint32) bool {
	return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0
}

func (b bitset) set(i uint32) { b[i>>6] |= 1 << (i & 63) }

// all yields the numbers in the set, ascending.
func (b bitset) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i, word := range b {
			for ; word != 0; word &= word - 1 {
				if !yield(uint32(i<<6 + bits.TrailingZeros64(word))) { //nolint:gosec // at most 2³²
					return
				}
			}
		}
	}
}

// clone returns a copy with room for n chunks.
func (b bitset) clone(n int) bitset {
	if b == nil {
		return make(bitset, (n+63)/64)
	}
	return slices.Clone(b)
}
