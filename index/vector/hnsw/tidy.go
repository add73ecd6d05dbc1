package hnsw

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/ragctx/ragctx/internal/throttle"
)

// A share of dead nodes costs searches as much: they are visited, and lead on, but
// are no results. A quarter is where taking them out, which takes about as long as
// to link a third of them anew, is soon repaid.
const (
	staleShare = 4
	minStale   = 1024
)

// Stale reports whether Tidy pays: a quarter of what is held is dead.
func (g *Graph) Stale() bool {
	held := g.counts.held.Load()
	dead := held - g.counts.live.Load() - g.stuck.Load()
	return dead >= minStale && dead*staleShare >= held
}

// Tidy takes the vectors out of the graph that are dead when it begins; Put uses
// their slots again as soon as the searches under way have ended. The neighbours
// of a dead node choose anew among the others and those that it led to, as
// FreshDiskANN does (arXiv 2105.09613, algorithm 4). Searches, Put and Delete go on
// beside it; another Link or Tidy waits. When ctx ends, nothing was freed, what was
// done so far is of use, and Tidy returns the cause; Write fails until another one ends.
//
// The root of the tree stays, dead or alive, and so does a head that has twins.
func (g *Graph) Tidy(ctx context.Context) (err error) {
	if err := g.ready(ctx); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.writing.Lock()
	defer g.writing.Unlock()
	g.shaping.Lock()
	defer g.shaping.Unlock()
	g.sift()
	slots := g.slots.Load() // before the directory is borrowed, which has them then; others come meanwhile
	s := g.borrow()
	defer g.giveBack(s)
	t := tidier{scratch: s, slots: slots, rests: new(throttle.Throttle)}
	twins := g.thin()
	nodes := t.condemn()
	g.torn.Store(true)
	t.rehome()
	err = g.spread(ctx, int(t.slots), func(s *scratch, i int) {
		if slot := uint32(i); t.stays(slot) && t.with(s).relink(slot) { //nolint:gosec // below maxSlots
			t.rests.Yield()
		}
	})
	if err != nil {
		g.bury(twins, 0)
		return err
	}
	t.moveEntry()
	g.bury(append(nodes, twins...), len(nodes))
	g.torn.Store(false)
	return nil
}

// tidier is a Tidy under way.
type tidier struct {
	*scratch
	slots  uint32   // those that it looks at
	doomed []uint64 // a bit per slot that it takes out
	rests  *throttle.Throttle
}

// with returns t for another worker.
func (t *tidier) with(s *scratch) *tidier {
	return &tidier{scratch: s, slots: t.slots, doomed: t.doomed, rests: t.rests}
}

func (t *tidier) isDoomed(slot uint32) bool {
	return int(slot>>6) < len(t.doomed) && t.doomed[slot>>6]>>(slot&63)&1 != 0
}

// stays reports whether a slot is a node and not doomed.
func (t *tidier) stays(slot uint32) bool { return t.d.isNode(slot) && !t.isDoomed(slot) }

// isNode reports whether a slot is a node of the graph.
func (d *directory) isNode(slot uint32) bool {
	c, at := d.chunk(slot)
	return c.held.has(at) && !c.waiting.has(at) && !c.twin.has(at)
}

// condemn dooms the dead nodes.
func (t *tidier) condemn() (doomed []uint32) {
	t.doomed = make([]uint64, len(t.d.chunks)*chunkSlots/64)
	root := t.g.root.Load()
	stuck := int64(0)
	defer func() { t.g.stuck.Store(stuck) }()
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

// rehome finds new parents for the children of the doomed. It does not stop half
// way, when some nodes would hang on nothing.
func (t *tidier) rehome() {
	for slot := range t.slots {
		if parent := t.g.parent(t.d, slot); parent != 0 && t.stays(slot) && t.isDoomed(parent-1) {
			t.move(slot)
			t.rests.Yield()
		}
	}
}

// move makes a node the child of another: of one of its neighbours, or of those of
// its parent, the nearest that is no descendant of it and has room; else of its
// nearest ancestor, or of one below that.
func (t *tidier) move(slot uint32) {
	for _, e := range t.rank(slot, t.around(slot, 0)) {
		if !t.descends(e.slot, slot) && t.hang(slot, e.slot) {
			return
		}
	}
	next := t.g.parent(t.d, slot) - 1
	for t.isDoomed(next) { // ends at the root, which is not
		next = t.g.parent(t.d, next) - 1
	}
	for !t.hang(slot, next) { // no way leads to slot, whose parent is doomed
		next = t.rank(slot, t.offspring(next))[0].slot
	}
}

// descends reports whether a node is another one or below it.
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

// offspring returns the children of a node that stay.
func (t *tidier) offspring(node uint32) []uint32 {
	return slices.DeleteFunc(t.read(node, 0), func(x uint32) bool {
		return t.g.parent(t.d, x) != node+1 || t.isDoomed(x)
	})
}

// hang makes a node the child of another that has room.
func (t *tidier) hang(slot, parent uint32) bool {
	if len(t.offspring(parent)) >= t.g.children() {
		return false
	}
	c, at := t.d.chunk(slot)
	c.parents[at].Store(parent + 1)
	t.admit(parent, slot)
	t.admit(slot, parent)
	return true
}

// admit adds a neighbour at level 0.
func (t *tidier) admit(node, next uint32) {
	list := t.read(node, 0)
	if slices.Contains(list, next) {
		return
	}
	if list = append(list, next); len(list) > t.g.m0 {
		list = t.choose(t.rank(node, list), t.g.m0, t.tied(node))
	}
	t.write(node, 0, list)
}

// tied returns what tells which neighbours a node must keep.
func (t *tidier) tied(node uint32) func(uint32) bool {
	return func(x uint32) bool { return !t.isDoomed(x) && t.g.bound(t.d, node, x) }
}

// relink chooses the neighbours of a node that has doomed ones anew, and reports
// whether it has any.
func (t *tidier) relink(slot uint32) (doomed bool) {
	for level := t.d.level(slot); level >= 0; level-- {
		list := t.read(slot, level)
		if !slices.ContainsFunc(list, t.isDoomed) {
			continue
		}
		doomed = true
		var must func(uint32) bool
		if level == 0 {
			must = t.tied(slot)
		}
		candidates := t.rank(slot, t.around(slot, level))
		t.write(slot, level, t.choose(candidates, len(t.g.list(t.d, slot, level)), must))
	}
	return doomed
}

// around returns the neighbours of a node that stay, and those that it reaches
// through doomed ones only; not many more than batch.
func (t *tidier) around(slot uint32, level int) (staying []uint32) {
	t.forget()
	t.touch(slot)
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

// moveEntry makes the highest node that stays the entry, if that is doomed.
func (t *tidier) moveEntry() {
	if e := t.g.entry.Load(); e == 0 || !t.isDoomed(uint32(e)-1) { //nolint:gosec // the lower half
		return
	}
	var highest uint64
	for slot := range t.slots {
		if t.stays(slot) {
			highest = max(highest, entryOf(slot, t.d.level(slot)))
		}
	}
	t.g.entry.Store(highest) // the root at least
}

// bury frees slots that nothing leads to any more, so many nodes among them.
func (g *Graph) bury(slots []uint32, nodes int) {
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
