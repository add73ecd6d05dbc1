package hnsw

import "slices"

// filtered is beam at level 0 where only some nodes are results: ef counts these,
// while the others lead on. It reports false when it has seen more than budget, or
// is about to.
func (f *finder) filtered(ef, budget int) bool {
	results := f.judge(&f.pool[0])
	for cur := 0; cur < len(f.pool); {
		e := &f.pool[cur]
		if e.slot&expanded != 0 {
			cur++
			continue
		}
		if len(f.touched) > patience && results < ef && f.hopeless(results, ef, budget) {
			return false
		}
		if len(f.pool) > wide {
			return f.wander(ef, budget)
		}
		e.slot |= expanded
		f.unseen(e.slot&^marks, 0)
		low := cur + 1
		for i, sim := range f.compare(f.fresh) {
			if results == ef && sim <= f.pool[len(f.pool)-1].sim {
				continue
			}
			next := entry{sim, f.fresh[i]}
			results += f.judge(&next)
			low = min(low, f.insert(next))
			if results >= ef {
				f.shorten(results > ef)
				results = ef
			}
		}
		cur = low
	}
	f.measure()
	return true
}

// measure sets hole to the number of nodes in the pool that are nearer than any
// result.
func (f *finder) measure() {
	f.hole = slices.IndexFunc(f.pool, func(e entry) bool { return e.slot&passed == 0 })
	if f.hole < 0 {
		f.hole = len(f.pool)
	}
}

// judge returns 1 if an entry is a result; else it marks it, and returns 0.
func (f *finder) judge(e *entry) int {
	if f.counts(e.slot) {
		return 1
	}
	e.slot |= passed
	return 0
}

// counts reports whether a node is a result, for itself or for a twin.
func (f *finder) counts(slot uint32) bool {
	c, at := f.d.chunk(slot)
	family := f.twinsOf(c, at, slot)
	if family == nil {
		return f.wants(c, at)
	}
	for twin := range family.all {
		f.reach(twin)
		if f.wants(f.d.chunk(twin)) {
			return true
		}
	}
	return false
}

// twinsOf returns the family of a node, nil if it has none.
func (f *finder) twinsOf(c *chunk, at, slot uint32) *family {
	if !c.head.has(at) {
		return nil
	}
	return f.g.family(slot)
}

// shorten takes off the pool what follows the last result, and that result, too, if
// there is one too many.
func (s *scratch) shorten(over bool) {
	last := len(s.pool) - 1
	for ; s.pool[last].slot&passed != 0; last-- {
	}
	if over {
		s.pool = s.pool[:last]
		s.shorten(false)
		return
	}
	s.pool = s.pool[:last+1]
}

// wide is how long the sorted pool may get. Heaps are faster beyond.
const wide = 1024

// wander goes on where filtered has met so few results that the pool has become
// wide, with two heaps in place of it: of what is to be expanded, and of results.
func (f *finder) wander(ef, budget int) bool {
	f.split()
	for len(f.ahead) > 0 {
		next := f.ahead.pop()
		next.sim = -next.sim
		if len(f.found) == ef && next.sim <= f.found[0].sim {
			break
		}
		if len(f.touched) > budget {
			return false
		}
		f.unseen(next.slot, 0)
		for i, sim := range f.compare(f.fresh) {
			f.meet(entry{sim, f.fresh[i]}, ef)
		}
	}
	f.pool = f.pool[:0]
	for len(f.found) > 0 {
		f.pool = append(f.pool, f.found.pop())
	}
	slices.Reverse(f.pool)
	return true
}

// split makes the heaps from the pool.
func (f *finder) split() {
	f.measure() // nearer ones are rarely met later
	f.ahead, f.found = f.ahead[:0], f.found[:0]
	for _, e := range f.pool { // best first: ahead is a heap as it is
		if e.slot&passed == 0 {
			f.found.push(entry{e.sim, e.slot &^ marks})
		}
		if e.slot&expanded == 0 {
			f.ahead = append(f.ahead, entry{-e.sim, e.slot &^ marks})
		}
	}
}

// meet enters an entry into the heaps, unless ef results are nearer.
func (f *finder) meet(e entry, ef int) {
	full := len(f.found) == ef
	if full && e.sim <= f.found[0].sim {
		return
	}
	f.ahead.push(entry{-e.sim, e.slot})
	switch {
	case !f.counts(e.slot):
	case full:
		f.found.replace(e)
	default:
		f.found.push(e)
	}
}

// hopeless reports whether a walk that has results among its entries will see more
// nodes than budget before it has ef, if they stay as rare.
func (f *finder) hopeless(results, ef, budget int) bool {
	return visitsPerEntry*ef*len(f.pool) > budget*max(results, 1)
}
