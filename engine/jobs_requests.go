package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// Begin records a request that its client may repeat within [KeepAnswers], and returns its
// recorded state: the answer if it was given, else the id for the item that it creates. seed is
// that id if the request is new; "" generates one. A key that was used for a different request is
// [store.ErrKeyReused].
func (e Requests) Begin(
	ctx context.Context, k store.RequestKey, hash []byte, seed string,
) (store.StoredResponse, error) {
	if seed == "" {
		seed = e.opts.NewID()
	}
	return e.store.BeginRequest(ctx, k, hash, seed, e.opts.Now().Add(-KeepAnswers))
}

// Known returns the recorded state of a request; false if it is unknown.
func (e Requests) Known(ctx context.Context, k store.RequestKey) (store.StoredResponse, bool, error) {
	return e.store.Response(ctx, k, e.opts.Now().Add(-KeepAnswers))
}

// End records the answer to a request.
func (e Requests) End(ctx context.Context, k store.RequestKey, a store.StoredResponse) error {
	return e.store.SaveResponse(ctx, k, a)
}

// Drop removes a request that had no effect, which frees its key.
func (e Requests) Drop(ctx context.Context, k store.RequestKey, seed string) error {
	return e.store.DropRequest(ctx, k, seed)
}

// NewID returns a new id.
func (e *Engine) NewID() string { return e.opts.NewID() }
