package keyword

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
)

// memorySegment is a segment in memory.
type memorySegment struct {
	cols  columns
	units map[uint64]uint32 // by id
	terms map[string]int    // place in lists
	lists [][]posting

	opening []byte // working memory of addText
}

func newMemorySegment(units int) *memorySegment {
	return &memorySegment{
		cols:  columns{ids: make([]uint64, 0, units), lengths: make([]uint32, 0, units), parents: make([]uint64, 0, units)},
		units: make(map[uint64]uint32, units),
		terms: make(map[string]int),
	}
}

// titleWeight is what a word counts in the title.
const titleWeight = 2

// analyse builds a segment of units, which have distinct ids; those of a parent
// are all among them.
func analyse(units []index.TextUnit) *memorySegment {
	s := newMemorySegment(len(units))
	byID := func(a, b index.TextUnit) int { return cmp.Compare(a.ID, b.ID) }
	if !slices.IsSortedFunc(units, byID) {
		units = slices.SortedFunc(slices.Values(units), byID) // texts begin with their first unit
	}
	left := make(map[uint64]int) // words of each parent that open it
	for _, u := range units {
		n := s.start(u.ID, u.Parent)
		open, begun := left[u.Parent]
		title := 0
		if !begun {
			open, title = openingWords, len(u.Title)
		}
		length, _ := s.addText(n, u.Title, titleWeight, title)
		more, open := s.addText(n, u.Text, 1, open)
		s.addText(n, u.Extra, 1, 0)
		left[u.Parent] = open
		s.cols.lengths = append(s.cols.lengths, length+more)
	}
	s.cols.arrange()
	return s
}

// openingWords is how many words of a text, beside those of its title, open it;
// openingMark starts the terms that say so.
const (
	openingWords = 40
	openingMark  = "\x02"
)

// addText adds the features of a text, up to open of whose words open the whole.
// It returns the number of its words, and how many may yet open the whole.
func (s *memorySegment) addText(unit uint32, text string, weight uint32, open int) (length uint32, left int) {
	if text == "" {
		return 0, open
	}
	analysis.Features(text, func(kind analysis.Kind, term []byte) {
		if kind != analysis.Word {
			s.add(term, unit, 1, kindFrequency[kind])
			return
		}
		s.add(term, unit, weight, kindFrequency[kind])
		if length++; open > 0 {
			open--
			s.opening = append(append(s.opening[:0], openingMark...), term...)
			s.add(s.opening, unit, 1, 1)
		}
	})
	return length, open
}

func (s *memorySegment) start(id, parent uint64) uint32 {
	n := uint32(len(s.cols.ids))
	s.cols.ids = append(s.cols.ids, id)
	s.cols.parents = append(s.cols.parents, parent)
	s.units[id] = n
	return n
}

// add counts a term tf times more in the last unit, most times in all.
func (s *memorySegment) add(term []byte, unit, tf, most uint32) {
	i, ok := s.terms[string(term)]
	if !ok {
		i = s.list(string(term))
	}
	list := s.lists[i]
	if n := len(list); n > 0 && list[n-1].unit == unit {
		list[n-1].tf = min(list[n-1].tf+tf, most)
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

func (s *memorySegment) postings(term string, _ uint32, dead bitset, to []posting) ([]posting, error) {
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
	s.cols.arrange()
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
	keys       []storedKey
}

// storedKey is a term as the store has it; see [keysOf].
type storedKey struct {
	text string
	rare bool // no other unit of the segment has it
}

// keysOf returns the keys under which a unit with tf occurrences of a term is
// stored: the term, and for each further occurrence the term with its number as
// a last byte. So the store need not keep frequencies, most of which are 1.
func keysOf(term string, tf uint32) []string {
	keys := []string{term}
	for n := uint32(2); n <= tf; n++ {
		keys = append(keys, term+string(rune(n)))
	}
	return keys
}

// liveUnits turns the postings of a memory part into its live units.
func liveUnits(p part) []storedUnit {
	s, ok := p.segment.(*memorySegment)
	if !ok {
		return nil
	}
	all := make([]storedUnit, len(s.cols.ids))
	for term, i := range s.terms {
		list := s.lists[i]
		keys := keysOf(term, slices.MaxFunc(list, func(a, b posting) int { return cmp.Compare(a.tf, b.tf) }).tf)
		for _, e := range list {
			for _, key := range keys[:e.tf] {
				all[e.unit].keys = append(all[e.unit].keys, storedKey{key, len(list) == 1})
			}
		}
	}
	live := all[:0]
	for unit, id := range s.cols.ids {
		if !p.dead.has(uint32(unit)) {
			live = append(live, storedUnit{
				id: id, parent: s.cols.parents[unit], length: s.cols.lengths[unit], keys: all[unit].keys,
			})
		}
	}
	return live
}
