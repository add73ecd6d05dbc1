package hnsw

import (
	"cmp"
	"slices"
)

// restore makes what follows from chunks: ids, free slots, families. Nobody else
// uses g yet.
func (g *Graph) restore() error {
	d := g.dir.Load()
	byID := make(map[uint64]uint32, g.counts.live.Load())
	twins := make(map[uint32][]uint32)
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
		if c.twin.has(at) {
			head := c.parents[at].Load() - 1
			twins[head] = append(twins[head], slot)
		}
		if c.head.has(at) {
			heads++
		}
	}
	if len(byID) != int(g.counts.live.Load()) || len(twins) != heads {
		return damaged("an id is there twice, or a twin missing")
	}
	for _, c := range d.chunks {
		c.pending.Store(c.waiting.count())
	}
	for head, slots := range twins {
		g.families.Store(head, familyOf(d, append(slots, head)))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byID, g.free = byID, free
	return nil
}

// count returns how many bits are set.
func (b *bitmap) count() (n int32) {
	for range b.all {
		n++
	}
	return n
}

// familyOf returns the family of these slots.
func familyOf(d *directory, slots []uint32) *family {
	slices.SortFunc(slots, func(a, b uint32) int { return cmp.Or(cmp.Compare(d.id(a), d.id(b)), cmp.Compare(a, b)) })
	var runs [][]uint32
	for run := range slices.Chunk(slots, runSlots/2) {
		runs = append(runs, slices.Clone(run))
	}
	f := new(family)
	f.runs.Store(&runs)
	return f
}
