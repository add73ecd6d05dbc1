package store

import (
	"sync"
	"sync/atomic"
)

// What a write makes a difference to, beside a namespace, which has a positive id.
const (
	everywhere = 0
	// nowhere is for what no answer shows: jobs, audit, counts, keys of requests, conversations, what is
	// hidden, and messages of ledgers.
	nowhere = -1
)

// commits counts what was committed, by namespace.
type commits struct {
	every atomic.Uint64
	of    sync.Map // of int64 to *atomic.Uint64
}

func (c *commits) add(ns int64) {
	switch ns {
	case nowhere:
	case everywhere:
		c.every.Add(1)
	default:
		n, _ := c.of.LoadOrStore(ns, new(atomic.Uint64))
		n.(*atomic.Uint64).Add(1) //nolint:forcetypeassert // there is nothing else in it
	}
}

// Commits says how often something was committed that answers in a namespace may depend
// on, since the database was opened. It is another value before a write is acknowledged.
type Commits struct{ every, own uint64 }

// Commits returns the counts of a namespace. It does not read the database.
func (s *Store) Commits(ns int64) Commits {
	c := Commits{every: s.write.commits.every.Load()}
	if n, ok := s.write.commits.of.Load(ns); ok {
		c.own = n.(*atomic.Uint64).Load() //nolint:forcetypeassert // there is nothing else in it
	}
	return c
}
