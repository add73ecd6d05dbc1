package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// Fresh answers as [Engine.Context] does, without the cache and without counting or publishing.
func (e *core) Fresh(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	q, err := e.check(ctx, q)
	if err != nil {
		return resolve.Answer{}, err
	}
	if err := e.Indexes().Warm(ctx, q.Namespace); err != nil {
		return resolve.Answer{}, err
	}
	own, err := e.sessionProvidersFor(ctx, q)
	if err != nil {
		return resolve.Answer{}, err
	}
	return e.uncached(ctx, q, own)
}
