package hnsw

import (
	"math"
	"slices"
)

// best collects the entries that may be among the k best, given that each similarity may be off by
// half the window.
type best struct {
	k       int
	window  float32
	top     heap // the k best so far
	entries []entry
	limit   int // length of entries at which those below the floor are dropped
}

func (b *best) reset(k int, window float32) {
	*b = best{k: k, window: window, top: b.top[:0], entries: b.entries[:0], limit: 2*k + 1024}
}

// floor returns the least similarity that can still be among the k best.
func (b *best) floor() float32 {
	if len(b.top) < b.k {
		return float32(math.Inf(-1))
	}
	return b.top[0].sim - b.window
}

// add adds an entry that reaches the floor.
func (b *best) add(e entry) {
	if len(b.entries) == b.limit {
		b.trim()
		b.limit = max(b.limit, 2*len(b.entries))
	}
	b.entries = append(b.entries, e)
	switch {
	case len(b.top) < b.k:
		b.top.push(e)
	case e.sim > b.top[0].sim:
		b.top.replace(e)
	}
}

// trim drops entries below the floor.
func (b *best) trim() {
	floor := b.floor()
	b.entries = slices.DeleteFunc(b.entries, func(e entry) bool { return e.sim < floor })
}

// sorted returns the entries that reach the floor, best first, each slot once.
func (b *best) sorted() []entry {
	b.trim()
	slices.SortFunc(b.entries, nearest)
	b.entries = slices.Compact(b.entries)
	return b.entries
}
