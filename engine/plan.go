package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// plan returns the index query of a kind's provider for a query.
func (e *core) plan(k store.Kind, q ragctx.ContextQuery) index.Query {
	if k == store.KindMemories {
		return memory.Plan(q)
	}
	return docs.Plan(q)
}

// Within returns the ids of all memories in scope within the time that the query names, ordered by
// time, and false if it names none.
func (e Memories) Within(ctx context.Context, q ragctx.ContextQuery) (ids []string, read bool, err error) {
	if q, err = e.check(ctx, q); err != nil {
		return nil, false, err
	}
	plan := e.plan(store.KindMemories, q)
	if plan.Time == nil {
		return nil, false, nil
	}
	return e.retriever.Within(ctx, q, plan)
}
