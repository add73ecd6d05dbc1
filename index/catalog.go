package index

import (
	"math"
	"sort"
	"sync/atomic"
	"time"
)

// parent is a catalogued [Parent] with the three things about it that change.
type parent struct {
	*Parent
	superseded atomic.Int64 // Unix microseconds; noTime while current
	ended      atomic.Uint64
	removed    atomic.Bool
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
// view shares the arrays of an older one, which only ever grow.
type catalog struct {
	ids     []uint64 // ascending
	parents []*parent
	ordinal []int32
	// marked is set once any parent stops being plain, or never was.
	marked bool
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
	i := sort.Search(n, func(i int) bool { return c.ids[i] >= id })
	return i, i < n && c.ids[i] == id
}
