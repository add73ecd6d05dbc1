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

// Bounds on the hits examined for one that has the phrases of a query, at first and at most: texts
// with all words of a phrase mostly contain the phrase.
const (
	minPhraseHits = 16
	maxPhraseHits = 4096
)

// hasPhrases reports whether a text of a kind in scope has all phrases of q. It returns true if that is
// unknown.
func (e *core) hasPhrases(ctx context.Context, kind store.Kind, q ragctx.ContextQuery) bool {
	src, plan := e.searchSource(kind), e.plan(kind, q)
	for plan.K = minPhraseHits; ; plan.K *= 4 {
		found, err := src.Search(ctx, q, plan)
		if err != nil {
			return true
		}
		held, err := passage.Resolve(ctx, src,
			passage.Request{Query: q, Search: plan, Hits: found.Hits, State: found.State})
		switch {
		case err != nil || len(held) > 0:
			return true
		case len(found.Hits) < plan.K || plan.K >= maxPhraseHits:
			return false
		}
	}
}
