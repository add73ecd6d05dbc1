package sqlstore

import (
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/internal/store"
)

// The scopes of a write besides the positive id of a namespace.
const (
	AllNamespaces = 0
	// NoNamespaces marks writes that no answer depends on: jobs, audit, counters, request keys,
	// conversations, hidden rows and ledger messages.
	NoNamespaces = -1
)

// commits counts commits by namespace.
type commits struct {
	global      atomic.Uint64
	byNamespace sync.Map // int64 to *atomic.Uint64
}

func (c *commits) add(ns int64) {
	switch ns {
	case NoNamespaces, store.OnlyKeys:
	case AllNamespaces:
		c.global.Add(1)
	default:
		n, _ := c.byNamespace.LoadOrStore(ns, new(atomic.Uint64))
		n.(*atomic.Uint64).Add(1) //nolint:forcetypeassert // there is nothing else in it
	}
}

// Committed counts a commit. The database calls it before it acknowledges a write, also if the commit
// failed: the state on the disk may be unknown then.
func (s *Store) Committed(ns int64) { s.commits.add(ns) }

// Commits implements [store.Changes].
func (s *Store) Commits(ns int64) store.Commits {
	c := store.Commits{Global: s.commits.global.Load()}
	if n, ok := s.commits.byNamespace.Load(ns); ok {
		c.Own = n.(*atomic.Uint64).Load() //nolint:forcetypeassert // there is nothing else in it
	}
	return c
}

// Refresh empties the caches of a namespace after a change by another process; with [AllNamespaces] of all.
func (s *Store) Refresh(ns int64) {
	if ns < 0 {
		return
	}
	if ns == AllNamespaces {
		s.namespaceIDs.clear()
	}
	s.procedures.Add(1)
	s.commits.add(ns)
}
