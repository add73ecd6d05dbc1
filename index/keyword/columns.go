package keyword

import (
	"cmp"
	"slices"
)

// columns hold what is kept in memory of every unit of a segment, by its number
// in the segment.
type columns struct {
	ids     []uint64
	lengths []uint32
	parents []uint64

	// The units of a parent, which are all in this segment, have places side by
	// side, in the order of their ids. place has that of each unit; what follows
	// is by place: the unit's length, and the number of its parent, counted from 0.
	place []uint32
	size  []uint32
	text  []uint32
	// By parent: its length, and how many units it has.
	whole, count []uint32
}

// arrange derives the other columns from the first three.
func (c *columns) arrange() {
	order := make([]uint32, len(c.ids))
	for unit := range order {
		order[unit] = uint32(unit)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(c.parents[a], c.parents[b]), cmp.Compare(c.ids[a], c.ids[b]))
	})
	c.place = make([]uint32, len(order))
	c.size = make([]uint32, len(order))
	c.text = make([]uint32, len(order))
	c.whole, c.count = c.whole[:0], c.count[:0]
	for place, unit := range order {
		if place == 0 || c.parents[unit] != c.parents[order[place-1]] {
			c.whole, c.count = append(c.whole, 0), append(c.count, 0)
		}
		text := len(c.whole) - 1
		c.place[unit] = uint32(place)
		c.size[place] = c.lengths[unit]
		c.text[place] = uint32(text)
		c.whole[text] += c.lengths[unit]
		c.count[text]++
	}
	c.whole, c.count = slices.Clip(c.whole), slices.Clip(c.count)
}

// countParents returns the number of parents of the given units.
func (c *columns) countParents(units func(yield func(uint32) bool)) int {
	seen := bitset(nil).clone(len(c.whole))
	n := 0
	for unit := range units {
		if text := c.text[c.place[unit]]; !seen.has(text) {
			seen.set(text)
			n++
		}
	}
	return n
}
