package hnsw

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime/debug"
	"unsafe"
)

// ErrFull is returned when there are as many slots as 30 bits can number.
var ErrFull = errors.New("hnsw: the graph is full")

// Put stores the vector of an id, in place of the one it had. A search that begins
// when Put has returned finds it. The vector is of length 1 within float32's
// precision and all its components are finite: the caller checks that, as it has
// normalised it; Put copies what it needs. What follows the graph's dimensions is
// padding and is not read. Put panics if there are fewer components.
func (g *Graph) Put(id uint64, unit []float32) (err error) {
	unit = unit[:g.dim]
	if err := g.ready(context.Background()); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.mu.Lock()
	defer g.mu.Unlock()
	old, replaces := g.byID[id]
	slot, err := g.take()
	if err != nil {
		return err
	}
	c, at := g.dir.Load().chunk(slot)
	from := int(at) * g.stride
	r, residual := encode(unit, c.codes[from:from+g.dim])
	g.noteResidual(residual)
	c.rows[at], c.ids[at] = r, id
	g.show(c, at)
	g.byID[id] = slot
	if replaces { // after the new one is there: one of them is always found
		g.kill(old)
	}
	return nil
}

// take returns a slot that nobody looks at. The caller holds mu.
func (g *Graph) take() (uint32, error) {
	g.reclaim()
	if n := len(g.free); n > 0 {
		slot := g.free[n-1]
		g.free = g.free[:n-1]
		g.wipe(slot)
		return slot, nil
	}
	slot := g.slots.Load()
	if slot == maxSlots {
		return 0, ErrFull
	}
	level := uint32(g.height(slot)) //nolint:gosec // within 0..15
	g.grow(int(slot>>chunkShift)+1, g.lists+level)
	c, at := g.dir.Load().chunk(slot)
	if level > 0 {
		c.towers[at] = level<<levelShift | g.lists
		g.lists += level
	}
	g.slots.Store(slot + 1)
	return slot, nil
}

// wipe makes a slot that is used again like a new one, but for its level.
func (g *Graph) wipe(slot uint32) {
	d := g.dir.Load()
	for level := range d.level(slot) + 1 {
		for i, list := 0, g.list(d, slot, level); i < len(list); i++ {
			list[i].Store(0)
		}
	}
	c, at := d.chunk(slot)
	c.parents[at].Store(0)
	c.twin.clear(at)
	clear(c.codes[int(at)*g.stride : int(at+1)*g.stride])
}

// show publishes a slot whose codes are written. It is held last but one, so that
// nobody takes it for a node.
func (g *Graph) show(c *chunk, at uint32) {
	c.waiting.set(at)
	c.pending.Add(1)
	c.held.set(at)
	c.live.set(at)
	g.counts.held.Add(1)
	g.counts.waiting.Add(1)
	g.counts.live.Add(1)
}

// kill makes the vector of a slot dead. The caller holds mu.
func (g *Graph) kill(slot uint32) {
	c, at := g.dir.Load().chunk(slot)
	// In this order, so that a search that meets the dead one repeats (see
	// [Graph.Deleted]).
	g.deleted.Add(1)
	c.live.clear(at)
	g.counts.live.Add(-1)
	if c.waiting.has(at) {
		g.counts.waiting.Add(-1)
	}
}

// Delete removes the vector of an id, if there is one.
func (g *Graph) Delete(id uint64) {
	if err := g.ready(context.Background()); err != nil {
		return
	}
	defer g.catch(nil, debug.SetPanicOnFault(true))
	g.mu.Lock()
	defer g.mu.Unlock()
	if slot, ok := g.byID[id]; ok {
		delete(g.byID, id)
		g.kill(slot)
	}
}

// Same reports whether id is live with the very codes of unit. That says that it
// is the same vector, as good as surely: another one would have to be nearer than
// the codes can tell.
func (g *Graph) Same(id uint64, unit []float32) bool {
	if err := g.ready(context.Background()); err != nil {
		return false
	}
	defer g.catch(nil, debug.SetPanicOnFault(true))
	g.mu.Lock()
	defer g.mu.Unlock()
	slot, ok := g.byID[id]
	if !ok {
		return false
	}
	codes := make([]int8, g.dim)
	r, residual := encode(unit[:g.dim], codes)
	c, at := g.dir.Load().chunk(slot)
	from := int(at) * g.stride
	same := c.rows[at] == r && bytes.Equal(raw(c.codes[from:from+g.dim]), raw(codes))
	if same {
		g.noteResidual(residual) // it stands for this one from now on
	}
	return same
}

// raw returns codes as bytes, which are compared faster.
func raw(codes []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}

// noteResidual keeps the largest, rounded up. The caller holds mu.
func (g *Graph) noteResidual(r float64) {
	up := math.Nextafter32(float32(r), 2)
	if up > math.Float32frombits(g.residual.Load()) {
		g.residual.Store(math.Float32bits(up))
	}
}
