package keyword

import (
	"cmp"
	"slices"
)

// columns hold what is kept in memory of every unit of a segment.
type columns struct {
	// place has the place of each unit, by its number in the segment. The units of a
	// parent, which are all in this segment, have places side by side, in the order
	// of their ids.
	place []uint32
	// By place: the unit's number, its id, its length, and the number of its parent,
	// counted from 0.
	unit []uint32
	ids  []uint64
	size []uint32
	text []uint32
	// By parent: its id, its length, and how many units it has.
	parents      []uint64
	whole, count []uint32

	length      uint64 // of all units
	first, last uint64 // least and greatest id
}

// row is a unit on its way into columns.
type row struct {
	parent, id   uint64
	unit, length uint32
}

// arrange makes columns of the rows of all units, which it sorts.
func arrange(rows []row) columns {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.parent, b.parent), cmp.Compare(a.id, b.id))
	})
	c := columns{
		place: make([]uint32, len(rows)), unit: make([]uint32, len(rows)), ids: make([]uint64, len(rows)), size: make([]uint32, len(rows)),
		text: make([]uint32, len(rows)), first: ^uint64(0),
	}
	texts := 0
	for i, r := range rows {
		if i == 0 || r.parent != rows[i-1].parent {
			texts++
		}
	}
	c.parents, c.whole, c.count = make([]uint64, 0, texts), make([]uint32, 0, texts), make([]uint32, 0, texts)
	for place, r := range rows {
		if place == 0 || r.parent != rows[place-1].parent {
			c.parents, c.whole, c.count = append(c.parents, r.parent), append(c.whole, 0), append(c.count, 0)
		}
		text := len(c.parents) - 1
		c.place[r.unit] = uint32(place)
		c.unit[place], c.ids[place], c.size[place], c.text[place] = r.unit, r.id, r.length, uint32(text)
		c.whole[text] += r.length
		c.count[text]++
		c.length += uint64(r.length)
		c.first, c.last = min(c.first, r.id), max(c.last, r.id)
	}
	return c
}

func (c *columns) units() int { return len(c.place) }

// row returns what is known of a unit.
func (c *columns) row(unit uint32) row {
	place := c.place[unit]
	return row{parent: c.parents[c.text[place]], id: c.ids[place], unit: unit, length: c.size[place]}
}

// holds reports whether a unit with the id can be in the segment.
func (c *columns) holds(id uint64) bool { return c.first <= id && id <= c.last }

// countParents returns the number of parents of the given units.
func (c *columns) countParents(units func(yield func(uint32) bool)) int {
	seen := bitset(nil).clone(len(c.parents))
	n := 0
	for unit := range units {
		if text := c.text[c.place[unit]]; !seen.has(text) {
			seen.set(text)
			n++
		}
	}
	return n
}
