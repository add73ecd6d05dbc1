package hnsw

import "slices"

// choose returns at most n of the candidates, which come nearest first: a
// candidate is left out if a kept one is nearer to it than the query is (algorithm
// 4, without keeping what was left out). So the kept ones lie in all directions,
// and a walk that wants to go where one was left out goes by the one that was
// kept. Those that must says are kept in any case; they are n at most.
func (s *scratch) choose(candidates []entry, n int, must func(slot uint32) bool) []uint32 {
	kept := make([]uint32, 0, n)
	reserved := 0
	if must != nil {
		for _, e := range candidates {
			if must(e.slot) {
				reserved++
			}
		}
	}
	query, scale := s.query, s.scale
	for _, e := range candidates {
		forced := reserved > 0 && must(e.slot)
		if forced {
			reserved--
		}
		if len(kept)+reserved >= n && !forced {
			continue
		}
		s.askSlot(e.slot)
		if forced || !s.near(kept, e.sim) {
			kept = append(kept, e.slot)
		}
	}
	s.query, s.scale = query, scale
	return kept
}

// near reports whether the query is nearer to one of the slots than sim. It looks
// at some at a time: most candidates are left out early.
func (s *scratch) near(slots []uint32, sim float32) bool {
	const some = 4
	for part := range slices.Chunk(slots, some) {
		for _, x := range s.compare(part) {
			if x > sim {
				return true
			}
		}
	}
	return false
}
