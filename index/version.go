package index

// Version identifies the contents that a search can find. It changes when a batch has been applied
// completely, and when an index fails, is opened or becomes complete. Between two equal versions of
// an index, a complete search stays complete and finds the same hits, except that a graph that is
// being linked may find other near vectors.
type Version struct {
	applied         uint64
	space           string
	keyword, vector partVersion
}

type partVersion struct {
	at           uint64
	there, level bool
}

// Version returns the current version. It does not wait.
func (h *Hybrid) Version() Version {
	vectors := h.vector.Load()
	return Version{applied: h.applied.Load(), space: vectors.name, keyword: h.keyword.version(), vector: vectors.version()}
}

func (s *slot[L]) version() partVersion {
	return partVersion{at: s.at.Load(), there: s.part.Load() != nil, level: s.complete.Load()}
}
