package index

// Mark says what a search has to look at. It is another one as soon as a batch was applied
// whole, and when a leg failed, was opened or got everything; between two equal marks of an
// index a search that was complete is complete still, and finds the same. (Of near vectors,
// a graph that is being linked may by then find others.)
type Mark struct {
	applied         uint64
	space           string
	keyword, vector legMark
}

type legMark struct {
	at           uint64
	there, level bool
}

// Mark returns the present one. It waits for nothing.
func (h *Hybrid) Mark() Mark {
	dense := h.dense.Load()
	return Mark{applied: h.applied.Load(), space: dense.name, keyword: h.lexical.mark(), vector: dense.mark()}
}

func (s *slot[L]) mark() legMark {
	return legMark{at: s.at.Load(), there: s.leg.Load() != nil, level: s.level.Load()}
}
