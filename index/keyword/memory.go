package keyword

import (
	"maps"
	"slices"
	"sync"
)

// memorySegment is a segment in memory.
type memorySegment struct {
	rows   []row // before finish; then cols
	cols   columns
	chunks map[uint64]uint32 // by id
	terms  map[string]int    // index into lists
	lists  [][]posting

	owners     func() owners // both set by finish
	vocabulary func() []string
}

func newMemorySegment(chunks int) *memorySegment {
	return &memorySegment{
		rows:   make([]row, 0, chunks),
		chunks: make(map[uint64]uint32, chunks),
		terms:  make(map[string]int),
	}
}

// finish completes the segment after all chunks have been added.
func (s *memorySegment) finish() {
	s.cols, s.rows = arrange(s.rows), nil
	s.owners, s.vocabulary = sync.OnceValue(s.cols.owners), sync.OnceValue(s.sortedWords)
}

func (s *memorySegment) addChunk(id, item uint64) uint32 {
	n := uint32(len(s.rows))
	s.rows = append(s.rows, row{item: item, id: id, chunk: n})
	s.chunks[id] = n
	return n
}

// addList adds an empty list for a new term.
func (s *memorySegment) addList(term string) int {
	s.terms[term] = len(s.lists)
	s.lists = append(s.lists, nil)
	return len(s.lists) - 1
}

func (s *memorySegment) columns() *columns { return &s.cols }

func (s *memorySegment) locate(ids []uint64, to []uint32) ([]uint32, error) {
	for _, id := range ids {
		if chunk, ok := s.chunks[id]; ok {
			to = append(to, chunk)
		}
	}
	return to, nil
}

func (s *memorySegment) postings(q lookup, dead bitset, to []posting) ([]posting, error) {
	i, ok := s.terms[q.term]
	if !ok {
		return to, nil
	}
	if len(s.lists[i]) > q.limit {
		return to, errMany
	}
	if dead == nil {
		return append(to, s.lists[i]...), nil
	}
	for _, p := range s.lists[i] {
		if !dead.has(p.chunk) {
			to = append(to, p)
		}
	}
	return to, nil
}

// mergeParts merges the live chunks of memory parts into one segment.
func mergeParts(parts []part) part {
	live := 0
	for _, p := range parts {
		live += p.live
	}
	s := newMemorySegment(live)
	first, ok := parts[0].segment.(*memorySegment)
	if ok && parts[0].dead == nil {
		s.copyFrom(first)
		parts = parts[1:]
	}
	for _, p := range parts {
		s.absorb(p)
	}
	s.finish()
	return newPart(s, nil)
}

// copyFrom fills an empty segment with the contents of another one. They share the postings.
func (s *memorySegment) copyFrom(from *memorySegment) {
	for chunk := range uint32(from.cols.chunks()) { //nolint:gosec // at most 2³²
		r := from.cols.row(chunk)
		n := s.addChunk(r.id, r.item)
		s.rows[n].length = r.length
	}
	s.terms = maps.Clone(from.terms)
	s.lists = make([][]posting, len(from.lists))
	for i, list := range from.lists {
		s.lists[i] = slices.Clip(list) // appending reallocates
	}
}

func (s *memorySegment) absorb(p part) {
	from, ok := p.segment.(*memorySegment)
	if !ok {
		return
	}
	place := make([]uint32, from.cols.chunks())
	for chunk := range place {
		if !p.dead.has(uint32(chunk)) {
			r := from.cols.row(uint32(chunk))
			place[chunk] = s.addChunk(r.id, r.item)
			s.rows[place[chunk]].length = r.length
		}
	}
	for term, i := range from.terms {
		to := -1
		for _, e := range from.lists[i] {
			if p.dead.has(e.chunk) {
				continue
			}
			if to < 0 {
				to = s.listOf(term)
			}
			s.lists[to] = append(s.lists[to], posting{place[e.chunk], e.tf})
		}
	}
}

func (s *memorySegment) listOf(term string) int {
	if i, ok := s.terms[term]; ok {
		return i
	}
	return s.addList(term)
}

// liveChunks returns the live chunks of a memory part, to be stored.
func liveChunks(p part) []*pendingChunk {
	s, ok := p.segment.(*memorySegment)
	if !ok {
		return nil
	}
	room := make([]pendingChunk, 0, p.live)
	live := make([]*pendingChunk, 0, p.live)
	for chunk := range uint32(s.cols.chunks()) { //nolint:gosec // at most 2³²
		if !p.dead.has(chunk) {
			room = append(room, pendingChunk{id: s.cols.row(chunk).id, from: s, number: chunk})
			live = append(live, &room[len(room)-1])
		}
	}
	return live
}
