// Package lru has a cache that evicts the least recently used entries beyond a number of entries or
// bytes.
package lru

import (
	"container/list"
	"iter"
)

// Cache is an LRU cache. It is not safe for concurrent use: callers combine several calls under
// their own lock. The zero value holds nothing; see [New].
type Cache[K comparable, V any] struct {
	maxEntries, maxBytes int

	recent  list.List // of *entry[K, V], most recently used first
	entries map[K]*list.Element
	bytes   int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

// New returns an empty cache of at most maxEntries entries and maxBytes bytes.
func New[K comparable, V any](maxEntries, maxBytes int) *Cache[K, V] {
	return &Cache[K, V]{maxEntries: maxEntries, maxBytes: maxBytes, entries: make(map[K]*list.Element)}
}

// Get returns the value for a key and marks it as used.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	at, ok := c.entries[k]
	if !ok {
		return v, false
	}
	c.recent.MoveToFront(at)
	return of[K, V](at).value, true
}

// Put stores the value for a key, in place of an earlier one, and evicts the least recently used
// entries beyond the limits. bytes is the caller's estimate of the entry's size.
func (c *Cache[K, V]) Put(k K, v V, bytes int) {
	c.Remove(k)
	if c.maxEntries < 1 || bytes > c.maxBytes {
		return
	}
	c.entries[k] = c.recent.PushFront(&entry[K, V]{k, v, bytes})
	c.bytes += bytes
	for c.bytes > c.maxBytes || len(c.entries) > c.maxEntries {
		c.Remove(of[K, V](c.recent.Back()).key)
	}
}

// Remove removes a key, if it is cached.
func (c *Cache[K, V]) Remove(k K) {
	if at, ok := c.entries[k]; ok {
		c.bytes -= of[K, V](at).bytes
		c.recent.Remove(at)
		delete(c.entries, k)
	}
}

// Clear removes all entries.
func (c *Cache[K, V]) Clear() {
	c.recent.Init()
	clear(c.entries)
	c.bytes = 0
}

// Keys iterates over the cached keys in no order. The loop may remove entries.
func (c *Cache[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range c.entries {
			if !yield(k) {
				return
			}
		}
	}
}

// Len returns the number of cached entries.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Bytes returns the sum of the sizes of the cached entries.
func (c *Cache[K, V]) Bytes() int { return c.bytes }

func of[K comparable, V any](at *list.Element) *entry[K, V] {
	return at.Value.(*entry[K, V]) //nolint:forcetypeassert // Put adds nothing else
}
