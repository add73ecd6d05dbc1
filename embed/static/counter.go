package static

// counter counts rows in an open-addressing table. It grows with the number of distinct rows, which
// is bounded by the rows of the embedding table.
type counter struct {
	slots []slot
	used  []uint32 // slots in the order of their rows' first occurrence
}

// slot has a row number + 1 and its count; 0 is free.
type slot struct{ row, count uint32 }

const (
	minSlots = 1 << 9
	// maxPooled bounds the memory that is reused for the next text.
	maxPooled = 1 << 12
)

func newCounter() counter { return counter{slots: make([]slot, minSlots)} }

// add counts an occurrence of a row.
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

// find returns the slot of a row, or the free slot for it.
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

// reset prepares the counter for another text.
func (c *counter) reset() {
	if len(c.slots) > maxPooled {
		*c = newCounter()
		return
	}
	for _, i := range c.used {
		c.slots[i] = slot{}
	}
	c.used = c.used[:0]
}
