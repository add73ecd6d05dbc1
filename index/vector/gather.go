package vector

import (
	"cmp"
	"iter"
	"slices"
)

// gather fills the nil entries of rows with the rows of ids that v has, by position. The ids
// ascend.
func (v *storedView) gather(ids []uint64, rows [][]int16) error {
	for _, h := range v.segs {
		for i, id := range ids {
			if rows[i] != nil {
				continue
			}
			row, ok := h.locate(id)
			if !ok || h.dead.has(row) {
				continue
			}
			if err := h.check(row / blockRows); err != nil {
				return &damage{err}
			}
			rows[i] = h.row(row)
		}
	}
	for _, m := range v.memory {
		m.gather(ids, rows)
	}
	return nil
}

// has reports which chunks v has, by position. The ids ascend.
func (v *storedView) has(ids []uint64) []bool {
	rows := make([][]int16, len(ids))
	for _, m := range v.memory {
		m.gather(ids, rows)
	}
	has := make([]bool, len(ids))
	for i, id := range ids {
		has[i] = rows[i] != nil || slices.ContainsFunc(v.segs, func(h liveSegment) bool {
			row, ok := h.locate(id)
			return ok && !h.dead.has(row)
		})
	}
	return has
}

// idsOutside iterates over the ids of the live chunks of v, except those in known segments.
func (v *storedView) idsOutside(known func(liveSegment) bool) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, h := range v.segs {
			if known(h) {
				continue
			}
			for row, id := range h.ids {
				if !h.dead.has(row) && !yield(id) {
					return
				}
			}
		}
		for _, m := range v.memory {
			if !m.each(yield) {
				return
			}
		}
	}
}

// each calls yield with all ids until it returns false. It returns the last result of yield.
func (s *snapshot) each(yield func(uint64) bool) bool {
	for _, b := range s.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			if !yield(b.ids[row]) {
				return false
			}
		}
	}
	return true
}

// gather fills the nil entries of rows with the rows that s has, as [storedView.gather] does.
//
// A chunk's current position is nearly always its position in s. The few that the arena's writer
// has moved or removed since are searched for among all rows, in one pass.
func (s *snapshot) gather(ids []uint64, rows [][]int16) {
	if s.rows == 0 {
		return
	}
	var missed []int
	for i, id := range ids {
		if rows[i] != nil {
			continue
		}
		if rows[i] = s.at(id); rows[i] == nil {
			missed = append(missed, i)
		}
	}
	if len(missed) == 0 || s.gen == s.arena.begun.Load() {
		return
	}
	byUnit := func(i int, id uint64) int { return cmp.Compare(ids[i], id) }
	for _, b := range s.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			if i, ok := slices.BinarySearchFunc(missed, b.ids[row], byUnit); ok {
				rows[missed[i]] = b.row(row, s.arena.stride)
			}
		}
	}
}

// at returns the row of a chunk if it is still at its current position in the arena, else nil.
func (s *snapshot) at(id uint64) []int16 {
	s.arena.reading.RLock()
	p, ok := s.arena.slots[id]
	s.arena.reading.RUnlock()
	if !ok || int(p.block) >= len(s.blocks) {
		return nil
	}
	b, row := s.blocks[p.block], int(p.row)
	if b == nil || row >= b.n || b.ids[row] != id || b.live[row>>6]>>(row&63)&1 == 0 {
		return nil
	}
	return b.row(row, s.arena.stride)
}
