package view

import (
	"sync"

	"github.com/ragctx/ragctx/internal/lru"
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

	mu       sync.Mutex
	sessions *lru.Cache[session.Key, *branch]
	// generation counts evictions by forget. A read that began in an earlier generation must not be
	// cached.
	generation uint64
}

func newSessionCache(limit int) *sessionCache {
	return &sessionCache{limit: limit, sessions: lru.New[session.Key, *branch](maxCachedSessions, limit)}
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
	l, ok := c.sessions.Get(k)
	if ok && l.version == v {
		return l
	}
	c.sessions.Remove(k)
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

// update applies a change to a cached session that brought it to version v. If the session has
// changed otherwise, it is evicted.
func (c *sessionCache) update(k session.Key, v session.Version, change func(*branch) *branch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, ok := c.sessions.Get(k)
	if !ok {
		return
	}
	if before.version.Next() == v {
		if after := change(before); after != nil {
			c.set(k, after)
			return
		}
	}
	c.sessions.Remove(k)
}

// set caches a session. The caller holds the lock.
func (c *sessionCache) set(k session.Key, l *branch) {
	if c.limit < 1 || l.bytes > c.limit/2 {
		c.sessions.Remove(k)
		return
	}
	c.sessions.Put(k, l, l.bytes)
}

// forget evicts the sessions that match (nil matches all), and prevents reads in progress from
// being cached.
func (c *sessionCache) forget(matches func(session.Key) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation++
	for k := range c.sessions.Keys() {
		if matches == nil || matches(k) {
			c.sessions.Remove(k)
		}
	}
}
