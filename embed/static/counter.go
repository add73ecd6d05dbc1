package static

// counter counts rows. It is an open-addressing table that grows with the
// number of distinct rows, which is bounded by the table's.
type counter struct {
	slots []slot
	used  []uint32 // slots, in the order of their rows' first appearance
}

// slot has a row's number + 1 and how often it occurred; 0 is free.
type slot struct{ row, count uint32 }

const (
	minSlots = 1 << 9
	// maxKept bounds the memory that is kept for the next text.
	maxKept = 1 << 12
)

func newCounter() counter { return counter{slots: make([]slot, minSlots)} }

// add counts a row.
func (c *counter) add(row int32) {
	i := c.find(uint32(row) + 1)
	s := &c.slots[i]
	s.count++
	if s.row != 0 {
		return
	}
	s.row = uint32(row) + 1
	c.used = append(c.used, i)
	if len(c.used) > len(c.slots)/2 {
		c.grow()
	}
}

// find returns the slot of a row, or the free one where it belongs.
func (c *counter) find(row uint32) uint32 {
	mask := uint32(len(c.slots) - 1)
	i := row * 0x9E3779B1 >> 7 & mask
	for c.slots[i].row != 0 && c.slots[i].row != row {
		i = (i + 1) & mask
	}
	return i
}

func (c *counter) grow() {
	old := c.slots
	c.slots = make([]slot, 4*len(old))
	for k, i := range c.used {
		c.used[k] = c.find(old[i].row)
		c.slots[c.used[k]] = old[i]
	}
}

// reset makes the counter ready for another text.
func (c *counter) reset() {
	if len(c.slots) > maxKept {
		*c = newCounter()
		return
	}
	for _, i := range c.used {
		c.slots[i] = slot{}
	}
	c.used = c.used[:0]
}
