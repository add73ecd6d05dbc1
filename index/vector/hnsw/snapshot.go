package hnsw

import "math/bits"

// slotBits has one bit per slot of a chunk.
type slotBits [chunkSlots / 64]uint64

func (b *slotBits) has(at uint32) bool { return b[at>>6]>>(at&63)&1 != 0 }
func (b *slotBits) set(at uint32)      { b[at>>6] |= 1 << (at & 63) }

// states are those of the slots of a chunk as they are written: dead slots hold
// nothing, unless they are nodes.
type states struct{ live, held, waiting, twin, head, node slotBits }

// snapshot is which slots hold what at one moment.
type snapshot struct {
	header
	d      *directory
	states []states
	heirs  map[uint32]uint32 // of heads: a live twin
	any    uint32            // slot+1 of some live vector
}

// snap takes a snapshot between two changes: no slot is just being linked. The
// caller holds writing, and holds off the reuse of slots.
func (g *Graph) snap() *snapshot {
	g.linking.Lock()
	defer g.linking.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &snapshot{d: g.dir.Load(), heirs: make(map[uint32]uint32), header: header{
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
		s.take(uint32(i)) //nolint:gosec // below 1<<18
	}
	for head := range s.heirs {
		s.states[head>>chunkShift].head.set(head & chunkMask)
	}
	return s
}

// take takes the states of a chunk.
func (s *snapshot) take(i uint32) {
	c, st := s.d.chunks[i], &s.states[i]
	for w := range st.held {
		live, held, waiting, twin := c.live[w].Load(), c.held[w].Load(), c.waiting[w].Load(), c.twin[w].Load()
		st.node[w] = held &^ waiting &^ twin
		st.live[w], st.waiting[w], st.twin[w] = live, waiting&live, twin&live
		st.held[w] = live | st.node[w]
		s.Live += ones(live)
		s.Held += ones(st.held[w])
		s.Waiting += ones(st.waiting[w])
		s.Nodes += ones(st.node[w])
		if live != 0 {
			s.any = i<<chunkShift + uint32(w<<6+bits.TrailingZeros64(live)) + 1 //nolint:gosec // below maxSlots
		}
		for rest := st.twin[w]; rest != 0; rest &= rest - 1 {
			at := uint32(w<<6 + bits.TrailingZeros64(rest)) //nolint:gosec // below chunkSlots
			s.heirs[c.parents[at].Load()-1] = i<<chunkShift | at
		}
	}
}

func ones(word uint64) uint32 { return uint32(bits.OnesCount64(word)) } //nolint:gosec // at most 64

// isNode reports whether a slot is a node that is written.
func (s *snapshot) isNode(slot uint32) bool {
	return slot < s.Slots && s.states[slot>>chunkShift].node.has(slot&chunkMask)
}

// isLive reports whether a slot's vector is written.
func (s *snapshot) isLive(slot uint32) bool {
	return s.states[slot>>chunkShift].live.has(slot & chunkMask)
}
