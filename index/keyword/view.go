package keyword

import (
	"slices"
	"sync/atomic"
)

// columns hold what is kept in memory of every unit of a segment, by its number
// in the segment.
type columns struct {
	ids     []uint64
	lengths []uint32
	parents []uint64
	// whole is the length of the unit's whole parent, whose units are all in this
	// segment.
	whole []uint32
}

// sumParents fills in whole from the other columns.
func (c *columns) sumParents() {
	sums := make(map[uint64]uint32)
	for unit, p := range c.parents {
		sums[p] += c.lengths[unit]
	}
	c.whole = make([]uint32, len(c.parents))
	for unit, p := range c.parents {
		c.whole[unit] = sums[p]
	}
}

// countParents returns the number of parents of the given units.
func (c *columns) countParents(units func(yield func(uint32) bool)) int {
	seen := make(map[uint64]struct{})
	last := ^uint64(0)
	for unit := range units {
		if p := c.parents[unit]; p != last {
			seen[p] = struct{}{}
			last = p
		}
	}
	return len(seen)
}

// posting says that a unit of a segment holds a term, tf times.
type posting struct{ unit, tf uint32 }

// segment is an immutable set of units.
type segment interface {
	columns() *columns
	// locate appends the numbers of the units that have one of the ids.
	locate(ids []uint64, to []uint32) ([]uint32, error)
	// postings appends the postings of a term by ascending unit, those of dead
	// units left out.
	postings(term string, dead bitset, to []posting) ([]posting, error)
}

// part is a segment as a view sees it.
type part struct {
	segment
	dead   bitset
	live   int
	texts  int    // parents of the live units
	length uint64 // sum of the lengths of the live units
}

func newPart(s segment, dead bitset) part {
	p := part{segment: s, dead: dead}
	cols := s.columns()
	p.texts = cols.countParents(func(yield func(uint32) bool) {
		for unit, n := range cols.lengths {
			if dead.has(uint32(unit)) {
				continue
			}
			p.live++
			p.length += uint64(n)
			if !yield(uint32(unit)) {
				return
			}
		}
	})
	return p
}

// without returns the part with some of its units dead.
func (p part) without(ids []uint64) (part, error) {
	units, err := p.locate(ids, nil)
	if err != nil {
		return p, err
	}
	cols := p.columns()
	copied := false
	gone := slices.DeleteFunc(slices.Clone(units), p.dead.has)
	p.texts -= cols.countParents(slices.Values(gone))
	for _, unit := range units {
		if p.dead.has(unit) {
			continue
		}
		if !copied {
			p.dead, copied = p.dead.clone(len(cols.ids)), true
		}
		p.dead.set(unit)
		p.live--
		p.length -= uint64(cols.lengths[unit])
	}
	return p, nil
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

// view is one state of the index. It is immutable but for its reference count,
// which keeps the stored segments open while a search reads them.
type view struct {
	refs   atomic.Int64
	snap   *snapshot // nil while nothing is stored
	parts  []part    // those of snap first
	live   int
	texts  int
	length uint64
}

// newView returns a view with one reference. It takes its own reference to snap.
func newView(snap *snapshot, parts []part) *view {
	v := &view{snap: snap, parts: parts}
	v.refs.Store(1)
	if snap != nil {
		snap.refs.Add(1)
	}
	for _, p := range parts {
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

// acquire returns the current view with a reference of the caller's, nil once
// the index is closed.
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

// bitset is a set of unit numbers; nil is empty.
type bitset []uint64

func (b bitset) has(i uint32) bool {
	return int(i>>6) < len(b) && b[i>>6]&(1<<(i&63)) != 0
}

func (b bitset) set(i uint32) { b[i>>6] |= 1 << (i & 63) }

// clone returns a copy with room for n units.
func (b bitset) clone(n int) bitset {
	if b == nil {
		return make(bitset, (n+63)/64)
	}
	return slices.Clone(b)
}
