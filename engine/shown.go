package engine

import (
	linked "container/list"
	"crypto/sha256"
	"sync"

	"github.com/ragctx/ragctx/session"
)

const (
	// mostShown bounds the number of sessions whose shown items are cached, and shownBytes the
	// memory used.
	mostShown  = 10_000
	shownBytes = 4 << 20
)

// shown is an LRU cache of the items that the last call of each session was shown. It is safe for
// concurrent use; the zero value is empty.
type shown struct {
	mu     sync.Mutex
	recent linked.List // of *shownItems, most recently used first
	of     map[session.Key]*linked.Element
	bytes  int
	forgot uint64
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
func (s *shown) get(k session.Key, question [sha256.Size]byte) (items []string, began uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.of[k]
	if !ok {
		return nil, s.forgot
	}
	s.recent.MoveToFront(at)
	if of := at.Value.(*shownItems); of.question == question { //nolint:forcetypeassert // there is nothing else in it
		items = of.items
	}
	return items, s.forgot
}

// put caches the items that a session was shown, unless something was erased since get. It takes
// ownership of items.
func (s *shown) put(k session.Key, question [sha256.Size]byte, items []string, began uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if began != s.forgot {
		return
	}
	if s.of == nil {
		s.of = make(map[session.Key]*linked.Element)
	}
	if at, ok := s.of[k]; ok {
		s.drop(at)
	}
	one := &shownItems{k, question, items}
	s.of[k] = s.recent.PushFront(one)
	s.bytes += one.bytes()
	for s.bytes > shownBytes || s.recent.Len() > mostShown {
		s.drop(s.recent.Back())
	}
}

// drop removes a session. The caller holds s.mu.
func (s *shown) drop(at *linked.Element) {
	one := s.recent.Remove(at).(*shownItems) //nolint:forcetypeassert // there is nothing else in it
	delete(s.of, one.key)
	s.bytes -= one.bytes()
}

// clear removes all sessions.
func (s *shown) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recent.Init()
	clear(s.of)
	s.bytes = 0
	s.forgot++
}
