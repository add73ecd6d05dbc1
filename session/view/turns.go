package view

import (
	"context"
	"sync"

	"github.com/ragctx/ragctx/session"
)

// turns has calls about one session wait for each other. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	taken map[session.Key]*turn
}

// turn is held by whoever has put something into it.
type turn struct {
	held    chan struct{}
	holders int // and those who wait
}

// take waits until nobody else has the session, and returns what gives it back.
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
