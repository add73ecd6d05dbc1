package index

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// item is a catalogued [Item] with its mutable state.
type item struct {
	*Item

	thread     *thread      // nil without session and time
	superseded atomic.Int64 // Unix microseconds; noTime while current
	ended      atomic.Uint64
	removed    atomic.Bool

	// firstChunk is the lowest id of its chunks in the catalog; only the writer of the catalog uses it. chunks is their
	// number.
	firstChunk uint64
	chunks     atomic.Int64
}

const noTime = math.MaxInt64

func micros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// currentAt reports whether p was the current version at w.AsOf, or in w.State if that is zero.
func (p *item) currentAt(w *Where) bool {
	at := w.Now
	switch {
	case !w.AsOf.IsZero():
		at = w.AsOf
		if p.Recorded.After(at) || p.superseded.Load() <= at.UnixMicro() {
			return false
		}
	case p.superseded.Load() != noTime && p.ended.Load() <= w.State:
		return false
	}
	return p.Expires.IsZero() || at.Before(p.Expires)
}

// unrestricted reports whether p is visible to every query without filter or time.
func (p *item) unrestricted() bool {
	return p.User == "" && p.Expires.IsZero() && p.superseded.Load() == noTime && !p.removed.Load()
}

// catalog is an immutable view of all chunks and their items. A newer view shares the arrays of an
// older one as long as they only grow.
type catalog struct {
	ids      []uint64 // ascending
	items    []*item
	ordinal  []int32
	speaker  []uint32  // twice the index in speakers; odd if the chunk mentions a time
	speakers []Speaker // distinct, without Timed; the first is the zero value
	// anyRestricted is set once any item is restricted. It is never cleared.
	anyRestricted bool
	// unrestricted has the ids of most unrestricted chunks once anyRestricted is set.
	unrestricted idSet
}

// at returns the position of a chunk.
func (c *catalog) at(id uint64) (int, bool) {
	// Ids of one collection are often consecutive: try the direct position before searching.
	n := len(c.ids)
	if n == 0 || id < c.ids[0] {
		return 0, false
	}
	if g := id - c.ids[0]; g < uint64(n) && c.ids[g] == id {
		return int(g), true
	}
	return slices.BinarySearch(c.ids, id)
}

// catalogEntry is one chunk of a catalog.
type catalogEntry struct {
	id      uint64
	item    *item
	ordinal int32
	speaker uint32
}

// with returns a view with additional chunks, which must be new. Chunks after all others share the
// old arrays. Others are inserted: the parts of a large document get their ids long before it is
// complete.
func (c catalog) with(chunks []catalogEntry) catalog {
	slices.SortFunc(chunks, func(a, b catalogEntry) int { return cmp.Compare(a.id, b.id) })
	if n := len(c.ids); len(chunks) > 0 && n > 0 && chunks[0].id < c.ids[n-1] {
		at, _ := c.at(chunks[0].id)
		older := make([]catalogEntry, 0, n-at)
		for i := at; i < n; i++ {
			older = append(older, catalogEntry{c.ids[i], c.items[i], c.ordinal[i], c.speaker[i]})
		}
		// The capacity is cut so that appending copies: older views read the rest.
		c.ids, c.items, c.ordinal, c.speaker = c.ids[:at:at], c.items[:at:at], c.ordinal[:at:at], c.speaker[:at:at]
		chunks = merged(older, chunks)
	}
	paged := len(c.unrestricted.pages) > 0
	for _, u := range chunks {
		c.anyRestricted = c.anyRestricted || !u.item.unrestricted()
		c.ids = append(c.ids, u.id)
		c.items = append(c.items, u.item)
		c.ordinal = append(c.ordinal, u.ordinal)
		c.speaker = append(c.speaker, u.speaker)
	}
	switch {
	case paged && len(chunks) > 0:
		c.unrestricted = c.unrestrictedWith(chunks)
	case c.anyRestricted && !paged:
		c = c.withUnrestricted()
	}
	return c
}

// withoutRemoved returns a view without the chunks of removed items.
func (c catalog) withoutRemoved() catalog {
	var live []catalogEntry
	for i, p := range c.items {
		if !p.removed.Load() {
			live = append(live, catalogEntry{c.ids[i], p, c.ordinal[i], c.speaker[i]})
		}
	}
	return catalog{speakers: c.speakers, anyRestricted: true}.with(live)
}

// merged merges two ascending lists.
func merged(a, b []catalogEntry) []catalogEntry {
	out := make([]catalogEntry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].id < b[0].id {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
