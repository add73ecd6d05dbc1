package hnsw

import (
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/internal/throttle"
)

// Link links every vector that waits when it begins into the graph, with Options.Workers
// goroutines, which have ended when it returns. While there are fewer than Options.LinkFrom vectors
// it only frees dead ones. Searches, Put and Delete run concurrently; another Link or Tidy waits.
// When ctx ends, the remaining vectors stay waiting, and Link returns the cause.
func (g *Graph) Link(ctx context.Context) (err error) {
	if err := g.ready(ctx); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.shaping.Lock()
	defer g.shaping.Unlock()
	waiting := g.collectWaiting()
	if g.counts.nodes.Load() == 0 && len(waiting) < g.opt.LinkFrom {
		return nil
	}
	return g.parallel(ctx, len(waiting), func(s *scratch, i int) {
		if c, at := g.dir.Load().chunk(waiting[i]); c.live.has(at) { // else the next collectWaiting frees it
			g.link(s, waiting[i])
		}
	})
}

// parallel calls work for 0..n-1 on the workers until ctx ends.
func (g *Graph) parallel(ctx context.Context, n int, work func(s *scratch, i int)) error {
	var next atomic.Int64
	var group sync.WaitGroup
	some := func() {
		defer g.catch(nil, debug.SetPanicOnFault(true))
		s := g.borrow()
		defer g.giveBack(s)
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			work(s, i)
		}
	}
	for range min(g.opt.Workers, n) - 1 {
		group.Go(func() {
			throttle.LowerPriority() // background work: vectors without links are found anyway
			some()
		})
	}
	some()
	group.Wait()
	return cmp.Or(g.failed(), context.Cause(ctx))
}

// collectWaiting returns the waiting slots in order and frees the dead ones.
func (g *Graph) collectWaiting() (waiting []uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.dir.Load().chunks {
		for at := range c.waiting.all {
			slot := uint32(i)<<chunkShift | at //nolint:gosec // below maxSlots
			if c.live.has(at) {
				waiting = append(waiting, slot)
			} else {
				g.freed.Add(1) // first, so that a search that misses the vector repeats
				c.clearWaiting(at)
				g.release(c, at)
				g.retire(slot)
			}
		}
	}
	return waiting
}

// clearWaiting ends the waiting of a slot.
func (c *chunk) clearWaiting(at uint32) {
	c.waiting.clear(at)
	c.pending.Add(-1)
}

// release clears the held state of a slot.
func (g *Graph) release(c *chunk, at uint32) {
	c.held.clear(at)
	g.counts.held.Add(-1)
}

// link makes a waiting slot a node, or the duplicate of a node.
func (g *Graph) link(s *scratch, slot uint32) {
	g.linking.RLock()
	defer g.linking.RUnlock()
	s.refresh()
	c, at := s.d.chunk(slot)
	duplicate := !g.makeFirst(slot) && s.place(slot)
	g.mu.Lock()
	defer g.mu.Unlock()
	c.clearWaiting(at)
	if c.live.has(at) {
		g.counts.waiting.Add(-1)
	}
	if !duplicate {
		g.counts.nodes.Add(1)
	}
}

// makeFirst makes a slot the first node if the graph is empty.
func (g *Graph) makeFirst(slot uint32) bool {
	if g.entry.Load() != 0 {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.entry.Load() != 0 {
		return false
	}
	g.root.Store(slot + 1)
	g.entry.Store(entryOf(slot, g.dir.Load().level(slot)))
	return true
}

func entryOf(slot uint32, level int) uint64 {
	return uint64(level)<<32 | uint64(slot+1) //nolint:gosec // a level is not negative
}

// place finds the neighbors of a slot and links it to them (algorithm 1). It links from level 0 up,
// so that a walk that meets the slot at some level can continue below. It returns true if it has
// made the slot a duplicate instead.
func (s *scratch) place(slot uint32) (duplicate bool) {
	level := s.d.level(slot)
	s.setQuerySlot(slot)
	at, top := s.descend(level)
	top = min(level, top)
	chosen := make([][]uint32, top+1)
	for l := top; l >= 0; l-- {
		s.start(at)
		s.beam(s.g.opt.EfConstruction, l)
		s.unmark()
		at = s.pool[0]
		chosen[l] = s.choose(s.pool, s.g.m, nil)
	}
	if head, ok := s.same(slot); ok {
		s.g.addDuplicate(s.d, head, slot)
		return true
	}
	candidates := slices.Clone(s.pool)
	s.linkBase(slot, chosen[0], candidates)
	for l, list := range chosen {
		if l > 0 {
			s.write(slot, l, list)
		}
		for _, node := range list {
			s.connect(node, slot, l)
		}
	}
	s.g.raiseEntry(slot, level)
	return false
}

// unmark clears the marks of the pool.
func (s *scratch) unmark() {
	for i := range s.pool {
		s.pool[i].slot &^= marks
	}
}

// linkBase writes a slot's list at level 0 and sets its parent.
func (s *scratch) linkBase(slot uint32, list []uint32, candidates []entry) {
	s.write(slot, 0, list)
	parent := s.chooseParent(slot, candidates)
	if !slices.Contains(list, parent) {
		s.connect(slot, parent, 0)
	}
}

// connect adds a slot to the list of a node.
func (s *scratch) connect(node, slot uint32, level int) {
	lock := s.g.lock(node)
	defer lock.Unlock()
	s.addNeighbor(node, slot, level, s.read(node, level))
}

// raiseEntry makes a node the entry if it is higher.
func (g *Graph) raiseEntry(slot uint32, level int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if level > int(g.entry.Load()>>32) { //nolint:gosec // a level
		g.entry.Store(entryOf(slot, level))
	}
}
