package hnsw

import "math"

// none is the end mark of a list after the subtraction of 1.
const none = ^uint32(0)

// descend walks greedily from the entry down to the level above stop. It returns the node where it
// ends (algorithm 5 of the paper with ef 1) and the level of the entry, or -1 if there are no
// nodes.
func (s *scratch) descend(stop int) (at entry, top int) {
	e := s.g.entry.Load()
	if e == 0 {
		return entry{}, -1
	}
	top = int(e >> 32)      //nolint:gosec // a level
	at.slot = uint32(e) - 1 //nolint:gosec // the lower half
	s.reach(at.slot)
	at.sim = s.compare([]uint32{at.slot})[0]
	s.clearSeen()
	s.markSeen(at.slot)
	for level := top; level > stop; level-- {
		at = s.climb(at, level)
	}
	return at, top
}

// climb moves to the nearest neighbor while that is nearer. Nodes seen at a level above were no
// nearer.
func (s *scratch) climb(at entry, level int) entry {
	for {
		s.unseen(at.slot, level)
		better := false
		for i, sim := range s.compare(s.fresh) {
			if sim > at.sim {
				at, better = entry{sim, s.fresh[i]}, true
			}
		}
		if !better {
			return at
		}
	}
}

// reach refreshes the directory if it does not contain a slot.
func (s *scratch) reach(slot uint32) {
	if !s.d.has(slot) {
		s.refresh()
	}
}

// neighbors sets fresh to the neighbors of a slot.
func (s *scratch) neighbors(slot uint32, level int) {
	s.fresh = s.fresh[:0]
	list := s.g.list(s.d, slot, level)
	for i := range list {
		next := list[i].Load()
		if next == 0 {
			return
		}
		s.reach(next - 1)
		s.fresh = append(s.fresh, next-1)
	}
}

// unseen sets fresh to the unseen neighbors of a slot and marks them as seen. Whether one was seen
// is unpredictable, so a conditional increment of the index is faster than a branch.
func (s *scratch) unseen(slot uint32, level int) {
	list := s.g.list(s.d, slot, level)
	fresh, n := s.fresh[:len(list)], 0
	seen := s.seen
	for i := range list {
		next := list[i].Load() - 1
		if int(next>>6) >= len(seen) { // none is always beyond the end
			if next == none {
				break
			}
			s.refresh()
			seen = s.seen
		}
		word, bit := &seen[next>>6], next&63
		fresh[n] = next
		n += int(^*word >> bit & 1)
		*word |= 1 << bit
	}
	s.fresh = fresh[:n]
	s.seenSlots = append(s.seenSlots, fresh[:n]...)
}

// start resets the pool to a single entry.
func (s *scratch) start(from entry) {
	s.clearSeen()
	s.markSeen(from.slot)
	s.pool = append(s.pool[:0], from)
}

// markSeen marks a slot as seen.
func (s *scratch) markSeen(slot uint32) {
	s.seen[slot>>6] |= 1 << (slot & 63)
	s.seenSlots = append(s.seenSlots, slot)
}

// beam expands the best entries of the pool until the ef best entries that it has met are in the
// pool and all expanded (algorithm 2). The pool is one sorted list with marks on expanded entries.
// An insertion moves some hundred bytes, which is faster than the paper's two heaps.
func (s *scratch) beam(ef, level int) {
	worst := float32(math.Inf(-1)) // similarity of the last entry of a full pool
	for cur := 0; cur < len(s.pool); {
		e := &s.pool[cur]
		if e.slot&expanded != 0 {
			cur++
			continue
		}
		e.slot |= expanded
		s.unseen(e.slot&^marks, level)
		cur++
		for i, sim := range s.compare(s.fresh) {
			if sim <= worst {
				continue
			}
			if len(s.pool) == ef {
				s.pool = s.pool[:ef-1]
			}
			cur = min(cur, s.insert(entry{sim, s.fresh[i]}))
			if len(s.pool) == ef {
				worst = s.pool[ef-1].sim
			}
		}
	}
}

// insert inserts an entry after those of equal similarity and returns its position.
func (s *scratch) insert(e entry) int {
	low, high := 0, len(s.pool)
	for low < high {
		mid := int(uint(low+high) >> 1) //nolint:gosec // the usual overflow guard
		if s.pool[mid].sim < e.sim {
			high = mid
		} else {
			low = mid + 1
		}
	}
	s.pool = append(s.pool, entry{})
	copy(s.pool[low+1:], s.pool[low:])
	s.pool[low] = e
	return low
}
