package keyword

// parents accumulates the scores of parents during one search.
type parents struct {
	slots   map[uint64]int32
	list    []parentScore
	counted []int32 // slots that have the term at hand
}

type parentScore struct {
	score float64
	tf    uint32 // of the term at hand
	whole uint32 // length
}

// count notes occurrences of the term at hand in a unit of the parent.
func (ps *parents) count(parent uint64, whole, tf uint32) {
	slot, ok := ps.slots[parent]
	if !ok {
		if ps.slots == nil {
			ps.slots = make(map[uint64]int32)
		}
		slot = int32(len(ps.list)) //nolint:gosec // a search touches far fewer than 2³¹ parents
		ps.slots[parent] = slot
		ps.list = append(ps.list, parentScore{whole: whole})
	}
	p := &ps.list[slot]
	if p.tf == 0 {
		ps.counted = append(ps.counted, slot)
	}
	p.tf += tf
}

// add scores the term at hand and ends its count.
func (ps *parents) add(idf float64, sat saturation) {
	for _, slot := range ps.counted {
		p := &ps.list[slot]
		tf := float64(p.tf)
		p.score += idf * (tf / (tf + sat.base + sat.slope*float64(p.whole)))
		p.tf = 0
	}
	ps.counted = ps.counted[:0]
}

func (ps *parents) score(parent uint64) float64 { return ps.list[ps.slots[parent]].score }

func (ps *parents) reset() {
	clear(ps.slots)
	ps.list = ps.list[:0]
}
