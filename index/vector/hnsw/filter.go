package hnsw

import "slices"

// filtered is beam at level 0 for a search where only some nodes are results. It counts results
// toward ef; other nodes are only expanded. It returns false when it has visited, or is about to
// visit, more than budget nodes.
func (f *finder) filtered(ef, budget int) bool {
	results := f.markResult(&f.pool[0])
	for cur := 0; cur < len(f.pool); {
		e := &f.pool[cur]
		if e.slot&expanded != 0 {
			cur++
			continue
		}
		if len(f.seenSlots) > minSample && results < ef && f.overBudget(results, ef, budget) {
			return false
		}
		if len(f.pool) > maxPool {
			return f.filteredHeaps(ef, budget)
		}
		e.slot |= expanded
		f.unseen(e.slot&^marks, 0)
		low := cur + 1
		for i, sim := range f.compare(f.fresh) {
			if results == ef && sim <= f.pool[len(f.pool)-1].sim {
				continue
			}
			next := entry{sim, f.fresh[i]}
			results += f.markResult(&next)
			low = min(low, f.insert(next))
			if results >= ef {
				f.trimPool(results > ef)
				results = ef
			}
		}
		cur = low
	}
	f.measureHole()
	return true
}

// measureHole sets hole to the number of nodes in the pool that are nearer than any result.
func (f *finder) measureHole() {
	f.hole = slices.IndexFunc(f.pool, func(e entry) bool { return e.slot&rejected == 0 })
	if f.hole < 0 {
		f.hole = len(f.pool)
	}
}

// markResult returns 1 if an entry is a result. Otherwise it marks the entry as rejected and
// returns 0.
func (f *finder) markResult(e *entry) int {
	if f.isResult(e.slot) {
		return 1
	}
	e.slot |= rejected
	return 0
}

// isResult reports whether a node or one of its duplicates is a result.
func (f *finder) isResult(slot uint32) bool {
	c, at := f.d.chunk(slot)
	group := f.groupOf(c, at, slot)
	if group == nil {
		return f.matches(c, at)
	}
	for duplicate := range group.all {
		f.reach(duplicate)
		if f.matches(f.d.chunk(duplicate)) {
			return true
		}
	}
	return false
}

// groupOf returns the duplicate group of a node, or nil if it has no duplicates.
func (f *finder) groupOf(c *chunk, at, slot uint32) *dupGroup {
	if !c.head.has(at) {
		return nil
	}
	return f.g.group(slot)
}

// trimPool removes the entries after the last result from the pool, and that result too if over is
// set.
func (s *scratch) trimPool(over bool) {
	last := len(s.pool) - 1
	for ; s.pool[last].slot&rejected != 0; last-- {
	}
	if over {
		s.pool = s.pool[:last]
		s.trimPool(false)
		return
	}
	s.pool = s.pool[:last+1]
}

// maxPool is the maximum length of the sorted pool. Heaps are faster beyond it.
const maxPool = 1024

// filteredHeaps continues filtered with two heaps, of nodes to expand and of results, when results
// are so rare that the pool has outgrown maxPool.
func (f *finder) filteredHeaps(ef, budget int) bool {
	f.splitPool()
	for len(f.toExpand) > 0 {
		next := f.toExpand.pop()
		next.sim = -next.sim
		if len(f.found) == ef && next.sim <= f.found[0].sim {
			break
		}
		if len(f.seenSlots) > budget {
			return false
		}
		f.unseen(next.slot, 0)
		for i, sim := range f.compare(f.fresh) {
			f.push(entry{sim, f.fresh[i]}, ef)
		}
	}
	f.pool = f.pool[:0]
	for len(f.found) > 0 {
		f.pool = append(f.pool, f.found.pop())
	}
	slices.Reverse(f.pool)
	return true
}

// splitPool builds the heaps from the pool.
func (f *finder) splitPool() {
	f.measureHole() // nearer results rarely follow
	f.toExpand, f.found = f.toExpand[:0], f.found[:0]
	for _, e := range f.pool { // best first, hence already a valid heap
		if e.slot&rejected == 0 {
			f.found.push(entry{e.sim, e.slot &^ marks})
		}
		if e.slot&expanded == 0 {
			f.toExpand = append(f.toExpand, entry{-e.sim, e.slot &^ marks})
		}
	}
}

// push adds an entry to the heaps unless ef results are nearer.
func (f *finder) push(e entry, ef int) {
	full := len(f.found) == ef
	if full && e.sim <= f.found[0].sim {
		return
	}
	f.toExpand.push(entry{-e.sim, e.slot})
	switch {
	case !f.isResult(e.slot):
	case full:
		f.found.replace(e)
	default:
		f.found.push(e)
	}
}

// overBudget predicts whether the walk will visit more than budget nodes before it has ef results,
// if results stay as rare.
func (f *finder) overBudget(results, ef, budget int) bool {
	return visitsPerEntry*ef*len(f.pool) > budget*max(results, 1)
}
