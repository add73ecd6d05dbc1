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

// Link gives every vector that waits when it begins its place in the graph, with
// Options.Workers goroutines, which have ended when it returns. It does nothing
// but drop dead ones while there are fewer than Options.LinkFrom vectors. Searches,
// Put and Delete go on beside it; another Link or Tidy waits. When ctx ends, what
// was not linked goes on waiting, and Link returns the cause.
func (g *Graph) Link(ctx context.Context) (err error) {
	if err := g.ready(ctx); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.shaping.Lock()
	defer g.shaping.Unlock()
	waiting := g.sift()
	if g.counts.nodes.Load() == 0 && len(waiting) < g.opt.LinkFrom {
		return nil
	}
	return g.spread(ctx, len(waiting), func(s *scratch, i int) {
		if c, at := g.dir.Load().chunk(waiting[i]); c.live.has(at) { // else the next sift frees it
			g.link(s, waiting[i])
		}
	})
}

// spread runs work for 0..n-1 on the workers, until ctx ends.
func (g *Graph) spread(ctx context.Context, n int, work func(s *scratch, i int)) error {
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
			throttle.LowerPriority() // nobody waits for links: what has none yet is found all the same
			some()
		})
	}
	some()
	group.Wait()
	return cmp.Or(g.failed(), context.Cause(ctx))
}

// sift returns the slots that wait, in order, and frees those of dead vectors.
func (g *Graph) sift() (waiting []uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, c := range g.dir.Load().chunks {
		for at := range c.waiting.all {
			slot := uint32(i)<<chunkShift | at //nolint:gosec // below maxSlots
			if c.live.has(at) {
				waiting = append(waiting, slot)
			} else {
				g.freed.Add(1) // first, so that a search that misses it repeats
				c.settle(at)
				g.release(c, at)
				g.retire(slot)
			}
		}
	}
	return waiting
}

// settle ends the waiting of a slot.
func (c *chunk) settle(at uint32) {
	c.waiting.clear(at)
	c.pending.Add(-1)
}

// release makes a slot hold nothing.
func (g *Graph) release(c *chunk, at uint32) {
	c.held.clear(at)
	g.counts.held.Add(-1)
}

// link makes a waiting slot a node, or the twin of one.
func (g *Graph) link(s *scratch, slot uint32) {
	g.linking.RLock()
	defer g.linking.RUnlock()
	s.refresh()
	c, at := s.d.chunk(slot)
	twin := !g.plant(slot) && s.place(slot)
	g.mu.Lock()
	defer g.mu.Unlock()
	c.settle(at)
	if c.live.has(at) {
		g.counts.waiting.Add(-1)
	}
	if !twin {
		g.counts.nodes.Add(1)
	}
}

// plant makes a slot the first node, if there is none.
func (g *Graph) plant(slot uint32) bool {
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

// place finds the neighbours of a slot and links it to them (algorithm 1), from
// level 0 up: whoever meets it at some level finds its way on below. It reports
// whether it has made the slot a twin instead.
func (s *scratch) place(slot uint32) (twin bool) {
	level := s.d.level(slot)
	s.askSlot(slot)
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
		s.g.join(s.d, head, slot)
		return true
	}
	candidates := slices.Clone(s.pool)
	s.root(slot, chosen[0], candidates)
	for l, list := range chosen {
		if l > 0 {
			s.write(slot, l, list)
		}
		for _, node := range list {
			s.connect(node, slot, l)
		}
	}
	s.g.raise(slot, level)
	return false
}

// unmark takes the marks off the pool.
func (s *scratch) unmark() {
	for i := range s.pool {
		s.pool[i].slot &^= marks
	}
}

// root gives a slot its list at level 0, and its parent.
func (s *scratch) root(slot uint32, list []uint32, candidates []entry) {
	s.write(slot, 0, list)
	parent := s.adopt(slot, candidates)
	if !slices.Contains(list, parent) {
		s.connect(slot, parent, 0)
	}
}

// connect adds a slot to the list of a node.
func (s *scratch) connect(node, slot uint32, level int) {
	lock := s.g.lock(node)
	defer lock.Unlock()
	s.offer(node, slot, level, s.read(node, level))
}

// raise makes a node the entry if it is higher.
func (g *Graph) raise(slot uint32, level int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if level > int(g.entry.Load()>>32) { //nolint:gosec // a level
		g.entry.Store(entryOf(slot, level))
	}
}
