package keyword

import (
	"cmp"
	"slices"
)

// columns holds the data of a segment's chunks that stays in memory.
type columns struct {
	// place maps the number of a chunk in the segment to its place. The chunks of an item are all
	// in this segment and have consecutive places, ordered by id.
	place []uint32
	// By place: the chunk's number, id and length, and the number of its item, counted from 0.
	chunk   []uint32
	ids     []uint64
	lengths []uint32
	text    []uint32
	// By item: its id, its length and its number of chunks.
	items                    []uint64
	textLengths, chunkCounts []uint32

	length       uint64 // of all chunks
	minID, maxID uint64 // smallest and greatest id
}

// row is the data of one chunk before it is arranged in columns.
type row struct {
	item, id      uint64
	chunk, length uint32
}

// arrange sorts the rows of all chunks and converts them to columns.
func arrange(rows []row) columns {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.item, b.item), cmp.Compare(a.id, b.id))
	})
	c := columns{
		place: make([]uint32, len(rows)), chunk: make([]uint32, len(rows)),
		ids: make([]uint64, len(rows)), lengths: make([]uint32, len(rows)),
		text: make([]uint32, len(rows)), minID: ^uint64(0),
	}
	texts := 0
	for i, r := range rows {
		if i == 0 || r.item != rows[i-1].item {
			texts++
		}
	}
	c.items, c.textLengths, c.chunkCounts = make([]uint64, 0, texts), make([]uint32, 0, texts), make([]uint32, 0, texts)
	for place, r := range rows {
		if place == 0 || r.item != rows[place-1].item {
			c.items, c.textLengths, c.chunkCounts = append(c.items, r.item), append(c.textLengths, 0), append(c.chunkCounts, 0)
		}
		text := len(c.items) - 1
		c.place[r.chunk] = uint32(place)
		c.chunk[place], c.ids[place], c.lengths[place], c.text[place] = r.chunk, r.id, r.length, uint32(text)
		c.textLengths[text] += r.length
		c.chunkCounts[text]++
		c.length += uint64(r.length)
		c.minID, c.maxID = min(c.minID, r.id), max(c.maxID, r.id)
	}
	return c
}

func (c *columns) chunks() int { return len(c.place) }

// row returns the data of a chunk.
func (c *columns) row(chunk uint32) row {
	place := c.place[chunk]
	return row{item: c.items[c.text[place]], id: c.ids[place], chunk: chunk, length: c.lengths[place]}
}

// holds reports whether the segment may contain a chunk with the id.
func (c *columns) holds(id uint64) bool { return c.minID <= id && id <= c.maxID }

// countItems returns the number of distinct items of the given chunks.
func (c *columns) countItems(chunks func(yield func(uint32) bool)) int {
	seen := bitset(nil).clone(len(c.items))
	n := 0
	for chunk := range chunks {
		if text := c.text[c.place[chunk]]; !seen.has(text) {
			seen.set(text)
			n++
		}
	}
	return n
}
