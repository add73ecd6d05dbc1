package hnsw

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
)

// Vectors with the same codes would fill each other's lists and leave no way out.
// So one of them, the head, is a node, and the others are its twins: a search that
// finds the head finds them all. Two that are linked at the same moment may both
// become heads; that harms nothing.

// family is a head and its twins by ascending id, in runs of at most runSlots.
// Searches read it while it grows: what was published does not change. So adding
// one of 100,000 copies one run and the list of runs, some kilobytes, and a search
// for the first ten ids reads no more than these.
type family struct{ runs atomic.Pointer[[][]uint32] }

const runSlots = 512

// same returns the node among the entries of the pool whose codes are those of a
// slot.
func (s *scratch) same(slot uint32) (head uint32, ok bool) {
	codes := raw(s.d.codes.Row(slot))
	s.askSlot(slot)
	self := s.compare([]uint32{slot})[0]
	for _, e := range s.pool {
		if e.sim < self { // which equal codes reach to the bit
			break
		}
		if bytes.Equal(raw(s.d.codes.Row(e.slot)), codes) {
			return e.slot, true
		}
	}
	return 0, false
}

// join makes a slot the twin of a head.
func (g *Graph) join(d *directory, head, slot uint32) {
	lock := g.lock(head)
	defer lock.Unlock()
	c, at := d.chunk(slot)
	c.parents[at].Store(head + 1)
	c.twin.set(at)
	of, atHead := d.chunk(head)
	f := g.family(head)
	if f == nil {
		f = new(family)
		f.runs.Store(&[][]uint32{{head}})
		g.families.Store(head, f)
		defer of.head.set(atHead) // when the twin is there
	}
	runs := f.with(slot, func(a, b uint32) int { return cmp.Compare(d.id(a), d.id(b)) })
	f.runs.Store(&runs)
}

// family returns the family of a head, nil if it has none.
func (g *Graph) family(head uint32) *family {
	f, ok := g.families.Load(head)
	if !ok {
		return nil
	}
	return f.(*family)
}

// id returns whose vector a slot holds.
func (d *directory) id(slot uint32) uint64 {
	c, at := d.chunk(slot)
	return c.ids[at]
}

// with returns the runs with one more slot.
func (f *family) with(slot uint32, order func(a, b uint32) int) [][]uint32 {
	runs := slices.Clone(*f.runs.Load())
	i, _ := slices.BinarySearchFunc(runs, slot, func(run []uint32, slot uint32) int { return order(run[0], slot) })
	i = max(i-1, 0) // the last run that begins before it
	at, _ := slices.BinarySearchFunc(runs[i], slot, order)
	run := slices.Insert(slices.Clone(runs[i]), at, slot)
	if len(run) <= runSlots {
		runs[i] = run
		return runs
	}
	return slices.Replace(runs, i, i+1, run[:runSlots/2:runSlots/2], run[runSlots/2:])
}

// thin takes dead twins out of their families and returns them.
func (g *Graph) thin() (dead []uint32) {
	d := g.dir.Load()
	for key, value := range g.families.Range {
		head, f := key.(uint32), value.(*family)
		var rest [][]uint32
		members := 0
		for _, run := range *f.runs.Load() {
			run = slices.DeleteFunc(slices.Clone(run), func(slot uint32) bool {
				c, at := d.chunk(slot)
				gone := slot != head && !c.live.has(at)
				if gone {
					dead = append(dead, slot)
				}
				return gone
			})
			if members += len(run); len(run) > 0 {
				rest = append(rest, run)
			}
		}
		f.runs.Store(&rest)
		if members == 1 {
			c, at := d.chunk(head)
			c.head.clear(at)
			g.families.Delete(head)
		}
	}
	return dead
}

// all iterates over head and twins by ascending id.
func (f *family) all(yield func(slot uint32) bool) {
	for _, run := range *f.runs.Load() {
		for _, slot := range run {
			if !yield(slot) {
				return
			}
		}
	}
}
