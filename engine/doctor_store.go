package engine

import (
	"context"

	"github.com/ragctx/ragctx/store"
)

// VerifyStore reads the whole database and reports what is not as it should be.
// It runs beside other work and changes nothing. progress is told how many items
// of how many have been read; nil for none.
func (e *Engine) VerifyStore(ctx context.Context, progress func(done, total int)) (store.VerifyReport, error) {
	return e.store.Verify(ctx, store.VerifyOptions{Embedder: e.spaces.current.Load().id, Progress: progress})
}
