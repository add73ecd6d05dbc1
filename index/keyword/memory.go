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

// storedChunk is a chunk in the form in which it is written to the store.
type storedChunk struct {
	id, item uint64
	length   uint32
	keys     []storedKey
}

// storedKey is a term as it is stored; see [keysOf].
type storedKey struct {
	text string
	rare bool // found in only one chunk of the segment
}

// keysOf appends the keys under which the chunks of a posting list are stored: the term, and for
// each further occurrence the term with its number as a last byte. So the store need not keep
// frequencies, which are mostly 1.
func keysOf(term string, list []posting, to []storedKey) []storedKey {
	var chunks [MaxFrequency + 1]int // by frequency: chunks with at least as many occurrences
	for _, e := range list {
		for n := range e.tf {
			chunks[n+1]++
		}
	}
	for n := 1; n <= MaxFrequency && chunks[n] > 0; n++ {
		key := term
		if n > 1 {
			key += string(rune(n))
		}
		to = append(to, storedKey{key, chunks[n] == 1})
	}
	return to
}

// liveChunks converts a memory part to its live chunks.
func liveChunks(p part) []storedChunk {
	s, ok := p.segment.(*memorySegment)
	if !ok {
		return nil
	}
	all := make([]storedChunk, s.cols.chunks())
	s.allocateKeys(all)
	var keys []storedKey
	for term, i := range s.terms {
		keys = keysOf(term, s.lists[i], keys[:0])
		for _, e := range s.lists[i] {
			if !p.dead.has(e.chunk) {
				all[e.chunk].keys = append(all[e.chunk].keys, keys[:e.tf]...)
			}
		}
	}
	live := all[:0]
	for chunk := range all {
		if !p.dead.has(uint32(chunk)) {
			r := s.cols.row(uint32(chunk))
			live = append(live, storedChunk{id: r.id, item: r.item, length: r.length, keys: all[chunk].keys})
		}
	}
	return live
}

// allocateKeys gives each chunk room for its keys in one allocation.
func (s *memorySegment) allocateKeys(chunks []storedChunk) {
	counts := make([]int, len(chunks))
	total := 0
	for _, list := range s.lists {
		for _, e := range list {
			counts[e.chunk] += int(e.tf)
			total += int(e.tf)
		}
	}
	room := make([]storedKey, total)
	for chunk, n := range counts {
		chunks[chunk].keys, room = room[:0:n], room[n:]
	}
}
