package view

import (
	"context"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// sessionLocks serialize calls for the same session. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[session.Key]*turn
}

// sessionLock is a lock that a context can abandon. It is held while held contains an element.
type turn struct {
	held    chan struct{}
	holders int // including waiters
}

// lock acquires the lock of a session and returns a function that releases it.
func (t *turns) take(ctx context.Context, k session.Key) (give func(), err error) {
	t.mu.Lock()
	if t.taken == nil {
		t.taken = make(map[session.Key]*turn)
	}
	one := t.taken[k]
	if one == nil {
		one = &turn{held: make(chan struct{}, 1)}
		t.taken[k] = one
	}
	one.holders++
	t.mu.Unlock()
	select {
	case one.held <- struct{}{}:
		return func() { <-one.held; t.leave(k, one) }, nil
	case <-ctx.Done():
		t.leave(k, one)
		return nil, ctx.Err()
	}
}

func (t *turns) leave(k session.Key, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.holders--; one.holders == 0 {
		delete(t.taken, k)
	}
}
