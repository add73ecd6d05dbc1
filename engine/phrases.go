package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// unquote returns a query without its quotation marks, and what they enclose, where
// neither a document nor a memory in scope has all of it in one place: who searches wants
// the words then, and who quotes in a prompt wanted no more. A search that fails leaves
// the query as it is, as whoever answers it will meet the same error.
func (e *Engine) unquote(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextQuery, []string) {
	phrases := passage.Phrases(q)
	if len(phrases) == 0 || q.Wants(ragctx.TypeResource) && e.quotes(ctx, store.Documents, q) ||
		q.Wants(ragctx.TypeMemory) && e.quotes(ctx, store.Memories, q) {
		return q, nil
	}
	texts := make([]string, len(phrases))
	for i, p := range phrases {
		texts[i] = p.Text
	}
	return q.WithParam(passage.ParamPhrases, false), texts
}

// How many hits are looked at for one that has the phrases of a query, at first and at
// most: few have the words of a phrase side by side and not the phrase.
const (
	leastQuoting = 16
	mostQuoting  = 4096
)

// quotes reports whether a text of a kind in scope has all phrases of q, or whether that
// cannot be told.
func (e *Engine) quotes(ctx context.Context, kind store.Kind, q ragctx.ContextQuery) bool {
	src, plan := e.source(kind), e.plan(kind, q)
	for plan.K = leastQuoting; ; plan.K *= 4 {
		found, err := src.Search(ctx, q, plan)
		if err != nil {
			return true
		}
		held, err := passage.Resolve(ctx, src, passage.Request{Query: q, Search: plan, Hits: found.Hits, State: found.State})
		switch {
		case err != nil || len(held) > 0:
			return true
		case len(found.Hits) < plan.K || plan.K >= mostQuoting:
			return false
		}
	}
}
