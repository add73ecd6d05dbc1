package hnsw

import (
	"cmp"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// entry is a slot with its similarity to the query. The slot may carry marks.
type entry struct {
	sim  float32 // the cosine computed from codes
	slot uint32
}

const (
	expanded = uint32(1) << 31 // its neighbors were visited
	rejected = uint32(1) << 30 // it is not a result
	marks    = expanded | rejected
)

// nearest orders entries by descending similarity, ties by slot.
func nearest(a, b entry) int {
	return cmp.Or(cmp.Compare(b.sim, a.sim), cmp.Compare(a.slot&^marks, b.slot&^marks))
}

// scratch is the working memory of one search or one linking worker.
type scratch struct {
	g          *Graph
	d          *directory
	query      []int8 // codes of the query
	scale      float32
	queryCodes []int8 // buffer for a query that is not in a slot

	seen      []uint64 // one bit per slot; all zero between walks
	seenSlots []uint32 // the slots marked in seen

	pool  []entry // the walk's pool, best first
	fresh []uint32
	raw   []int32
	sims  []float32
	keys  []sortKey // sort keys of rank

	best     best
	pending  []uint32 // waiting slots
	toExpand heap     // nodes to expand, for filteredHeaps; with -sim
	found    heap
}

// batch is the maximum number of rows in one compare call, so that products stay in the L1 cache.
const batch = 256

func (g *Graph) newScratch() *scratch {
	n := max(batch, g.m0+1)
	return &scratch{
		g:          g,
		queryCodes: kernel.Aligned[int8](g.stride),
		fresh:      make([]uint32, 0, n),
		raw:        make([]int32, n),
		sims:       make([]float32, n),
	}
}

// borrow returns a scratch with the current directory.
func (g *Graph) borrow() *scratch {
	s := g.scratch.Get().(*scratch)
	s.refresh()
	return s
}

func (g *Graph) giveBack(s *scratch) {
	s.query, s.d = nil, nil
	g.scratch.Put(s)
}

// refresh loads the current directory. It is needed when a list refers to a slot beyond the present
// one.
func (s *scratch) refresh() {
	s.d = s.g.dir.Load()
	if more := len(s.d.chunks)*chunkSlots/64 - len(s.seen); more > 0 {
		s.seen = append(s.seen, make([]uint64, more)...)
	}
}

// clearSeen marks all slots as unseen.
func (s *scratch) clearSeen() {
	for _, slot := range s.seenSlots {
		s.seen[slot>>6] = 0
	}
	s.seenSlots = s.seenSlots[:0]
}

// setQuery makes a vector the query and returns |unit − scale·query|.
func (s *scratch) setQuery(unit []float32) (residual float64) {
	clear(s.queryCodes)
	r, residual := encode(unit[:s.g.dim], s.queryCodes)
	s.query, s.scale = s.queryCodes, r.scale
	return residual
}

// setQuerySlot makes the vector of a slot the query.
func (s *scratch) setQuerySlot(slot uint32) {
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
