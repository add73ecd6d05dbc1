package view

import (
	linked "container/list"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// DefaultCacheBytes is the default size of the session cache.
const DefaultKeepBytes = 64 << 20

// maxCachedSessions bounds the number of cached sessions. A single session may take half of the
// bytes.
const mostKept = 1000

// sessionCache is an LRU cache of session branches. It is safe for concurrent use.
type kept struct {
	limit int // in bytes; below 1 nothing is cached

	mu     sync.Mutex
	recent linked.List // of *cachedSession, most recently used first
	of     map[session.Key]*linked.Element
	bytes  int
	// generation counts evictions by forget. A read that began in an earlier generation must not be
	// cached.
	forgot uint64
}

type keptSession struct {
	key session.Key
	*loaded
}

func newKept(limit int) *kept {
	return &kept{limit: limit, of: make(map[session.Key]*linked.Element)}
}

// currentGeneration returns the generation to pass to put after reading a session.
func (c *kept) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgot
}

// get returns a session at a version, or nil.
func (c *kept) get(k session.Key, v session.Version) *loaded {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.of[k]
	if at == nil {
		return nil
	}
	if l := at.Value.(*keptSession).loaded; l.version == v { //nolint:forcetypeassert // there is nothing else in it
		c.recent.MoveToFront(at)
		return l
	}
	c.drop(at)
	return nil
}

// put caches a session that was read since the given generation.
func (c *kept) put(began uint64, k session.Key, l *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if began == c.forgot {
		c.set(k, l)
	}
}

// update applies a change to a cached session that brings it to version v. If the session has
// changed otherwise, it is evicted.
func (c *kept) follow(k session.Key, v session.Version, change func(*loaded) *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.of[k]
	if at == nil {
		return
	}
	before := at.Value.(*keptSession).loaded //nolint:forcetypeassert // there is nothing else in it
	if before.version.Next() != v {
		c.drop(at)
		return
	}
	if after := change(before); after != nil {
		c.set(k, after)
	} else {
		c.drop(at)
	}
}

// set caches a session. The caller holds the lock.
func (c *kept) set(k session.Key, l *loaded) {
	if at := c.of[k]; at != nil {
		c.drop(at)
	}
	if c.limit < 1 || l.bytes > c.limit/2 {
		return
	}
	c.of[k] = c.recent.PushFront(&keptSession{k, l})
	c.bytes += l.bytes
	for c.bytes > c.limit || c.recent.Len() > mostKept {
		c.drop(c.recent.Back())
	}
}

// drop evicts a session. The caller holds the lock.
func (c *kept) drop(at *linked.Element) {
	one := c.recent.Remove(at).(*keptSession) //nolint:forcetypeassert // there is nothing else in it
	delete(c.of, one.key)
	c.bytes -= one.bytes
}

// forget evicts the sessions that match (nil matches all), and prevents reads in progress from
// being cached.
func (c *kept) forget(matches func(session.Key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgot++
	for k, at := range c.of {
		if matches == nil || matches(k) {
			c.drop(at)
		}
	}
}
