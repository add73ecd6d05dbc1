package keyword

import (
	"slices"
	"strings"
	"sync"
)

// A search among few units, such as those of one user among many, reads no lists:
// it looks these units up in them. What it scores is a view of these units alone;
// how many units and parents have a term is known of each part, or counted once.

// narrowed is a segment that has some of the units of a part, all or none of each
// parent. They are numbered anew.
type narrowed struct {
	of    part
	units []uint32 // numbers in of, ascending
	cols  columns
}

func (s *narrowed) columns() *columns { return &s.cols }

func (*narrowed) locate([]uint64, []uint32) ([]uint32, error) { return nil, nil } // of views, which nothing is deleted from

func (s *narrowed) postings(q lookup, _ bitset, to []posting) ([]posting, error) {
	return s.of.among(q, s.units, to)
}

func (*narrowed) among(lookup, []uint32, []posting) ([]posting, error) { return nil, nil }

func (*narrowed) count(lookup, bitset, *bitset) (spread, error) { return spread{}, nil }

// narrow returns a view of the live ones among the units with the given ids, which
// has no references, and the statistics of v.
func (v *view) narrow(ids []uint64) (*view, error) {
	n := &view{all: v, live: v.live, texts: v.texts, length: v.length, firsts: make([]int, 1), firstTexts: make([]int, 1)}
	for i, p := range v.parts {
		units, err := p.locate(ids, nil)
		if err != nil {
			return nil, err
		}
		units = slices.DeleteFunc(units, p.dead.has)
		slices.Sort(units)
		s := &narrowed{of: p, units: units}
		rows := make([]row, len(units))
		for i, unit := range units {
			rows[i] = p.columns().row(unit)
			rows[i].unit = uint32(i)
		}
		s.cols = arrange(rows)
		n.parts = append(n.parts, part{segment: s})
		n.firsts = append(n.firsts, n.firsts[i]+len(units))
		n.firstTexts = append(n.firstTexts, n.firstTexts[i]+len(s.cols.parents))
	}
	return n, nil
}

// spread is how many live units and parents have a term.
type spread struct{ units, texts int }

// gatherAmong is gather for a view that was narrowed. It counts in all of the view
// that this one was made of, unless limit is uncounted.
func (s *scratch) gatherAmong(v *view, term string, most uint32, limit int) (bool, error) {
	s.spread = spread{}
	for _, p := range v.all.parts {
		if limit == uncounted {
			break
		}
		n, err := p.known.of(p, term, &s.seen)
		if err != nil {
			return false, err
		}
		s.spread.units += n.units
		s.spread.texts += n.texts
		if s.spread.units > limit {
			return false, nil
		}
	}
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	for _, p := range v.parts {
		var err error
		if s.postings, err = p.postings(lookup{term: term, most: most}, nil, s.postings); err != nil {
			return false, err
		}
		s.ends = append(s.ends, len(s.postings))
	}
	return true, nil
}

// knownSpread keeps how far terms are spread in a part that many of its units
// have. Counting those takes long, and questions have them again and again.
type knownSpread struct {
	mu sync.Mutex
	m  map[string]spread
}

// Spreads are kept of terms that so many units of a part have, of so many terms.
const (
	spreadUnits = 256
	spreadTerms = 1 << 15
)

// of returns the spread of a term in p, whose knownSpread k is. The set is empty
// before and after.
func (k *knownSpread) of(p part, term string, seen *bitset) (spread, error) {
	k.mu.Lock()
	n, ok := k.m[term]
	k.mu.Unlock()
	if ok {
		return n, nil
	}
	n, err := p.count(lookup{term: term, most: 1}, p.dead, seen)
	if err != nil || n.units < spreadUnits {
		return n, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.m == nil || len(k.m) >= spreadTerms {
		k.m = make(map[string]spread)
	}
	k.m[strings.Clone(term)] = n // which may be part of a long question
	return n, nil
}

// spreadOf counts the live ones among units, and their parents, which owner has by
// unit.
func spreadOf(units, owner []uint32, parents int, dead bitset, seen *bitset) (n spread) {
	room := (parents + 63) / 64
	if len(*seen) < room {
		*seen = make(bitset, room)
	}
	set := (*seen)[:room]
	for _, unit := range units {
		if dead.has(unit) {
			continue
		}
		n.units++
		word, bit := &set[owner[unit]>>6], uint64(1)<<(owner[unit]&63)
		if *word&bit == 0 {
			*word |= bit
			n.texts++
		}
	}
	if n.texts > room {
		clear(set)
		return n
	}
	for _, unit := range units {
		set[owner[unit]>>6] = 0
	}
	return n
}

// owners returns the parent's number of each unit.
func (c *columns) owners() []uint32 {
	owner := make([]uint32, len(c.place))
	for unit, place := range c.place {
		owner[unit] = c.text[place]
	}
	return owner
}

// among implements [segment].
func (s *memorySegment) among(q lookup, units []uint32, to []posting) ([]posting, error) {
	i, ok := s.terms[q.term]
	if !ok {
		return to, nil
	}
	for at, list := 0, s.lists[i]; len(list) > 0 && at < len(units); {
		switch e := list[0]; {
		case e.unit < units[at]:
			list = list[1:]
		case e.unit > units[at]:
			at++
		default:
			to = append(to, posting{uint32(at), e.tf}) //nolint:gosec // below 2³²
			at, list = at+1, list[1:]
		}
	}
	return to, nil
}

// count implements [segment].
func (s *memorySegment) count(q lookup, dead bitset, seen *bitset) (spread, error) {
	i, ok := s.terms[q.term]
	if !ok {
		return spread{}, nil
	}
	units := make([]uint32, len(s.lists[i]))
	for n, e := range s.lists[i] {
		units[n] = e.unit
	}
	return spreadOf(units, s.owners(), len(s.cols.parents), dead, seen), nil
}
