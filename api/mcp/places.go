package mcp

import (
	"context"
	"sync"
)

// callLimiter limits the concurrent calls, in total and per API key, so that slow calls of one key do
// not delay others.
type callLimiter struct {
	all  chan struct{} // one element per call in progress
	most int           // limit per key

	mu    sync.Mutex
	byKey map[string]*keyPlaces
}

// keyPlaces are the places of a key. They exist while it has calls.
type keyPlaces struct {
	taken chan struct{}
	calls int // in progress or waiting
}

func newPlaces(all, perKey int) callLimiter {
	return callLimiter{all: make(chan struct{}, all), most: perKey, byKey: make(map[string]*keyPlaces)}
}

// take waits for a place; leave releases it. Callers without a key are local and share all places.
func (p *callLimiter) take(ctx context.Context, key string) (leave func(), err error) {
	own := func() {}
	if key != "" {
		if own, err = p.takeOwn(ctx, key); err != nil { // first, so that a waiting call holds no shared place
			return nil, err
		}
	}
	if err := enter(ctx, p.all); err != nil {
		own()
		return nil, err
	}
	return func() { <-p.all; own() }, nil
}

func (p *callLimiter) takeOwn(ctx context.Context, key string) (leave func(), err error) {
	p.mu.Lock()
	own := p.byKey[key]
	if own == nil {
		own = &keyPlaces{taken: make(chan struct{}, p.most)}
		p.byKey[key] = own
	}
	own.calls++
	p.mu.Unlock()
	gone := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if own.calls--; own.calls == 0 {
			delete(p.byKey, key)
		}
	}
	if err := enter(ctx, own.taken); err != nil {
		gone()
		return nil, err
	}
	return func() { <-own.taken; gone() }, nil
}

// enter waits for room in taken.
func enter(ctx context.Context, taken chan<- struct{}) error {
	select {
	case taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
