package engine

import (
	"crypto/sha256"
	"sync"

	"github.com/ragctx/ragctx/internal/lru"
	"github.com/ragctx/ragctx/session"
)

const (
	// maxShownSessions bounds the number of cached sessions, and maxShownBytes the
	// memory used.
	maxShownSessions = 10_000
	maxShownBytes    = 4 << 20
)

// shownCache caches the items that the last call of each session was shown. It is safe for
// concurrent use.
type shownCache struct {
	mu         sync.Mutex
	sessions   *lru.Cache[session.Key, shownItems]
	generation uint64 // counts erasures
}

type shownItems struct {
	question [sha256.Size]byte // hash of the question's text
	items    []string
}

func newShownCache() *shownCache {
	return &shownCache{sessions: lru.New[session.Key, shownItems](maxShownSessions, maxShownBytes)}
}

// get returns the items that a session was shown for a question, and the erasure counter to pass to
// put.
func (s *shownCache) get(k session.Key, question [sha256.Size]byte) (items []string, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if shown, ok := s.sessions.Get(k); ok && shown.question == question {
		items = shown.items
	}
	return items, s.generation
}

// put caches the items that a session was shown, unless something was erased since get. It takes
// ownership of items.
func (s *shownCache) put(k session.Key, question [sha256.Size]byte, items []string, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if generation != s.generation {
		return
	}
	size := 256 + len(k.Namespace) + len(k.User) + len(k.ID)
	for _, id := range items {
		size += 16 + len(id)
	}
	s.sessions.Put(k, shownItems{question, items}, size)
}

// clear removes all sessions.
func (s *shownCache) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions.Clear()
	s.generation++
}
