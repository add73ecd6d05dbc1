package engine

import (
	"context"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// Ranking returns the ranking of a kind of item of a namespace, where it differs from the engine's
// options. A namespace that does not exist has the zero ranking.
func (e Indexes) Ranking(ctx context.Context, namespace string, k store.Kind) (index.Ranking, error) {
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return index.Ranking{}, nil
	}
	if err != nil {
		return index.Ranking{}, err
	}
	return e.retriever.Rankings.Get(ctx, store.Collection{Namespace: ns, Kind: k})
}

// SetRanking changes the ranking of a kind of item of a namespace, effective with the next query.
// The zero ranking restores the engine's options. It creates the namespace if necessary.
func (e Indexes) SetRanking(ctx context.Context, namespace string, k store.Kind, r index.Ranking) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if err := canModifyShared(ctx); err != nil {
		return err
	}
	ns, err := e.namespace(ctx, namespace, true)
	if err != nil {
		return err
	}
	return e.retriever.Rankings.Set(ctx, store.Collection{Namespace: ns, Kind: k}, r)
}
