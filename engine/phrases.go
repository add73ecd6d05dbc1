package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// unquote drops the phrase requirement of a query, and returns the phrases, if no document or
// memory in scope contains all of them verbatim: a search then wants the words, and quotes in a
// prompt are often no requirement. If the check fails, the query stays unchanged; the following
// search will meet the same error.
func (e *core) unquote(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextQuery, []string) {
	phrases := passage.Phrases(q)
	if len(phrases) == 0 || q.Wants(ragctx.TypeResource) && e.hasPhrases(ctx, store.KindDocuments, q) ||
		q.Wants(ragctx.TypeMemory) && e.hasPhrases(ctx, store.KindMemories, q) {
		return q, nil
	}
	texts := make([]string, len(phrases))
	for i, p := range phrases {
		texts[i] = p.Text
	}
	return q.WithParam(passage.ParamPhrases, false), texts
}

// hasPhrases reports whether a text of a kind in scope has all phrases of q. It returns true if that is
// unknown.
func (e *core) hasPhrases(ctx context.Context, kind store.Kind, q ragctx.ContextQuery) bool {
	has, err := e.retriever.HasPhrases(ctx, kind, q, e.plan(kind, q))
	return has || err != nil
}
