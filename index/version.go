package index

import "context"

// Version identifies the contents that a search can find. It changes when a batch has been applied
// completely, and when an index fails, is opened or becomes complete. Between two equal versions of
// an index, a complete search stays complete and finds the same hits, except that a graph that is
// being linked may find other near vectors.
type Version struct {
	Applied         uint64
	Space           string
	Keyword, Vector PartVersion
}

// PartVersion identifies the contents of a keyword or vector index: the change that it has reached,
// whether it is open and whether it is complete.
type PartVersion struct {
	At             uint64
	Open, Complete bool
}

// Version implements [Follower]. It does not wait.
func (h *Hybrid) Version(context.Context) (Version, error) {
	vectors := h.vector.Load()
	return Version{Applied: h.applied.Load(), Space: vectors.name, Keyword: h.keyword.version(), Vector: vectors.version()}, nil
}

func (s *slot[L]) version() PartVersion {
	return PartVersion{At: s.at.Load(), Open: s.part.Load() != nil, Complete: s.complete.Load()}
}
