package sqlite

import (
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx/internal/store"
)

// Scopes of a write besides a namespace's positive id.
const (
	allNamespaces = 0
	// noNamespaces marks writes that no answer depends on: jobs, audit, counters, request keys,
	// conversations, hidden rows and ledger messages.
	noNamespaces = -1
)

// commits counts commits by namespace.
type commits struct {
	global      atomic.Uint64
	byNamespace sync.Map // int64 to *atomic.Uint64
}

func (c *commits) add(ns int64) {
	switch ns {
	case noNamespaces:
	case allNamespaces:
		c.global.Add(1)
	default:
		n, _ := c.byNamespace.LoadOrStore(ns, new(atomic.Uint64))
		n.(*atomic.Uint64).Add(1) //nolint:forcetypeassert // there is nothing else in it
	}
}

// Commits implements [store.Changes].
func (s *Store) Commits(ns int64) store.Commits {
	c := store.Commits{Global: s.write.commits.global.Load()}
	if n, ok := s.write.commits.byNamespace.Load(ns); ok {
		c.Own = n.(*atomic.Uint64).Load() //nolint:forcetypeassert // there is nothing else in it
	}
	return c
}
