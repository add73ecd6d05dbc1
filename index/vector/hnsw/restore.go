package hnsw

import (
	"cmp"
	"slices"
)

// restore builds the state derived from chunks: ids, free slots, duplicate groups. The graph is not
// shared yet.
func (g *Graph) restore() error {
	d := g.dir.Load()
	byID := make(map[uint64]uint32, g.counts.live.Load())
	duplicates := make(map[uint32][]uint32)
	var free []uint32
	heads := 0
	for slot := range g.slots.Load() {
		c, at := d.chunk(slot)
		switch {
		case !c.held.has(at):
			free = append(free, slot)
		case c.live.has(at):
			byID[c.ids[at]] = slot
		}
		if c.duplicate.has(at) {
			head := c.parents[at].Load() - 1
			duplicates[head] = append(duplicates[head], slot)
		}
		if c.head.has(at) {
			heads++
		}
	}
	if len(byID) != int(g.counts.live.Load()) || len(duplicates) != heads {
		return damaged("an id occurs twice, or a duplicate is missing")
	}
	for _, c := range d.chunks {
		c.pending.Store(c.waiting.count())
	}
	for head, slots := range duplicates {
		g.groups.Store(head, newGroup(d, append(slots, head)))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byID, g.free = byID, free
	return nil
}

// count returns the number of bits set.
func (b *bitmap) count() (n int32) {
	for range b.all {
		n++
	}
	return n
}

// newGroup returns the duplicate group of slots.
func newGroup(d *directory, slots []uint32) *dupGroup {
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Or(cmp.Compare(d.id(a), d.id(b)), cmp.Compare(a, b)) })
	var runs [][]uint32
	for run := range slices.Chunk(slots, runSlots/2) {
		runs = append(runs, slices.Clone(run))
	}
	f := new(dupGroup)
	f.runs.Store(&runs)
	return f
}
