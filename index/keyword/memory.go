package keyword

import (
	"maps"
	"slices"
	"sync"
)

// memorySegment is a segment in memory.
type memorySegment struct {
	rows  []row // until there are cols
	cols  columns
	units map[uint64]uint32 // by id
	terms map[string]int    // place in lists
	lists [][]posting

	owners     func() owners // once finished, as well as
	vocabulary func() []string
}

func newMemorySegment(units int) *memorySegment {
	return &memorySegment{
		rows:  make([]row, 0, units),
		units: make(map[uint64]uint32, units),
		terms: make(map[string]int),
	}
}

// finish is called when all units have been added.
func (s *memorySegment) finish() {
	s.cols, s.rows = arrange(s.rows), nil
	s.owners, s.vocabulary = sync.OnceValue(s.cols.owners), sync.OnceValue(s.sortedWords)
}

func (s *memorySegment) start(id, parent uint64) uint32 {
	n := uint32(len(s.rows))
	s.rows = append(s.rows, row{parent: parent, id: id, unit: n})
	s.units[id] = n
	return n
}

// list adds an empty list for a new term.
func (s *memorySegment) list(term string) int {
	s.terms[term] = len(s.lists)
	s.lists = append(s.lists, nil)
	return len(s.lists) - 1
}

func (s *memorySegment) columns() *columns { return &s.cols }

func (s *memorySegment) locate(ids []uint64, to []uint32) ([]uint32, error) {
	for _, id := range ids {
		if unit, ok := s.units[id]; ok {
			to = append(to, unit)
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
		if !dead.has(p.unit) {
			to = append(to, p)
		}
	}
	return to, nil
}

// mergeParts puts the live units of memory parts into one segment.
func mergeParts(parts []part) part {
	live := 0
	for _, p := range parts {
		live += p.live
	}
	s := newMemorySegment(live)
	first, ok := parts[0].segment.(*memorySegment)
	if ok && parts[0].dead == nil {
		s.goOn(first)
		parts = parts[1:]
	}
	for _, p := range parts {
		s.absorb(p)
	}
	s.finish()
	return newPart(s, nil)
}

// goOn starts a segment, which is empty, with all that another one has. They share
// its postings.
func (s *memorySegment) goOn(from *memorySegment) {
	for unit := range uint32(from.cols.units()) { //nolint:gosec // at most 2³²
		r := from.cols.row(unit)
		n := s.start(r.id, r.parent)
		s.rows[n].length = r.length
	}
	s.terms = maps.Clone(from.terms)
	s.lists = make([][]posting, len(from.lists))
	for i, list := range from.lists {
		s.lists[i] = slices.Clip(list) // what is appended goes elsewhere
	}
}

func (s *memorySegment) absorb(p part) {
	from, ok := p.segment.(*memorySegment)
	if !ok {
		return
	}
	place := make([]uint32, from.cols.units())
	for unit := range place {
		if !p.dead.has(uint32(unit)) {
			r := from.cols.row(uint32(unit))
			place[unit] = s.start(r.id, r.parent)
			s.rows[place[unit]].length = r.length
		}
	}
	for term, i := range from.terms {
		to := -1
		for _, e := range from.lists[i] {
			if p.dead.has(e.unit) {
				continue
			}
			if to < 0 {
				to = s.listOf(term)
			}
			s.lists[to] = append(s.lists[to], posting{place[e.unit], e.tf})
		}
	}
}

func (s *memorySegment) listOf(term string) int {
	if i, ok := s.terms[term]; ok {
		return i
	}
	return s.list(term)
}

// storedUnit is a unit on its way into the store.
type storedUnit struct {
	id, parent uint64
	length     uint32
	keys       []storedKey
}

// storedKey is a term as the store has it; see [keysOf].
type storedKey struct {
	text string
	rare bool // no other unit of the segment has it
}

// keysOf appends the keys under which units with the postings of a term are
// stored: the term, and for each further occurrence the term with its number as
// a last byte. So the store need not keep frequencies, most of which are 1.
func keysOf(term string, list []posting, to []storedKey) []storedKey {
	var units [MaxFrequency + 1]int // by occurrences, those with more counted, too
	for _, e := range list {
		for n := range e.tf {
			units[n+1]++
		}
	}
	for n := 1; n <= MaxFrequency && units[n] > 0; n++ {
		key := term
		if n > 1 {
			key += string(rune(n))
		}
		to = append(to, storedKey{key, units[n] == 1})
	}
	return to
}

// liveUnits turns the postings of a memory part into its live units.
func liveUnits(p part) []storedUnit {
	s, ok := p.segment.(*memorySegment)
	if !ok {
		return nil
	}
	all := make([]storedUnit, s.cols.units())
	s.share(all)
	var keys []storedKey
	for term, i := range s.terms {
		keys = keysOf(term, s.lists[i], keys[:0])
		for _, e := range s.lists[i] {
			if !p.dead.has(e.unit) {
				all[e.unit].keys = append(all[e.unit].keys, keys[:e.tf]...)
			}
		}
	}
	live := all[:0]
	for unit := range all {
		if !p.dead.has(uint32(unit)) {
			r := s.cols.row(uint32(unit))
			live = append(live, storedUnit{id: r.id, parent: r.parent, length: r.length, keys: all[unit].keys})
		}
	}
	return live
}

// share gives each unit room for its keys, in one piece of memory.
func (s *memorySegment) share(units []storedUnit) {
	counts := make([]int, len(units))
	total := 0
	for _, list := range s.lists {
		for _, e := range list {
			counts[e.unit] += int(e.tf)
			total += int(e.tf)
		}
	}
	room := make([]storedKey, total)
	for unit, n := range counts {
		units[unit].keys, room = room[:0:n], room[n:]
	}
}
