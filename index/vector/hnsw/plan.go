package hnsw

// Measured on embeddings of sentences (MiniLM, 384 components) and of passages (static table, 256
// components), with AVX-512.
const (
	// ScanBelow is the number of nodes below which a graph is scanned, not walked. At 16,384 both
	// take 80 to 140 µs with the default ef, and a scan is exact; at 8,192 a scan takes two thirds
	// of a walk's time.
	ScanBelow = 16_384

	// visitShare is the share of the nodes that a filtered walk may visit before a scan is
	// considered cheaper. A walk takes 80 to 115 ns per node, including the filter; a scan takes 11
	// to 14.
	visitShare = 1. / 8

	// visitsPerEntry is how many nodes a walk visits for each entry in its pool, result or not: 8
	// to 11, fewer for larger pools.
	visitsPerEntry = 8

	// minSample is how many nodes a walk visits before it estimates how rare results are.
	minSample = 512

	// holeFactor times the size of a hole is the ef of a walk around it. A factor of 1 finds .95 of
	// the vectors nearest to a hole of 1 in 50; a factor of 2 finds all.
	holeFactor = 2

	// A walk returns at most rescore·K results for the caller to rescore with floats. The 10
	// nearest were always among the first 15 by codes, the 50 nearest among the first 60. Other
	// embedders may have larger outliers, which cost the other components precision. minRescore
	// serves a K of one or two.
	rescore    = 4
	minRescore = 16
)

// defaultEf returns the pool size of a walk when k results are wanted. It finds .989 (of 167,000
// passages) to .998 (of 60,000 sentences) of the 10 nearest, and the same shares of the nearest
// one, 30 and 100. A search for 10 takes 110 to 200 µs.
func defaultEf(k int) int { return 220 + 3*k }

// walk fills best from the graph and the waiting slots. It returns false if a scan turns out to be
// cheaper, or if it finds fewer than K results.
func (f *finder) walk(nodes int) bool {
	ef := max(f.query.Ef, f.query.K)
	if f.query.Ef <= 0 {
		ef = defaultEf(f.query.K)
	}
	budget := int(f.g.tuning.visitShare * float64(nodes))
	if ef > budget {
		return false
	}
	waiting := f.waiting() // before the walk, which meets those linked in between
	at, top := f.descend(0)
	if top < 0 {
		return false
	}
	f.start(at)
	switch {
	case f.unfiltered():
		f.beam(ef, 0)
	case f.permissive() && f.permissiveWalk(at, ef):
	case !f.filteredWalk(at, ef, budget):
		return false
	}
	f.info.Visited += len(f.seenSlots)
	f.collectPool(max(rescore*f.query.K, minRescore))
	f.scanSlots(waiting)
	return len(f.best.top) == f.query.K
}

// filteredWalk runs filtered, and repeats it with a larger ef if the filter leaves a hole: more
// nodes were rejected before the first result than ef. Around a hole results lie in all directions,
// and few of them lead to the others.
func (f *finder) filteredWalk(from entry, ef, budget int) bool {
	for {
		if !f.filtered(ef, budget) {
			return false
		}
		if f.hole <= ef {
			return true
		}
		if ef = holeFactor * f.hole; ef > budget {
			return false
		}
		f.info.Visited += len(f.seenSlots)
		f.start(from)
	}
}

// unfiltered reports whether every node is a result.
func (f *finder) unfiltered() bool {
	c := &f.g.counts
	return f.query.Accept == nil && c.held.Load() == c.live.Load()
}

// A filter is permissive if at most one of permissiveShare probed nodes, out of sampleProbes probes,
// is rejected.
const (
	sampleProbes    = 32
	permissiveShare = 16
)

// permissive estimates from a sample whether nearly all nodes are results. This is the common case:
// a small share of a collection is replaced or deleted, and the query has no filter.
func (f *finder) permissive() bool {
	chunks := f.d.chunks
	probed, refused := 0, 0
	for i := range sampleProbes {
		slot := uint32(uint64(i) * uint64(len(chunks)) << chunkShift / sampleProbes) //nolint:gosec // below maxSlots
		if c, at := f.d.chunk(slot); c.held.has(at) {
			probed++
			if !f.isResult(slot) {
				refused++
			}
		}
	}
	return probed > 0 && refused*permissiveShare <= probed
}

// permissiveWalk is filteredWalk for a permissive filter: it walks unfiltered and then rejects the
// few nodes that are not results. If too many are rejected here it returns false and resets the
// walk to its start.
func (f *finder) permissiveWalk(from entry, ef int) bool {
	f.beam(ef+ef/permissiveShare, 0)
	results := 0
	for i := range f.pool {
		if e := &f.pool[i]; f.isResult(e.slot &^ marks) {
			results++
		} else {
			e.slot |= rejected
		}
	}
	if results >= min(ef, len(f.pool)-len(f.pool)/permissiveShare) {
		return true
	}
	f.info.Visited += len(f.seenSlots)
	f.start(from)
	return false
}

// collectPool adds the results of the pool to best, with at most enough vectors of each duplicate
// group.
func (f *finder) collectPool(enough int) {
	for _, e := range f.pool {
		if e.slot&rejected != 0 || e.sim < f.best.floor() {
			continue
		}
		e.slot &^= marks
		c, at := f.d.chunk(e.slot)
		switch group := f.groupOf(c, at, e.slot); {
		case group != nil:
			f.addGroup(group, enough)
		case f.query.Accept != nil || f.matches(c, at): // isResult has already called Accept for this node
			f.best.add(e)
		}
	}
}

// addGroup adds at most enough matching vectors of a group, by ascending id.
func (f *finder) addGroup(of *dupGroup, enough int) {
	one := make([]uint32, 1)
	for slot := range of.all {
		if enough == 0 {
			return
		}
		f.reach(slot)
		f.markSeen(slot)
		if !f.matches(f.d.chunk(slot)) {
			continue
		}
		enough--
		one[0] = slot
		if sim := f.compare(one)[0]; sim >= f.best.floor() {
			f.best.add(entry{sim, slot})
		}
	}
}
