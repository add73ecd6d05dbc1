package hnsw

import (
	"context"
	"fmt"
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// verifyAll checks every property that the rest of the package relies on, so that even a
// maliciously damaged file causes no access out of bounds.
func (g *Graph) verifyAll(ctx context.Context, p *verification) error {
	d := g.dir.Load()
	if p.sumsVerified == nil {
		p.sumsVerified = make([]atomic.Bool, len(p.sums))
		p.nodes = make([]uint64, len(d.chunks)*chunkSlots/64)
	}
	if err := g.verifyEach(ctx, len(p.sums), func(i int) error { return g.verifySum(d, p, i) }); err != nil {
		return err
	}
	if err := g.verifyStates(d, p); err != nil {
		return err
	}
	err := g.verifyEach(ctx, len(d.chunks), func(i int) error {
		first := uint32(i) << chunkShift //nolint:gosec // below maxSlots
		for slot := first; slot < min(first+chunkSlots, p.header.Slots); slot++ {
			if err := g.verifySlot(d, p, slot); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.verifyTree(d, p); err != nil {
		return err
	}
	return g.restore()
}

// verifyEach calls f for 0..n-1 on the workers and returns the first error.
func (g *Graph) verifyEach(ctx context.Context, n int, f func(i int) error) error {
	var next atomic.Int64
	var first atomic.Pointer[error]
	var group sync.WaitGroup
	for range min(g.opt.Workers, n) {
		group.Go(func() {
			err := g.verifySome(ctx, &next, n, f)
			if err != nil {
				first.CompareAndSwap(nil, &err)
				next.Store(int64(n))
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}

func (g *Graph) verifySome(ctx context.Context, next *atomic.Int64, n int, f func(i int) error) (err error) {
	defer g.catch(&err, debug.SetPanicOnFault(true))
	for {
		i := int(next.Add(1)) - 1
		if i >= n {
			return nil
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := f(i); err != nil {
			return err
		}
	}
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// verifySum compares the checksum of a chunk or of a tower block.
func (g *Graph) verifySum(d *directory, p *verification, i int) error {
	if p.sumsVerified[i].Load() {
		return nil
	}
	var part []byte
	if i < len(d.chunks) {
		part = bytesOf(d.chunks[i].block)
	} else {
		tower := d.towers[i-len(d.chunks)]
		part = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(tower))), 4*len(tower))
	}
	if atomicfile.Checksum(part) != p.sums[i] {
		return damaged("the checksum of part %d of %d does not match", i, len(p.sums))
	}
	p.sumsVerified[i].Store(true)
	return nil
}

// verifyStates checks states and levels, and records the nodes.
func (g *Graph) verifyStates(d *directory, p *verification) error {
	var live, held, waiting, nodes, lists int
	for i, c := range d.chunks {
		n := int(p.header.Slots) - i<<chunkShift
		for w := range c.held {
			word := c.held[w].Load()
			node := word &^ c.waiting[w].Load() &^ c.duplicate[w].Load()
			if !c.validStates(w, max(0, min(64, n-w<<6))) {
				return damaged("states %d of chunk %d are inconsistent", w, i)
			}
			p.nodes[i*chunkSlots/64+w] = node
			live += bits.OnesCount64(c.live[w].Load())
			waiting += bits.OnesCount64(c.waiting[w].Load())
			held += bits.OnesCount64(word)
			nodes += bits.OnesCount64(node)
		}
		for at, word := range c.towers {
			level := int(word >> levelShift)
			if level > 0 && int(word&(1<<levelShift-1)) != lists || level == 0 && word != 0 || at >= n && word != 0 {
				return damaged("the level of slot %d is invalid", i<<chunkShift+at)
			}
			lists += level
		}
		if n < chunkSlots && !g.unused(c, n) {
			return damaged("chunk %d has data in slots that were never used", i)
		}
	}
	h := &p.header
	if live != int(h.Live) || held != int(h.Held) || waiting != int(h.Waiting) || nodes != int(h.Nodes) || lists != int(h.Lists) {
		return damaged("its counts do not match its states")
	}
	if nodes == 0 && (h.Entry != 0 || h.Root != 0) || nodes > 0 && !(p.isNode(h.Root) &&
		p.isNode(uint32(h.Entry)) && d.level(uint32(h.Entry)-1) == int(h.Entry>>32)) { //nolint:gosec // halves
		return damaged("its entry or its root is not a node")
	}
	return nil
}

// validStates reports whether 64 states are consistent when only the first n slots are in use.
func (c *chunk) validStates(w, n int) bool {
	live, held, waiting := c.live[w].Load(), c.held[w].Load(), c.waiting[w].Load()
	duplicate, head := c.duplicate[w].Load(), c.head[w].Load()
	var used uint64
	if n > 0 {
		used = ^uint64(0) >> (64 - n)
	}
	return held&^used == 0 && live&^held == 0 && waiting&^live == 0 && duplicate&^live == 0 &&
		waiting&duplicate == 0 && head&^(held&^waiting&^duplicate) == 0
}

// unused reports whether the slots of a chunk from n on are all zero.
func (g *Graph) unused(c *chunk, n int) bool {
	for _, x := range c.codes[n*g.stride:] {
		if x != 0 {
			return false
		}
	}
	for i := range c.lists[n*g.m0:] {
		if c.lists[n*g.m0+i].Load() != 0 {
			return false
		}
	}
	for at := n; at < chunkSlots; at++ {
		if c.rows[at] != (row{}) || c.ids[at] != 0 || c.parents[at].Load() != 0 {
			return false
		}
	}
	return true
}

// isNode reports whether a stored reference (slot+1) is a node.
func (p *verification) isNode(stored uint32) bool {
	slot := stored - 1
	return stored != 0 && slot < p.header.Slots && p.nodes[slot>>6]>>(slot&63)&1 != 0
}

// verifySlot checks the scale of a slot, its lists and its parent.
func (g *Graph) verifySlot(d *directory, p *verification, slot uint32) error {
	c, at := d.chunk(slot)
	if scale := c.rows[at].scale; !(scale >= 0 && scale <= 1) {
		return damaged("slot %d has the invalid scale %g", slot, scale)
	}
	for level := d.level(slot); level >= 0; level-- {
		if !p.verifyList(d, slot, level, g.list(d, slot, level)) {
			return damaged("the list of slot %d at level %d is invalid", slot, level)
		}
	}
	parent := c.parents[at].Load()
	var ok bool
	switch {
	case c.duplicate.has(at):
		ok = p.isNode(parent)
		if ok {
			of, atHead := d.chunk(parent - 1)
			ok = of.head.has(atHead)
		}
	case !p.isNode(slot+1) || slot+1 == p.header.Root:
		ok = parent == 0
	default:
		ok = p.isNode(parent) && contains(g.list(d, slot, 0), parent) && contains(g.list(d, parent-1, 0), slot+1)
	}
	if !ok {
		return damaged("the parent of slot %d is invalid", slot)
	}
	return nil
}

// verifyList checks that a list has nodes of its level, followed by zeros.
func (p *verification) verifyList(d *directory, slot uint32, level int, list []atomic.Uint32) bool {
	n := length(list)
	if n > 0 && !p.isNode(slot+1) {
		return false
	}
	for i := range list[:n] {
		next := list[i].Load()
		if !p.isNode(next) || next == slot+1 || level > 0 && d.level(next-1) < level {
			return false
		}
	}
	for i := range list[n:] {
		if list[n+i].Load() != 0 {
			return false
		}
	}
	return true
}

func contains(list []atomic.Uint32, stored uint32) bool {
	for i := range list {
		if list[i].Load() == stored {
			return true
		}
	}
	return false
}

// verifyTree checks that all parents lead to the root.
func (g *Graph) verifyTree(d *directory, p *verification) error {
	done := make([]uint64, len(p.nodes))
	var way []uint32
	for slot := range p.header.Slots {
		if !p.isNode(slot + 1) {
			continue
		}
		way = way[:0]
		for at := slot; done[at>>6]>>(at&63)&1 == 0; {
			way = append(way, at)
			parent := g.parent(d, at)
			if parent == 0 {
				break
			}
			if at = parent - 1; len(way) > int(p.header.Nodes) {
				return damaged("slot %d is in a cycle of parents", slot)
			}
		}
		for _, at := range way {
			done[at>>6] |= 1 << (at & 63)
		}
	}
	return nil
}
