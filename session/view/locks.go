package view

import (
	"context"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// sessionLocks serialize calls for the same session. The zero value is ready.
type sessionLocks struct {
	mu    sync.Mutex
	locks map[session.Key]*sessionLock
}

// sessionLock is a lock that a context can abandon. It is held while held contains an element.
type sessionLock struct {
	held    chan struct{}
	holders int // including waiters
}

// lock acquires the lock of a session and returns a function that releases it.
func (t *sessionLocks) lock(ctx context.Context, k session.Key) (unlock func(), err error) {
	t.mu.Lock()
	if t.locks == nil {
		t.locks = make(map[session.Key]*sessionLock)
	}
	one := t.locks[k]
	if one == nil {
		one = &sessionLock{held: make(chan struct{}, 1)}
		t.locks[k] = one
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

func (t *sessionLocks) leave(k session.Key, one *sessionLock) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.holders--; one.holders == 0 {
		delete(t.locks, k)
	}
}
