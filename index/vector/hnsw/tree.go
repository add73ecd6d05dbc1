package hnsw

import "slices"

// Lists keep the neighbors that serve searches best, which alone could remove the last link to a
// node. Therefore the nodes also form a tree. Every node except the root has a parent, one of the
// nearest nodes linked before it. While a node exists, its list and its parent's list contain each
// other ([Graph.isTreeLink]). The tree links at level 0 alone lead from any node to any other: up
// to the root and down.

// isTreeLink reports whether two nodes are parent and child.
func (g *Graph) isTreeLink(d *directory, a, b uint32) bool {
	return g.parent(d, a) == b+1 || g.parent(d, b) == a+1
}

// parent returns the parent of a node as slot+1, or 0 for the root.
func (g *Graph) parent(d *directory, slot uint32) uint32 {
	c, at := d.chunk(slot)
	return c.parents[at].Load()
}

// maxChildren returns the maximum number of children: half of a list, so that the other half serves
// searches.
func (g *Graph) maxChildren() int { return g.m0 / 2 }

// attach makes a slot that no list refers to yet the child of parent, unless that is full. The slot
// is reachable from then on.
func (s *scratch) attach(slot, parent uint32) bool {
	g := s.g
	lock := g.lock(parent)
	defer lock.Unlock()
	list := s.read(parent, 0)
	own := 0
	for _, x := range list {
		if g.parent(s.d, x) == parent+1 {
			own++
		}
	}
	if own >= g.maxChildren() {
		return false
	}
	c, at := s.d.chunk(slot)
	c.parents[at].Store(parent + 1)
	s.addNeighbor(parent, slot, 0, list)
	return true
}

// chooseParent attaches a slot to the nearest candidate that has room, or to a descendant of the
// nearest candidate. It returns the parent.
func (s *scratch) chooseParent(slot uint32, candidates []entry) uint32 {
	for _, e := range candidates {
		if s.attach(slot, e.slot) {
			return e.slot
		}
	}
	next := candidates[0].slot
	for !s.attach(slot, next) {
		below := slices.DeleteFunc(s.read(next, 0), func(x uint32) bool { return s.g.parent(s.d, x) != next+1 })
		next = s.rank(slot, below)[0].slot
	}
	return next
}
