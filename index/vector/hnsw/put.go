package hnsw

import (
	"bytes"
	"context"
	"errors"
	"math"
	"runtime/debug"
	"unsafe"
)

// ErrFull is returned when the number of slots exceeds 30 bits.
var ErrFull = errors.New("hnsw: the graph is full")

// Put stores the vector of an id and replaces any earlier one. A search that begins after Put
// returns finds it. The caller guarantees that unit has length 1 within float32 precision and only
// finite components. Put copies the data. Components past the graph's dimensions are padding and
// are ignored; Put panics if there are fewer.
func (g *Graph) Put(id uint64, unit []float32) (err error) {
	unit = unit[:g.dim]
	if err := g.ready(context.Background()); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.mu.Lock()
	defer g.mu.Unlock()
	old, replaces := g.byID[id]
	slot, err := g.takeSlot()
	if err != nil {
		return err
	}
	c, at := g.dir.Load().chunk(slot)
	from := int(at) * g.stride
	r, residual := encode(unit, c.codes[from:from+g.dim])
	g.noteResidual(residual)
	c.rows[at], c.ids[at] = r, id
	g.publish(c, at)
	g.byID[id] = slot
	if replaces { // after the new one is published, so that one of them is always found
		g.markDead(old)
	}
	return nil
}

// takeSlot returns a slot without readers. The caller holds mu.
func (g *Graph) takeSlot() (uint32, error) {
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

// wipe resets a reused slot, except its level.
func (g *Graph) wipe(slot uint32) {
	d := g.dir.Load()
	for level := range d.level(slot) + 1 {
		for i, list := 0, g.list(d, slot, level); i < len(list); i++ {
			list[i].Store(0)
		}
	}
	c, at := d.chunk(slot)
	c.parents[at].Store(0)
	c.duplicate.clear(at)
	clear(c.codes[int(at)*g.stride : int(at+1)*g.stride])
}

// publish makes a slot visible after its codes are written. It sets waiting before held, so that no
// reader takes the slot for a node.
func (g *Graph) publish(c *chunk, at uint32) {
	c.waiting.set(at)
	c.pending.Add(1)
	c.held.set(at)
	c.live.set(at)
	g.counts.held.Add(1)
	g.counts.waiting.Add(1)
	g.counts.live.Add(1)
}

// markDead marks the vector of a slot as deleted. The caller holds mu.
func (g *Graph) markDead(slot uint32) {
	c, at := g.dir.Load().chunk(slot)
	// This order makes a search that meets the dead vector repeat (see [Graph.Deleted]).
	g.deleted.Add(1)
	c.live.clear(at)
	g.counts.live.Add(-1)
	if c.waiting.has(at) {
		g.counts.waiting.Add(-1)
	}
}

// Delete removes the vector of an id, if it exists.
func (g *Graph) Delete(id uint64) {
	if err := g.ready(context.Background()); err != nil {
		return
	}
	defer g.catch(nil, debug.SetPanicOnFault(true))
	g.mu.Lock()
	defer g.mu.Unlock()
	if slot, ok := g.byID[id]; ok {
		delete(g.byID, id)
		g.markDead(slot)
	}
}

// Same reports whether id is live with exactly the codes of unit. Equal codes mean the same vector
// almost surely: another vector would have to be nearer than the codes can resolve.
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
		g.noteResidual(residual) // the codes represent this vector from now on
	}
	return same
}

// raw returns codes as bytes, which compare faster.
func raw(codes []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(codes))), len(codes))
}

// noteResidual records the largest residual, rounded up. The caller holds mu.
func (g *Graph) noteResidual(r float64) {
	up := math.Nextafter32(float32(r), 2)
	if up > math.Float32frombits(g.residual.Load()) {
		g.residual.Store(math.Float32bits(up))
	}
}
