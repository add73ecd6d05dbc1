package engine

import (
	linked "container/list"
	"crypto/sha256"
	"sync"

	"github.com/ragctx/ragctx/session"
)

const (
	// maxShownSessions bounds the number of cached sessions, and maxShownBytes the
	// memory used.
	maxShownSessions = 10_000
	maxShownBytes    = 4 << 20
)

// shownCache is an LRU cache of the items that the last call of each session was shown. It is safe for
// concurrent use; the zero value is empty.
type shownCache struct {
	mu         sync.Mutex
	recent     linked.List // of *shownItems, most recently used first
	entries    map[session.Key]*linked.Element
	bytes      int
	generation uint64
}

type shownItems struct {
	key      session.Key
	question [sha256.Size]byte // hash of the question's text
	items    []string
}

func (s *shownItems) bytes() int {
	n := 256 + len(s.key.Namespace) + len(s.key.User) + len(s.key.ID)
	for _, id := range s.items {
		n += 16 + len(id)
	}
	return n
}

// get returns the items that a session was shown for a question, and the erasure counter to pass to
// put.
func (s *shownCache) get(k session.Key, question [sha256.Size]byte) (items []string, generation uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.entries[k]
	if !ok {
		return nil, s.generation
	}
	s.recent.MoveToFront(at)
	if of := at.Value.(*shownItems); of.question == question { //nolint:forcetypeassert // there is nothing else in it
		items = of.items
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
	if s.entries == nil {
		s.entries = make(map[session.Key]*linked.Element)
	}
	if at, ok := s.entries[k]; ok {
		s.drop(at)
	}
	one := &shownItems{k, question, items}
	s.entries[k] = s.recent.PushFront(one)
	s.bytes += one.bytes()
	for s.bytes > maxShownBytes || s.recent.Len() > maxShownSessions {
		s.drop(s.recent.Back())
	}
}

// drop removes a session. The caller holds s.mu.
func (s *shownCache) drop(at *linked.Element) {
	one := s.recent.Remove(at).(*shownItems) //nolint:forcetypeassert // there is nothing else in it
	delete(s.entries, one.key)
	s.bytes -= one.bytes()
}

// clear removes all sessions.
func (s *shownCache) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.Init()
	clear(s.entries)
	s.bytes = 0
	s.generation++
}
