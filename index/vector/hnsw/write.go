package hnsw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"runtime/debug"
	"sync/atomic"

	"github.com/ragctx/ragctx/index/vector/kernel"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Write writes the current graph in one pass, under a name of at most [MaxName] bytes that
// identifies it to the caller. Searches, Put, Delete and Link run concurrently. Write waits some
// milliseconds for vectors that are being linked; it does not include later changes. Tidy and
// another Write wait for it, and it waits for them.
//
// Of vectors that were deleted before, it writes only how they were linked, unless Tidy has removed
// them.
func (g *Graph) Write(w io.Writer, name string) (err error) {
	if len(name) > MaxName {
		return fmt.Errorf("hnsw: the name of a graph's file has %d bytes, the limit is %d", len(name), MaxName)
	}
	if err := g.ready(context.Background()); err != nil {
		return err
	}
	defer g.catch(&err, debug.SetPanicOnFault(true))
	g.writing.Lock()
	defer g.writing.Unlock()
	if g.tidyIncomplete.Load() {
		return errTidyIncomplete
	}
	g.holdReuse(1)
	defer g.holdReuse(-1)
	f := &fileWriter{snapshot: g.takeSnapshot(), g: g, w: w}
	return f.write(name)
}

// errTidyIncomplete reports that an interrupted Tidy left the tree incomplete.
var errTidyIncomplete = errors.New("hnsw: the graph cannot be written after an incomplete Tidy; run Tidy first")

// fileWriter is a running Write.
type fileWriter struct {
	*snapshot
	g    *Graph
	w    io.Writer
	sums []uint32
}

func (f *fileWriter) write(name string) error {
	head, err := f.encode(name)
	if err != nil {
		return err
	}
	if err := f.put(head); err != nil {
		return err
	}
	if err := f.writeChunks(); err != nil {
		return err
	}
	if err := f.writeTowers(); err != nil {
		return err
	}
	f.sums = append(f.sums, atomicfile.Checksum(bytesOf(f.sums)))
	_, err = f.w.Write(bytesOf(f.sums))
	return err
}

// put writes a part and records its checksum.
func (f *fileWriter) put(b []byte) error {
	f.sums = append(f.sums, atomicfile.Checksum(b))
	_, err := f.w.Write(b)
	return err
}

func (f *fileWriter) writeChunks() error {
	out := f.g.view(kernel.Aligned[uint32](f.g.chunkWords()))
	for i := range f.states {
		clear(out.block)
		f.fill(out, uint32(i)) //nolint:gosec // below 1<<18
		if err := f.put(bytesOf(out.block)); err != nil {
			return err
		}
	}
	return nil
}

// fill fills out with the written part of a chunk.
func (f *fileWriter) fill(out *chunk, i uint32) {
	c, st := f.d.chunks[i], &f.states[i]
	n := min(chunkSlots, f.Slots-i<<chunkShift)
	copy(out.towers[:n], c.towers[:n])
	for w, word := range st.held {
		out.live[w].Store(st.live[w])
		out.held[w].Store(word)
		out.waiting[w].Store(st.waiting[w])
		out.duplicate[w].Store(st.duplicate[w])
		out.head[w].Store(st.head[w])
		for ; word != 0; word &= word - 1 {
			f.fillSlot(out, i<<chunkShift|uint32(w<<6+bits.TrailingZeros64(word))) //nolint:gosec // below maxSlots
		}
	}
}

// fillSlot writes a held slot to its position in out.
func (f *fileWriter) fillSlot(out *chunk, slot uint32) {
	g := f.g
	c, at := f.d.chunk(slot)
	if st := &f.states[slot>>chunkShift]; !st.waiting.has(at) {
		out.parents[at].Store(c.parents[at].Load())
	}
	list := out.lists[int(at)*g.m0 : int(at+1)*g.m0]
	f.fillList(list, slot, 0)
	from := slot
	if !f.isLive(slot) {
		var ok bool
		if from, ok = f.standIn(slot, list); !ok {
			return
		}
	}
	c, source := f.d.chunk(from)
	copy(out.codes[int(at)*g.stride:int(at+1)*g.stride], c.codes[int(source)*g.stride:])
	out.rows[at], out.ids[at] = c.rows[source], c.ids[source]
}

// fillList writes the neighbors of a node that are written themselves. The node's lock keeps it
// from missing a neighbor that moves within the list: all tree links must be written.
func (f *fileWriter) fillList(out []atomic.Uint32, slot uint32, level int) {
	if !f.isNode(slot) {
		return
	}
	lock := f.g.lock(slot)
	defer lock.Unlock()
	list := f.g.list(f.d, slot, level)
	n := 0
	for i := range list {
		next := list[i].Load()
		if next == 0 {
			return
		}
		if f.isNode(next - 1) {
			out[n].Store(next)
			n++
		}
	}
}

// standIn returns the live slot that is written in place of a dead node: a duplicate, which has the
// same codes; else a neighbor, so that walks still find their way; else any live slot. It returns
// false if there is no live slot.
func (f *fileWriter) standIn(slot uint32, list []atomic.Uint32) (live uint32, ok bool) {
	if duplicate, ok := f.liveDuplicates[slot]; ok {
		return duplicate, true
	}
	for i := range list {
		next := list[i].Load()
		if next == 0 {
			break
		}
		if f.isLive(next - 1) {
			return next - 1, true
		}
	}
	return f.anyLive - 1, f.anyLive != 0
}

// writeTowers writes the lists above level 0. Their numbers ascend with the slots.
func (f *fileWriter) writeTowers() error {
	block := kernel.Aligned[uint32](f.g.towerWords())
	out := atomics(block)
	width := len(out) / towerLists
	written := 0
	for slot := range f.Slots {
		for level := range f.d.level(slot) {
			f.fillList(out[written%towerLists*width:][:width], slot, level+1)
			if written++; written%towerLists == 0 || written == int(f.Lists) {
				if err := f.put(bytesOf(block)); err != nil {
					return err
				}
				clear(block)
			}
		}
	}
	return nil
}
