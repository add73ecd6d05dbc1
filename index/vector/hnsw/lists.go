package hnsw

import (
	"math"
	"slices"
	"sync"
)

// lockStripes is how many locks the lists share. A worker holds one at a time, for
// some microseconds: with 16 workers, another one wants it in 3 % of cases.
const lockStripes = 512

// lock locks the lists of a slot against other writers. Searches read them as they
// are: half of an old list and half of a new one are as good as either.
func (g *Graph) lock(slot uint32) *sync.Mutex {
	lock := &g.stripes[slot%lockStripes]
	lock.Lock()
	return lock
}

// read returns a copy of a list.
func (s *scratch) read(slot uint32, level int) []uint32 {
	s.neighbours(slot, level)
	return slices.Clone(s.fresh)
}

// write replaces a list. The caller holds its lock, or nobody else knows it.
func (s *scratch) write(slot uint32, level int, neighbours []uint32) {
	list := s.g.list(s.d, slot, level)
	for i, x := range neighbours {
		list[i].Store(x + 1)
	}
	for i := len(neighbours); i < len(list); i++ {
		list[i].Store(0)
	}
}

// offer adds a slot to the list of a node, which the caller has locked and read.
// If it is full, the best are chosen; links of the tree stay.
func (s *scratch) offer(node, slot uint32, level int, list []uint32) {
	if slices.Contains(list, slot) {
		return
	}
	if room := s.g.list(s.d, node, level); len(list) < len(room) {
		room[len(list)].Store(slot + 1)
		return
	}
	s.write(node, level, s.cut(node, level, append(list, slot)))
}

// cut chooses the neighbours of a node.
func (s *scratch) cut(node uint32, level int, from []uint32) []uint32 {
	var must func(uint32) bool
	if level == 0 {
		must = func(x uint32) bool { return s.g.bound(s.d, node, x) }
	}
	candidates := s.rank(node, from)
	return s.choose(candidates, len(s.g.list(s.d, node, level)), must)
}

// rank returns slots by their nearness to a node.
func (s *scratch) rank(node uint32, slots []uint32) []entry {
	query, scale := s.query, s.scale
	s.askSlot(node)
	s.keys = s.keys[:0]
	for part := range slices.Chunk(slots, batch) {
		for i, sim := range s.compare(part) {
			s.keys = append(s.keys, keyOf(entry{sim, part[i]}))
		}
	}
	s.query, s.scale = query, scale
	slices.Sort(s.keys) // a third of the time that comparing entries takes
	ranked := make([]entry, len(s.keys))
	for i, k := range s.keys {
		ranked[i] = k.entry()
	}
	return ranked
}

// sortKey is an entry without marks as a number; [nearest] orders entries as their
// keys ascend.
type sortKey uint64

func keyOf(e entry) sortKey {
	bits := math.Float32bits(e.sim + 0) // there is one zero
	if bits>>31 == 0 {
		bits = ^bits & (1<<31 - 1)
	}
	return sortKey(bits)<<32 | sortKey(e.slot)
}

func (k sortKey) entry() entry {
	bits := uint32(k >> 32)
	if bits>>31 == 0 {
		bits = ^bits & (1<<31 - 1)
	}
	return entry{math.Float32frombits(bits), uint32(k)} //nolint:gosec // the lower half
}
