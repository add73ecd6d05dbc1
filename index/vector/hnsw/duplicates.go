package hnsw

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
)

// Vectors with equal codes would fill each other's lists and leave no links to others. Therefore
// only one of them, the head, is a node; the others are its duplicates. A search that finds the
// head finds all of them. Two vectors linked at the same moment may both become heads, which is
// harmless.

// dupGroup is a head and its duplicates by ascending id, in runs of at most runSlots. Searches read
// it while it grows, so published runs are immutable. Adding a vector to a group of 100,000 copies
// one run and the list of runs, some kilobytes. A search for the first ten ids reads only the first
// run.
type dupGroup struct{ runs atomic.Pointer[[][]uint32] }

const runSlots = 512

// same returns the node in the pool that has the same codes as a slot.
func (s *scratch) same(slot uint32) (head uint32, ok bool) {
	codes := raw(s.d.codes.Row(slot))
	s.setQuerySlot(slot)
	self := s.compare([]uint32{slot})[0]
	for _, e := range s.pool {
		if e.sim < self { // equal codes give a bit-identical similarity
			break
		}
		if bytes.Equal(raw(s.d.codes.Row(e.slot)), codes) {
			return e.slot, true
		}
	}
	return 0, false
}

// addDuplicate makes a slot a duplicate of head.
func (g *Graph) addDuplicate(d *directory, head, slot uint32) {
	lock := g.lock(head)
	defer lock.Unlock()
	c, at := d.chunk(slot)
	c.parents[at].Store(head + 1)
	c.duplicate.set(at)
	of, atHead := d.chunk(head)
	f := g.group(head)
	if f == nil {
		f = new(dupGroup)
		f.runs.Store(&[][]uint32{{head}})
		g.groups.Store(head, f)
		defer of.head.set(atHead) // after the group is stored
	}
	runs := f.with(slot, func(a, b uint32) int { return cmp.Compare(d.id(a), d.id(b)) })
	f.runs.Store(&runs)
}

// group returns the duplicate group of a head, or nil.
func (g *Graph) group(head uint32) *dupGroup {
	f, ok := g.groups.Load(head)
	if !ok {
		return nil
	}
	return f.(*dupGroup)
}

// id returns the id of the vector in a slot.
func (d *directory) id(slot uint32) uint64 {
	c, at := d.chunk(slot)
	return c.ids[at]
}

// with returns the runs with one more slot.
func (f *dupGroup) with(slot uint32, order func(a, b uint32) int) [][]uint32 {
	runs := slices.Clone(*f.runs.Load())
	i, _ := slices.BinarySearchFunc(runs, slot, func(run []uint32, slot uint32) int { return order(run[0], slot) })
	i = max(i-1, 0) // the last run that begins before slot
	at, _ := slices.BinarySearchFunc(runs[i], slot, order)
	run := slices.Insert(slices.Clone(runs[i]), at, slot)
	if len(run) <= runSlots {
		runs[i] = run
		return runs
	}
	return slices.Replace(runs, i, i+1, run[:runSlots/2:runSlots/2], run[runSlots/2:])
}

// dropDeadDuplicates removes dead duplicates from their groups and returns their slots.
func (g *Graph) dropDeadDuplicates() (dead []uint32) {
	d := g.dir.Load()
	for key, value := range g.groups.Range {
		head, f := key.(uint32), value.(*dupGroup)
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
			g.groups.Delete(head)
		}
	}
	return dead
}

// all iterates over the head and its duplicates by ascending id.
func (f *dupGroup) all(yield func(slot uint32) bool) {
	for _, run := range *f.runs.Load() {
		for _, slot := range run {
			if !yield(slot) {
				return
			}
		}
	}
}
