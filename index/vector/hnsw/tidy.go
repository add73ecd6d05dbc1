package hnsw

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Dead nodes slow searches down in proportion: they are visited and expanded, but are not results.
// Tidy runs once a quarter of the held slots are dead. It takes about as long as linking a third of
// that number, which searches soon repay.
const (
	staleShare = 4
	minStale   = 1024
)

// Stale reports whether Tidy pays off: a quarter of the held slots are dead.
func (g *Graph) Stale() bool {
	held := g.counts.held.Load()
	dead := held - g.counts.live.Load() - g.retained.Load()
	return dead >= minStale && dead*staleShare >= held
}

// Tidy removes the vectors from the graph that are dead when it begins. Put reuses their slots once
// the running searches have ended. The neighbors of a dead node choose anew among the others and
// the dead node's neighbors, as in FreshDiskANN (arXiv 2105.09613, algorithm 4). Searches, Put and
// Delete run concurrently; another Link or Tidy waits. When ctx ends, no slot is freed, the
// completed part remains useful, and Tidy returns the cause; Write then fails until a later Tidy
// completes.
//
// The root of the tree stays, dead or alive, and so does a head with duplicates.
func (g *Graph) Tidy(ctx context.Context) (err error) {
	if err := g.ready(ctx); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.writing.Lock()
	defer g.writing.Unlock()
	g.shaping.Lock()
	defer g.shaping.Unlock()
	g.collectWaiting()
	slots := g.slots.Load() // before the directory is borrowed, which then contains them; more slots may follow
	s := g.borrow()
	defer g.giveBack(s)
	t := tidier{scratch: s, slots: slots, throttle: new(throttle.Throttle)}
	duplicates := g.dropDeadDuplicates()
	nodes := t.selectDoomed()
	g.tidyIncomplete.Store(true)
	t.reparent()
	err = g.parallel(ctx, int(t.slots), func(s *scratch, i int) {
		if slot := uint32(i); t.survives(slot) && t.withScratch(s).relink(slot) { //nolint:gosec // below maxSlots
			t.throttle.Yield()
		}
	})
	if err != nil {
		g.freeSlots(duplicates, 0)
		return err
	}
	t.moveEntry()
	g.freeSlots(append(nodes, duplicates...), len(nodes))
	g.tidyIncomplete.Store(false)
	return nil
}

// tidier is a running Tidy.
type tidier struct {
	*scratch
	slots    uint32   // the slots it covers: those below this number
	doomed   []uint64 // one bit per slot to remove
	throttle *throttle.Throttle
}

// withScratch returns a copy of t for another worker.
func (t *tidier) withScratch(s *scratch) *tidier {
	return &tidier{scratch: s, slots: t.slots, doomed: t.doomed, throttle: t.throttle}
}

func (t *tidier) isDoomed(slot uint32) bool {
	return int(slot>>6) < len(t.doomed) && t.doomed[slot>>6]>>(slot&63)&1 != 0
}

// survives reports whether a slot is a node and not doomed.
func (t *tidier) survives(slot uint32) bool { return t.d.isNode(slot) && !t.isDoomed(slot) }

// isNode reports whether a slot is a node of the graph.
func (d *directory) isNode(slot uint32) bool {
	c, at := d.chunk(slot)
	return c.held.has(at) && !c.waiting.has(at) && !c.duplicate.has(at)
}

// selectDoomed marks the dead nodes as doomed and returns them.
func (t *tidier) selectDoomed() (doomed []uint32) {
	t.doomed = make([]uint64, len(t.d.chunks)*chunkSlots/64)
	root := t.g.root.Load()
	stuck := int64(0)
	defer func() { t.g.retained.Store(stuck) }()
	for slot := range t.slots {
		c, at := t.d.chunk(slot)
		if !t.d.isNode(slot) || c.live.has(at) {
			continue
		}
		if c.head.has(at) || slot+1 == root {
			stuck++
		} else {
			t.doomed[slot>>6] |= 1 << (slot & 63)
			doomed = append(doomed, slot)
		}
	}
	return doomed
}

// reparent moves the children of doomed nodes to new parents. It cannot be interrupted, as some
// nodes would be left without a parent.
func (t *tidier) reparent() {
	for slot := range t.slots {
		if parent := t.g.parent(t.d, slot); parent != 0 && t.survives(slot) && t.isDoomed(parent-1) {
			t.reparentNode(slot)
			t.throttle.Yield()
		}
	}
}

