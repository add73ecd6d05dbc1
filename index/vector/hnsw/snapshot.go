package hnsw

import "math/bits"

// slotBits has one bit per slot of a chunk.
type slotBits [chunkSlots / 64]uint64

func (b *slotBits) has(at uint32) bool { return b[at>>6]>>(at&63)&1 != 0 }
func (b *slotBits) set(at uint32)      { b[at>>6] |= 1 << (at & 63) }

// states holds the states of a chunk's slots as written to a file: dead slots are not held, unless
// they are nodes.
type states struct{ live, held, waiting, duplicate, head, node slotBits }

// snapshot records the states of all slots at one moment.
type snapshot struct {
	header
	d              *directory
	states         []states
	liveDuplicates map[uint32]uint32 // head to one of its live duplicates
	anyLive        uint32            // slot+1 of some live vector, or 0
}

// takeSnapshot takes a snapshot while no slot is being linked. The caller holds writing, and holds
// off the reuse of slots.
func (g *Graph) takeSnapshot() *snapshot {
	g.linking.Lock()
	defer g.linking.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &snapshot{d: g.dir.Load(), liveDuplicates: make(map[uint32]uint32), header: header{
		Dimensions: uint32(g.dim), //nolint:gosec // see Options
		M:          uint32(g.m),   //nolint:gosec // see Options
		ChunkSlots: chunkSlots,
		ChunkWords: uint32(g.chunkWords()), //nolint:gosec // some MB
		TowerLists: towerLists,
		TowerWords: uint32(g.towerWords()), //nolint:gosec // some KB
		Seed:       g.opt.Seed,
		Entry:      g.entry.Load(),
		Slots:      g.slots.Load(),
		Lists:      g.lists,
		Root:       g.root.Load(),
		Residual:   g.residual.Load(),
	}}
	s.states = make([]states, s.chunks())
	for i := range s.states {
		s.takeChunk(uint32(i)) //nolint:gosec // below 1<<18
	}
	for head := range s.liveDuplicates {
		s.states[head>>chunkShift].head.set(head & chunkMask)
	}
	return s
}

// takeChunk records the states of a chunk.
func (s *snapshot) takeChunk(i uint32) {
	c, st := s.d.chunks[i], &s.states[i]
	for w := range st.held {
		live, held, waiting, duplicate := c.live[w].Load(), c.held[w].Load(), c.waiting[w].Load(), c.duplicate[w].Load()
		st.node[w] = held &^ waiting &^ duplicate
		st.live[w], st.waiting[w], st.duplicate[w] = live, waiting&live, duplicate&live
		st.held[w] = live | st.node[w]
		s.Live += ones(live)
		s.Held += ones(st.held[w])
		s.Waiting += ones(st.waiting[w])
		s.Nodes += ones(st.node[w])
		if live != 0 {
			s.anyLive = i<<chunkShift + uint32(w<<6+bits.TrailingZeros64(live)) + 1 //nolint:gosec // below maxSlots
		}
		for rest := st.duplicate[w]; rest != 0; rest &= rest - 1 {
			at := uint32(w<<6 + bits.TrailingZeros64(rest)) //nolint:gosec // below chunkSlots
			s.liveDuplicates[c.parents[at].Load()-1] = i<<chunkShift | at
		}
	}
}

func ones(word uint64) uint32 { return uint32(bits.OnesCount64(word)) } //nolint:gosec // at most 64

// isNode reports whether a slot is written as a node.
func (s *snapshot) isNode(slot uint32) bool {
	return slot < s.Slots && s.states[slot>>chunkShift].node.has(slot&chunkMask)
}

// isLive reports whether the vector of a slot is written.
func (s *snapshot) isLive(slot uint32) bool {
	return s.states[slot>>chunkShift].live.has(slot & chunkMask)
}
