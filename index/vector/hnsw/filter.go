package hnsw

const (
	rescore    = 4
	minRescore = 16
	// visitShare is the share of the nodes that a walk may visit before a scan is
	// taken to be cheaper: a walk needs about three times as long for a node.
	visitShare = 1. / 3
	// wide is how long the sorted pool may get before heaps are faster.
	wide = 1024
)

// DefaultEf is how many results a walk keeps in view when K are wanted.
func DefaultEf(k int) int { return max(64, 2*k+32) }

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
	at, ok := f.descend(0)
	if !ok {
		return false
	}
	f.start(at)
	if f.plain() {
		f.beam(ef, 0)
	} else if !f.filtered(ef, budget) {
		return false
	}
	f.info.Visited += len(f.touched)
	f.unfold(max(rescore*f.query.K, minRescore))
	f.scanSlots(waiting)
	return len(f.best.top) == f.query.K
}

// plain reports whether every node is a result.
func (f *finder) plain() bool {
	c := &f.g.counts
	return f.query.Accept == nil && c.held.Load() == c.live.Load()
}

// counts reports whether a node is a result, for itself or for a twin.
func (f *finder) counts(slot uint32) bool {
	c, at := f.d.chunk(slot)
	family := f.twinsOf(c, at, slot)
	if family == nil {
		return f.wants(c, at)
	}
	for twin := range family.all {
		f.reach(twin)
		if f.wants(f.d.chunk(twin)) {
			return true
		}
	}
	return false
}

// twinsOf returns the family of a node, nil if it has none.
func (f *finder) twinsOf(c *chunk, at, slot uint32) *family {
	if !c.head.has(at) {
		return nil
	}
	return f.g.family(slot)
}

// filtered is beam at level 0 where only some nodes are results: ef counts these,
// while the others lead on. It reports false when it has seen more than budget.
func (f *finder) filtered(ef, budget int) bool {
	results := 0
	if f.counts(f.pool[0].slot) {
		results++
	} else {
		f.pool[0].slot |= passed
	}
	for cur := 0; cur < len(f.pool); {
		e := &f.pool[cur]
		if e.slot&expanded != 0 {
			cur++
			continue
		}
		e.slot |= expanded
		f.unseen(e.slot&^marks, 0)
		if len(f.touched) > budget {
			return false
		}
		low := cur + 1
		for i, sim := range f.compare(f.fresh) {
			if results == ef && sim <= f.pool[len(f.pool)-1].sim {
				continue
			}
			next := entry{sim, f.fresh[i]}
			if f.counts(next.slot) {
				results++
			} else {
				next.slot |= passed
			}
			low = min(low, f.insert(next))
			if results > ef {
				f.shorten()
				results = ef
			}
		}
		cur = low
	}
	return true
}

// shorten takes the last result off the pool, and what follows the one before it.
func (s *scratch) shorten() {
	last := len(s.pool) - 1
	for last--; s.pool[last].slot&passed != 0; last-- {
	}
	s.pool = s.pool[:last+1]
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