// reparentNode gives a node a new parent. It tries the node's neighbors and those of its doomed
// parents, nearest first: one that is not its descendant and has room. Otherwise it takes the
// nearest ancestor with room, or a node below that.
func (t *tidier) reparentNode(slot uint32) {
	for _, e := range t.rank(slot, t.candidates(slot, 0)) {
		if !t.descends(e.slot, slot) && t.setParent(slot, e.slot) {
			return
		}
	}
	next := t.g.parent(t.d, slot) - 1
	for t.isDoomed(next) { // ends at the root, which is never doomed
		next = t.g.parent(t.d, next) - 1
	}
	for !t.setParent(slot, next) { // cannot reach slot itself, whose parent is doomed
		next = t.rank(slot, t.children(next))[0].slot
	}
}

// descends reports whether a node equals from or is below it.
func (t *tidier) descends(node, from uint32) bool {
	for node != from {
		parent := t.g.parent(t.d, node)
		if parent == 0 {
			return false
		}
		node = parent - 1
	}
	return true
}

// children returns the surviving children of a node.
func (t *tidier) children(node uint32) []uint32 {
	return slices.DeleteFunc(t.read(node, 0), func(x uint32) bool {
		return t.g.parent(t.d, x) != node+1 || t.isDoomed(x)
	})
}

// setParent makes a node the child of parent if that has room.
func (t *tidier) setParent(slot, parent uint32) bool {
	if len(t.children(parent)) >= t.g.maxChildren() {
		return false
	}
	c, at := t.d.chunk(slot)
	c.parents[at].Store(parent + 1)
	t.linkTree(parent, slot)
	t.linkTree(slot, parent)
	return true
}

// linkTree adds a neighbor at level 0 and keeps the tree links.
func (t *tidier) linkTree(node, next uint32) {
	list := t.read(node, 0)
	if slices.Contains(list, next) {
		return
	}
	if list = append(list, next); len(list) > t.g.m0 {
		list = t.choose(t.rank(node, list), t.g.m0, t.mustKeep(node))
	}
	t.write(node, 0, list)
}

// mustKeep returns a function that reports which neighbors a node must keep.
func (t *tidier) mustKeep(node uint32) func(uint32) bool {
	return func(x uint32) bool { return !t.isDoomed(x) && t.g.isTreeLink(t.d, node, x) }
}

// relink chooses new neighbors for a node that has doomed ones, and reports whether it had any.
func (t *tidier) relink(slot uint32) (doomed bool) {
	for level := t.d.level(slot); level >= 0; level-- {
		list := t.read(slot, level)
		if !slices.ContainsFunc(list, t.isDoomed) {
			continue
		}
		doomed = true
		var must func(uint32) bool
		if level == 0 {
			must = t.mustKeep(slot)
		}
		candidates := t.rank(slot, t.candidates(slot, level))
		t.write(slot, level, t.choose(candidates, len(t.g.list(t.d, slot, level)), must))
	}
	return doomed
}

// candidates returns the surviving neighbors of a node and the nodes reachable through doomed ones
// alone; not many more than batch.
func (t *tidier) candidates(slot uint32, level int) (staying []uint32) {
	t.clearSeen()
	t.markSeen(slot)
	for through := []uint32{slot}; len(through) > 0 && len(staying) < batch; through = through[1:] {
		t.unseen(through[0], level)
		for _, x := range t.fresh {
			if t.isDoomed(x) {
				through = append(through, x)
			} else {
				staying = append(staying, x)
			}
		}
	}
	return staying
}

// moveEntry makes the highest surviving node the entry if the entry is doomed.
func (t *tidier) moveEntry() {
	if e := t.g.entry.Load(); e == 0 || !t.isDoomed(uint32(e)-1) { //nolint:gosec // the lower half
		return
	}
	var highest uint64
	for slot := range t.slots {
		if t.survives(slot) {
			highest = max(highest, entryOf(slot, t.d.level(slot)))
		}
	}
	t.g.entry.Store(highest) // at least the root survives
}

// freeSlots frees slots that no list refers to any more. nodes is the number of graph nodes among
// them.
func (g *Graph) freeSlots(slots []uint32, nodes int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.dir.Load()
	for _, slot := range slots {
		c, at := d.chunk(slot)
		g.release(c, at)
	}
	g.counts.nodes.Add(int64(-nodes))
	g.retire(slots...)
}
