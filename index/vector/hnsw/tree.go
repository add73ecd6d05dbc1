package hnsw

import "slices"

// Lists are cut to the neighbours that serve searches best, so that nothing keeps
// the last link to a node from being cut. Hence the nodes are a tree, too: a node
// has a parent, one of its nearest that was there before it, and as long as it is
// a node, the lists of both hold the other ([Graph.bound]). The tree's links at
// level 0 alone lead from any node to any other: up to the root, and down.

// bound reports whether nodes are parent and child.
func (g *Graph) bound(d *directory, a, b uint32) bool {
	return g.parent(d, a) == b+1 || g.parent(d, b) == a+1
}

// parent returns a node's parent + 1, or 0 for the root.
func (g *Graph) parent(d *directory, slot uint32) uint32 {
	c, at := d.chunk(slot)
	return c.parents[at].Load()
}

// children is how many a node may have: half of the list, so that the rest is free
// to serve searches.
func (g *Graph) children() int { return g.m0 / 2 }

// attach makes a slot that no list leads to yet the child of a node, unless that
// has as many as it may. It is reachable from then on.
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
	if own >= g.children() {
		return false
	}
	c, at := s.d.chunk(slot)
	c.parents[at].Store(parent + 1)
	s.offer(parent, slot, 0, list)
	return true
}

// adopt finds a parent for a slot: the nearest candidate that has room, or a
// descendant of the nearest one. It returns the parent.
func (s *scratch) adopt(slot uint32, candidates []entry) uint32 {
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
