package keyword

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A search among few units, such as those of one user among many, reads no lists:
// it looks these units up in them. What it scores is a view of these units alone;
// how many units and parents have a term is known of each part, or counted once.

// subset is some of the live units of a part, all or none of each parent.
type subset struct {
	of    part
	units []uint32 // numbers, ascending
	set   *roaring.Bitmap
	in    bitset // the same, nil where the units are few
}

// narrowed is a subset as a segment, with units numbered anew.
type narrowed struct {
	segment // of the part, of which nothing but columns is asked

	cols columns
}

func (s *narrowed) columns() *columns { return &s.cols }

// narrow returns a view of the live ones among the units with the given ids, which
// has no references, and the statistics of v.
func (v *view) narrow(ids []uint64) (*view, error) {
	n := &view{few: make([]subset, 0, len(v.parts)), live: v.live, texts: v.texts, length: v.length, firsts: make([]int, 1), firstTexts: make([]int, 1)}
	for i, p := range v.parts {
		units, err := p.locate(ids, nil)
		if err != nil {
			return nil, err
		}
		units = slices.DeleteFunc(units, p.dead.has)
		slices.Sort(units)
		rows := make([]row, len(units))
		for i, unit := range units {
			rows[i] = p.columns().row(unit)
			rows[i].unit = uint32(i)
		}
		s := &narrowed{segment: p.segment, cols: arrange(rows)}
		n.few, n.parts = append(n.few, subset{of: p, units: units, set: roaring.BitmapOf(units...)}), append(n.parts, part{segment: s})
		n.firsts = append(n.firsts, n.firsts[i]+len(units))
		n.firstTexts = append(n.firstTexts, n.firstTexts[i]+len(s.cols.parents))
	}
	return n, nil
}

// number gives units their numbers in the narrowed segment.
func (s *subset) number(list []posting) {
	at := 0
	for i, e := range list {
		for s.units[at] < e.unit {
			at++
		}
		list[i].unit = uint32(at) //nolint:gosec // below 2³²
	}
}

// among asks a segment for a term in some of its units.
type among struct {
	lookup
	subset

	counted bool    // whether its spread is asked for
	seen    *bitset // empty before and after
}

// gatherAmong is gather for some of the units. It counts in all units, unless limit is
// uncounted.
func (s *scratch) gatherAmong(term string, most uint32, limit int, renumber bool) (counts bool, err error) {
	s.postings, s.ends = s.postings[:0], s.ends[:0]
	counts, s.spread, err = s.fewReader.gather(s.few, term, most, limit)
	if counts && renumber {
		for i, few := range s.few {
			few.number(of(s.postings, s.ends, i))
		}
	}
	return counts, err
}

// among implements [segment].
func (s *memorySegment) among(q among, to []posting) ([]posting, spread, error) {
	i, ok := s.terms[q.term]
	if !ok {
		return to, spread{}, nil
	}
	at := 0
	for _, e := range s.lists[i] {
		for at < len(q.units) && q.units[at] < e.unit {
			at++
		}
		if at < len(q.units) && q.units[at] == e.unit {
			to = append(to, e)
		}
	}
	if !q.counted {
		return to, spread{}, nil
	}
	n, ok := q.of.known.get(q.term)
	if !ok {
		units := make([]uint32, len(s.lists[i]))
		for n, e := range s.lists[i] {
			units[n] = e.unit
		}
		n = spreadOf(units, s.owners(), len(s.cols.parents), q.of.dead, q.seen)
		q.of.known.put(q.term, n)
	}
	return to, n, nil
}
