package vector

import (
	"cmp"
	"iter"
	"slices"
)

// gather puts the rows of units into rows, by position, as far as v has them and
// they are not there yet. The ids ascend.
func (v *storedView) gather(ids []uint64, rows [][]float32) error {
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

// has reports which of some units v has, by position. The ids ascend.
func (v *storedView) has(ids []uint64) []bool {
	rows := make([][]float32, len(ids))
	for _, m := range v.memory {
		m.gather(ids, rows)
	}
	has := make([]bool, len(ids))
	for i, id := range ids {
		has[i] = rows[i] != nil || slices.ContainsFunc(v.segs, func(h held) bool {
			row, ok := h.locate(id)
			return ok && !h.dead.has(row)
		})
	}
	return has
}

// unknown iterates over the units that v has outside of the segments that are
// known.
func (v *storedView) unknown(known func(held) bool) iter.Seq[uint64] {
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

// each calls yield with all units until that returns false, which it returns.
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

// gather does what that of a view does.
//
// Where a unit is now says nearly always where it was: what the arena's writer
// moved or removed since is looked for among all rows, in one pass.
func (s *snapshot) gather(ids []uint64, rows [][]float32) {
	if s.units == 0 {
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
	if len(missed) == 0 || s.gen == s.of.begun.Load() {
		return
	}
	byUnit := func(i int, id uint64) int { return cmp.Compare(ids[i], id) }
	for _, b := range s.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			if i, ok := slices.BinarySearchFunc(missed, b.ids[row], byUnit); ok {
				rows[missed[i]] = b.row(row, s.of.stride)
			}
		}
	}
}

// at returns the row of a unit if it is where the arena has it now, and nil
// otherwise.
func (s *snapshot) at(id uint64) []float32 {
	s.of.reading.RLock()
	p, ok := s.of.slots[id]
	s.of.reading.RUnlock()
	if !ok || int(p.block) >= len(s.blocks) {
		return nil
	}
	b, row := s.blocks[p.block], int(p.row)
	if b == nil || row >= b.n || b.ids[row] != id || b.live[row>>6]>>(row&63)&1 == 0 {
		return nil
	}
	return b.row(row, s.of.stride)
}
