package view

import (
	linked "container/list"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// DefaultCacheBytes is the default size of the session cache.
const DefaultCacheBytes = 64 << 20

// maxCachedSessions bounds the number of cached sessions. A single session may take half of the
// bytes.
const maxCachedSessions = 1000

// sessionCache is an LRU cache of session branches. It is safe for concurrent use.
type sessionCache struct {
	limit int // in bytes; below 1 nothing is cached

	mu     sync.Mutex
	recent linked.List // of *cachedSession, most recently used first
	byKey  map[session.Key]*linked.Element
	bytes  int
	// generation counts evictions by forget. A read that began in an earlier generation must not be
	// cached.
	generation uint64
}

type cachedSession struct {
	key session.Key
	*branch
}

func newSessionCache(limit int) *sessionCache {
	return &sessionCache{limit: limit, byKey: make(map[session.Key]*linked.Element)}
}

// currentGeneration returns the generation to pass to put after reading a session.
func (c *sessionCache) currentGeneration() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.generation
}

// get returns a session at a version, or nil.
func (c *sessionCache) get(k session.Key, v session.Version) *branch {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byKey[k]
	if at == nil {
		return nil
	}
	if l := at.Value.(*cachedSession).branch; l.version == v { //nolint:forcetypeassert // there is nothing else in it
		c.recent.MoveToFront(at)
		return l
	}
	c.drop(at)
	return nil
}

// put caches a session that was read since the given generation.
func (c *sessionCache) put(generation uint64, k session.Key, l *branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if generation == c.generation {
		c.set(k, l)
	}
}

// update applies a change to a cached session that brings it to version v. If the session has
// changed otherwise, it is evicted.
func (c *sessionCache) update(k session.Key, v session.Version, change func(*branch) *branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.byKey[k]
	if at == nil {
		return
	}
	before := at.Value.(*cachedSession).branch //nolint:forcetypeassert // there is nothing else in it
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
func (c *sessionCache) set(k session.Key, l *branch) {
	if at := c.byKey[k]; at != nil {
		c.drop(at)
	}
	if c.limit < 1 || l.bytes > c.limit/2 {
		return
	}
	c.byKey[k] = c.recent.PushFront(&cachedSession{k, l})
	c.bytes += l.bytes
	for c.bytes > c.limit || c.recent.Len() > maxCachedSessions {
		c.drop(c.recent.Back())
	}
}

// drop evicts a session. The caller holds the lock.
func (c *sessionCache) drop(at *linked.Element) {
	one := c.recent.Remove(at).(*cachedSession) //nolint:forcetypeassert // there is nothing else in it
	delete(c.byKey, one.key)
	c.bytes -= one.bytes
}

// forget evicts the sessions that match (nil matches all), and prevents reads in progress from
// being cached.
func (c *sessionCache) forget(matches func(session.Key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	for k, at := range c.byKey {
		if matches == nil || matches(k) {
			c.drop(at)
		}
	}
}
