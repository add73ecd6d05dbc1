package hnsw

// restore makes everything that follows from chunks, towers, slots, lists, entry
// and root: counts, ids, free slots, families. Nobody else may use g yet.
func (g *Graph) restore() {
	d := g.dir.Load()
	g.byID = make(map[uint64]uint32)
	for slot := range g.slots.Load() {
		c, at := d.chunk(slot)
		g.count(c, at)
		switch {
		case !c.held.has(at):
			g.free = append(g.free, slot)
		case c.live.has(at):
			g.byID[c.ids[at]] = slot
		}
		if c.twin.has(at) {
			g.join(d, c.parents[at].Load()-1, slot)
		}
	}
}

// count enters a slot into the counts.
func (g *Graph) count(c *chunk, at uint32) {
	live, held, waiting := c.live.has(at), c.held.has(at), c.waiting.has(at)
	add := func(n interface{ Add(int64) int64 }, yes bool) {
		if yes {
			n.Add(1)
		}
	}
	add(&g.counts.live, live)
	add(&g.counts.held, held)
	add(&g.counts.waiting, live && waiting)
	add(&g.counts.nodes, held && !waiting && !c.twin.has(at))
	if waiting {
		c.pending.Add(1)
	}
}
