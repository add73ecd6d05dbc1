package hnsw

// Measured on embeddings of sentences (MiniLM, 384 components) and of passages (a
// table's, 256), with AVX-512.
const (
	// ScanBelow is how many nodes are scanned rather than walked through. At 16,384
	// both take 80 to 140 µs with the default ef, and a scan is exact; at 8,192 it
	// takes two thirds of a walk's time.
	ScanBelow = 16_384

	// visitShare is the share of the nodes that a walk with a filter may visit before
	// a scan is taken to be cheaper: a walk takes 80 to 115 ns for a node, asking
	// the filter included, a scan 11 to 14.
	visitShare = 1. / 8

	// visitsPerEntry is how many nodes a walk visits for each that it keeps in view,
	// results or not: 8 to 11, the fewer the more it keeps.
	visitsPerEntry = 8

	// patience is how many nodes a walk visits before it judges how rare results are.
	patience = 512

	// hollow times the nodes in a hole are kept in view around it. Once as many find
	// .95 of what is nearest to a hole of 1 in 50, twice as many all.
	hollow = 2

	// A walk returns at most rescore times as many as are wanted, for the caller to
	// compare by floats. The 10 nearest were always among the first 15 by codes, the
	// 50 nearest among the first 60; other embedders may have larger outliers, which
	// cost the other components precision. minRescore is for a K of one or two.
	rescore    = 4
	minRescore = 16
)

// DefaultEf is how many results a walk keeps in view when k are wanted. It finds
// .989 (of 167,000 passages) to .998 (of 60,000 sentences) of the 10 nearest, and
// as many of the nearest one, of 30 and of 100, in 110 to 200 µs for 10.
func DefaultEf(k int) int { return 220 + 3*k }

// walk fills best from the graph and what waits. It reports false if that turns out
// to be more work than a scan, or finds fewer than are wanted.
func (f *finder) walk(nodes int) bool {
	ef := max(f.query.Ef, f.query.K)
	if f.query.Ef <= 0 {
		ef = DefaultEf(f.query.K)
	}
	budget := int(f.g.tuning.visitShare * float64(nodes))
	if ef > budget {
		return false
	}
	waiting := f.waiting() // before the walk, which meets what is linked in between
	at, top := f.descend(0)
	if top < 0 {
		return false
	}
	f.start(at)
	switch {
	case f.plain():
		f.beam(ef, 0)
	case f.lenient() && f.sift(at, ef):
	case !f.sieve(at, ef, budget):
		return false
	}
	f.info.Visited += len(f.touched)
	f.unfold(max(rescore*f.query.K, minRescore))
	f.scanSlots(waiting)
	return len(f.best.top) == f.query.K
}

// sieve is filtered, again with a larger ef if the filter has made a hole: if more
// nodes were passed over before the first result than results are kept in view.
// Around a hole results lie in all directions, and few of them lead to the others.
func (f *finder) sieve(from entry, ef, budget int) bool {
	for {
		if !f.filtered(ef, budget) {
			return false
		}
		if f.hole <= ef {
			return true
		}
		if ef = hollow * f.hole; ef > budget {
			return false
		}
		f.info.Visited += len(f.touched)
		f.start(from)
	}
}

// plain reports whether every node is a result.
func (f *finder) plain() bool {
	c := &f.g.counts
	return f.query.Accept == nil && c.held.Load() == c.live.Load()
}

// What is lenient: of lenientProbes nodes at most one in lenientShare is no result.
const (
	lenientProbes = 32
	lenientShare  = 16
)

// lenient reports whether nearly all nodes are results, by the look of some: what was
// replaced takes a small part of most collections, and all else is asked for.
func (f *finder) lenient() bool {
	chunks := f.d.chunks
	probed, refused := 0, 0
	for i := range lenientProbes {
		slot := uint32(uint64(i) * uint64(len(chunks)) << chunkShift / lenientProbes) //nolint:gosec // below maxSlots
		if c, at := f.d.chunk(slot); c.held.has(at) {
			probed++
			if !f.counts(slot) {
				refused++
			}
		}
	}
	return probed > 0 && refused*lenientShare <= probed
}

// sift is sieve where nearly all nodes are results: a walk that asks nobody, and then
// the few that are none are marked. If they are many here it reports false, and the walk
// is to begin anew.
func (f *finder) sift(from entry, ef int) bool {
	f.beam(ef+ef/lenientShare, 0)
	results := 0
	for i := range f.pool {
		if e := &f.pool[i]; f.counts(e.slot &^ marks) {
			results++
		} else {
			e.slot |= passed
		}
	}
	if results >= min(ef, len(f.pool)-len(f.pool)/lenientShare) {
		return true
	}
	f.info.Visited += len(f.touched)
	f.start(from)
	return false
}

// unfold enters the results of the pool, with twins, enough of each family.
func (f *finder) unfold(enough int) {
	for _, e := range f.pool {
		if e.slot&passed != 0 || e.sim < f.best.floor() {
			continue
		}
		e.slot &^= marks
		c, at := f.d.chunk(e.slot)
		switch family := f.twinsOf(c, at, e.slot); {
		case family != nil:
			f.twins(family, enough)
		case f.query.Accept != nil || f.wants(c, at): // what is accepted was asked for
			f.best.add(e)
		}
	}
}

// twins enters enough of a family that are wanted, by ascending id.
func (f *finder) twins(of *family, enough int) {
	one := make([]uint32, 1)
	for slot := range of.all {
		if enough == 0 {
			return
		}
		f.reach(slot)
		f.touch(slot)
		if !f.wants(f.d.chunk(slot)) {
			continue
		}
		enough--
		one[0] = slot
		if sim := f.compare(one)[0]; sim >= f.best.floor() {
			f.best.add(entry{sim, slot})
		}
	}
}
