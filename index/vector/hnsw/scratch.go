package hnsw

import (
	"cmp"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// entry is a slot that was compared with a query. It may carry marks in slot.
type entry struct {
	sim  float32 // the cosine, as codes tell it
	slot uint32
}

const (
	expanded = uint32(1) << 31 // its neighbours were looked at
	passed   = uint32(1) << 30 // it is no result
	marks    = expanded | passed
)

// nearest orders entries, best first, ties by slot.
func nearest(a, b entry) int {
	return cmp.Or(cmp.Compare(b.sim, a.sim), cmp.Compare(a.slot&^marks, b.slot&^marks))
}

// scratch is what one search, or one worker that links, works with.
type scratch struct {
	g     *Graph
	d     *directory
	query []int8 // the codes of what is looked for
	scale float32
	own   []int8 // room for codes that are not in a slot

	seen    []uint64 // a bit per slot; all zero between walks
	touched []uint32 // the slots that are seen

	pool  []entry // of the walk, best first
	fresh []uint32
	raw   []int32
	sims  []float32
	keys  []sortKey // of what is ranked

	best    best
	pending []uint32 // slots that wait
	ahead   heap     // of wander, with -sim
	found   heap
}

// batch is how many rows are compared in one call, at most: their products stay
// in the first-level cache.
const batch = 256

func (g *Graph) newScratch() *scratch {
	n := max(batch, g.m0+1)
	return &scratch{
		g:     g,
		own:   kernel.Aligned[int8](g.stride),
		fresh: make([]uint32, 0, n),
		raw:   make([]int32, n),
		sims:  make([]float32, n),
	}
}

// borrow returns a scratch that knows the present directory.
func (g *Graph) borrow() *scratch {
	s := g.scratch.Get().(*scratch)
	s.refresh()
	return s
}

func (g *Graph) giveBack(s *scratch) {
	s.query, s.d = nil, nil
	g.scratch.Put(s)
}

// refresh takes the present directory, when a list has led beyond the one at hand.
func (s *scratch) refresh() {
	s.d = s.g.dir.Load()
	if more := len(s.d.chunks)*chunkSlots/64 - len(s.seen); more > 0 {
		s.seen = append(s.seen, make([]uint64, more)...)
	}
}

// forget makes all slots unseen.
func (s *scratch) forget() {
	for _, slot := range s.touched {
		s.seen[slot>>6] = 0
	}
	s.touched = s.touched[:0]
}

// ask makes a vector the query and returns |unit − scale·query|.
func (s *scratch) ask(unit []float32) (residual float64) {
	clear(s.own)
	r, residual := encode(unit[:s.g.dim], s.own)
	s.query, s.scale = s.own, r.scale
	return residual
}

// askSlot makes the vector of a slot the query.
func (s *scratch) askSlot(slot uint32) {
	c, at := s.d.chunk(slot)
	s.query, s.scale = s.d.codes.Row(slot), c.rows[at].scale
}

// compare returns the cosines of the query with at most batch slots.
func (s *scratch) compare(slots []uint32) []float32 {
	raw, sims := s.raw[:len(slots)], s.sims[:len(slots)]
	s.g.kernels.Dot8(s.query, s.d.codes, slots, raw)
	bias, scale, chunks := s.g.kernels.Bias, s.scale, s.d.chunks
	for i, slot := range slots {
		r := &chunks[slot>>chunkShift].rows[slot&chunkMask]
		sims[i] = scale * r.scale * float32(raw[i]-bias*r.sum)
	}
	return sims
}
