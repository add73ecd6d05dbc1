package hnsw

import (
	"math"
	"slices"
)

// best collects the entries that may be among the k best when each of them may be
// off by half the window.
type best struct {
	k       int
	window  float32
	top     []float32 // the k best so far, a heap with the least at its root
	entries []entry
	limit   int // of entries, before those below the floor are dropped
}

func (b *best) reset(k int, window float32) {
	*b = best{k: k, window: window, top: b.top[:0], entries: b.entries[:0], limit: 2*k + 1024}
}

// floor is what an entry must reach.
func (b *best) floor() float32 {
	if len(b.top) < b.k {
		return float32(math.Inf(-1))
	}
	return b.top[0] - b.window
}

// add enters an entry that reaches the floor.
func (b *best) add(e entry) {
	if len(b.entries) == b.limit {
		b.trim()
		b.limit = max(b.limit, 2*len(b.entries))
	}
	b.entries = append(b.entries, e)
	switch {
	case len(b.top) < b.k:
		b.top = append(b.top, e.sim)
		b.up()
	case e.sim > b.top[0]:
		b.top[0] = e.sim
		b.down()
	}
}

func (b *best) up() {
	for i := len(b.top) - 1; i > 0; {
		parent := (i - 1) / 2
		if b.top[parent] <= b.top[i] {
			return
		}
		b.top[parent], b.top[i] = b.top[i], b.top[parent]
		i = parent
	}
}

func (b *best) down() {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(b.top) {
			return
		}
		if right := least + 1; right < len(b.top) && b.top[right] < b.top[least] {
			least = right
		}
		if b.top[i] <= b.top[least] {
			return
		}
		b.top[i], b.top[least] = b.top[least], b.top[i]
		i = least
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
