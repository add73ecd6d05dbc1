package view

import (
	linked "container/list"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// DefaultKeepBytes is how much of the sessions that were used last stays in memory.
const DefaultKeepBytes = 64 << 20

// mostKept bounds the sessions in memory by number; one may take half of the bytes.
const mostKept = 1000

// kept are branches of sessions in memory, those that were used last. It is safe for
// concurrent use.
type kept struct {
	limit int // in bytes; nothing is kept below 1

	mu     sync.Mutex
	recent linked.List // of *keptSession, the last used first
	of     map[session.Key]*linked.Element
	bytes  int
	// forgot counts what was forgotten: who began to read before is too late to put.
	forgot uint64
}

type keptSession struct {
	key session.Key
	*loaded
}

func newKept(limit int) *kept {
	return &kept{limit: limit, of: make(map[session.Key]*linked.Element)}
}

// begin returns what put is to be given by whoever reads a session from now on.
func (c *kept) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.forgot
}

// get returns a session as it is at a version; nil is not known.
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

// put keeps a session that was read since begin, unless something was forgotten since.
func (c *kept) put(began uint64, k session.Key, l *loaded) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if began == c.forgot {
		c.set(k, l)
	}
}

// follow has what is kept of a session follow a change after which it is at a version. If
// there was another one, or none is kept, it is dropped.
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

// set keeps a session. The lock is held.
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

// drop forgets a session. The lock is held.
func (c *kept) drop(at *linked.Element) {
	one := c.recent.Remove(at).(*keptSession) //nolint:forcetypeassert // there is nothing else in it
	delete(c.of, one.key)
	c.bytes -= one.bytes
}

// forget drops the sessions that match, nil all, and what is being read.
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
