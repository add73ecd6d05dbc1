package keyword

import (
	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// memorySegment is a segment in memory.
type memorySegment struct {
	cols  columns
	units map[uint64]uint32 // by id
	terms map[string]int    // place in lists
	lists [][]posting
}

func newMemorySegment(units int) *memorySegment {
	return &memorySegment{
		cols:  columns{ids: make([]uint64, 0, units), lengths: make([]uint32, 0, units), parents: make([]uint64, 0, units)},
		units: make(map[uint64]uint32, units),
		terms: make(map[string]int),
	}
}

// analyse builds a segment of units, which have distinct ids.
func analyse(units []index.TextUnit) *memorySegment {
	s := newMemorySegment(len(units))
	for _, u := range units {
		n := s.start(u.ID, u.Parent)
		length := uint32(0)
		count := func(weight uint32) func(term []byte) {
			return func(term []byte) {
				s.add(term, n, weight)
				length++
			}
		}
		analysis.Each(u.Title, count(2)) // once as part of the unit, once more as title
		analysis.Each(u.Text, count(1))
		s.cols.lengths = append(s.cols.lengths, length)
	}
	s.cols.sumParents()
	return s
}

func (s *memorySegment) start(id, parent uint64) uint32 {
	n := uint32(len(s.cols.ids))
	s.cols.ids = append(s.cols.ids, id)
	s.cols.parents = append(s.cols.parents, parent)
	s.units[id] = n
	return n
}

func (s *memorySegment) add(term []byte, unit, tf uint32) {
	i, ok := s.terms[string(term)]
	if !ok {
		i = s.list(string(term))
	}
	list := s.lists[i]
	if n := len(list); n > 0 && list[n-1].unit == unit {
		list[n-1].tf += tf
		return
	}
	s.lists[i] = append(list, posting{unit, tf})
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

func (s *memorySegment) postings(term string, dead bitset, to []posting) ([]posting, error) {
	i, ok := s.terms[term]
	if !ok {
		return to, nil
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
	for _, p := range parts {
		s.absorb(p)
	}
	s.cols.sumParents()
	return newPart(s, nil)
}

func (s *memorySegment) absorb(p part) {
	from, ok := p.segment.(*memorySegment)
	if !ok {
		return
	}
	place := make([]uint32, len(from.cols.ids))
	for unit, id := range from.cols.ids {
		if !p.dead.has(uint32(unit)) {
			place[unit] = s.start(id, from.cols.parents[unit])
			s.cols.lengths = append(s.cols.lengths, from.cols.lengths[unit])
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
	terms      []termFreq
}

type termFreq struct {
	term string
	tf   uint64
}

// liveUnits turns the postings of a memory part into its live units.
func liveUnits(p part) []storedUnit {
	s, ok := p.segment.(*memorySegment)
	if !ok {
		return nil
	}
	all := make([]storedUnit, len(s.cols.ids))
	for term, i := range s.terms {
		for _, e := range s.lists[i] {
			all[e.unit].terms = append(all[e.unit].terms, termFreq{term, uint64(e.tf)})
		}
	}
	live := all[:0]
	for unit, id := range s.cols.ids {
		if !p.dead.has(uint32(unit)) {
			live = append(live, storedUnit{
				id: id, parent: s.cols.parents[unit], length: s.cols.lengths[unit], terms: all[unit].terms,
			})
		}
	}
	return live
}
