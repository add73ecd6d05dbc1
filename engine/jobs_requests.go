package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// BeginRequest notes a request that its sender may send again within
// [KeepAnswers], and returns what is known about it: the answer if it has been
// given, else the id of what it makes. seed is that id if the request is new; ""
// is a new id. A key that came with another request is [store.ErrOtherRequest].
func (e *Engine) BeginRequest(ctx context.Context, k store.RequestKey, hash []byte, seed string) (store.Answer, error) {
	if seed == "" {
		seed = e.opts.NewID()
	}
	return e.store.Begin(ctx, k, hash, seed, e.opts.Now().Add(-KeepAnswers))
}

// KnownRequest returns what is known about a request; it reports false if
// nothing is.
func (e *Engine) KnownRequest(ctx context.Context, k store.RequestKey) (store.Answer, bool, error) {
	return e.store.Answer(ctx, k, e.opts.Now().Add(-KeepAnswers))
}

// EndRequest notes the answer to a request that was begun.
func (e *Engine) EndRequest(ctx context.Context, k store.RequestKey, a store.Answer) error {
	return e.store.Answered(ctx, k, a)
}

// DropRequest forgets a request that was begun and did nothing: its key is free.
func (e *Engine) DropRequest(ctx context.Context, k store.RequestKey, seed string) error {
	return e.store.DropRequest(ctx, k, seed)
}

// NewID returns an id as the engine makes them.
func (e *Engine) NewID() string { return e.opts.NewID() }
