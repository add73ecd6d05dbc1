package index

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// parent is a catalogued [Parent] with the three things about it that change.
type parent struct {
	*Parent

	thread     *thread      // nil for what has neither session nor time
	superseded atomic.Int64 // Unix microseconds; noTime while current
	ended      atomic.Uint64
	removed    atomic.Bool

	// The lowest id of its units in the catalog, and how many they are; whoever writes
	// the catalog reads and writes these.
	first uint64
	units int
}

const noTime = math.MaxInt64

func micros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// livedAt reports whether the parent was the current version at q.AsOf, or in a
// state if that is zero.
func (p *parent) livedAt(q *Query, state uint64) bool {
	at := q.Now
	switch {
	case !q.AsOf.IsZero():
		at = q.AsOf
		if p.Recorded.After(at) || p.superseded.Load() <= at.UnixMicro() {
			return false
		}
	case p.superseded.Load() != noTime && p.ended.Load() <= state:
		return false
	}
	return p.Expires.IsZero() || at.Before(p.Expires)
}

// plain reports whether p is visible to every query without filter or time.
func (p *parent) plain() bool {
	return p.User == "" && p.Expires.IsZero() && p.superseded.Load() == noTime && !p.removed.Load()
}

// catalog is an immutable view of what units exist and whose they are. A newer
// view shares the arrays of an older one as long as they only grow.
type catalog struct {
	ids     []uint64 // ascending
	parents []*parent
	ordinal []int32
	voice   []uint32 // twice the place among voices, odd for what speaks of a time
	voices  []Voice  // distinct, without Timed; the first is nobody's
	// marked is set once any parent stops being plain, or never was.
	marked bool
	// plain tells most units that are plain, once the view is marked.
	plain plainUnits
}

// at returns the position of a unit.
func (c *catalog) at(id uint64) (int, bool) {
	// Ids of one collection are often consecutive: guess before searching.
	n := len(c.ids)
	if n == 0 || id < c.ids[0] {
		return 0, false
	}
	if g := id - c.ids[0]; g < uint64(n) && c.ids[g] == id {
		return int(g), true
	}
	return slices.BinarySearch(c.ids, id)
}

// known is one unit of a catalog.
type known struct {
	id      uint64
	parent  *parent
	ordinal int32
	voice   uint32
}

// with returns a view that holds the units, too, which must be new. Units that
// come after all others share the old arrays; the parts of a large document,
// which were given their ids long before it was complete, do not.
func (c catalog) with(units []known) catalog {
	slices.SortFunc(units, func(a, b known) int { return cmp.Compare(a.id, b.id) })
	if n := len(c.ids); len(units) > 0 && n > 0 && units[0].id < c.ids[n-1] {
		at, _ := c.at(units[0].id)
		older := make([]known, 0, n-at)
		for i := at; i < n; i++ {
			older = append(older, known{c.ids[i], c.parents[i], c.ordinal[i], c.voice[i]})
		}
		// The capacity is cut so that appending copies: others read the rest.
		c.ids, c.parents, c.ordinal, c.voice = c.ids[:at:at], c.parents[:at:at], c.ordinal[:at:at], c.voice[:at:at]
		units = merged(older, units)
	}
	told := len(c.plain.pages) > 0
	for _, u := range units {
		c.marked = c.marked || !u.parent.plain()
		c.ids = append(c.ids, u.id)
		c.parents = append(c.parents, u.parent)
		c.ordinal = append(c.ordinal, u.ordinal)
		c.voice = append(c.voice, u.voice)
	}
	switch {
	case told && len(units) > 0:
		c.plain = c.morePlain(units)
	case c.marked && !told:
		c = c.withPlain()
	}
	return c
}

// purged returns a view without the units of removed parents.
func (c catalog) purged() catalog {
	var live []known
	for i, p := range c.parents {
		if !p.removed.Load() {
			live = append(live, known{c.ids[i], p, c.ordinal[i], c.voice[i]})
		}
	}
	return catalog{voices: c.voices, marked: true}.with(live)
}

// merged merges two ascending lists.
func merged(a, b []known) []known {
	out := make([]known, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].id < b[0].id {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
