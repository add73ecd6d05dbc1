package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
)

// HitsOptions configures [Indexes.Hits].
type HitsOptions struct {
	Kind store.Kind // documents or memories
	K    int        // maximum number of hits
	// Ranking replaces the namespace's ranking. Its Method "keyword" or "vector" searches one index
	// alone.
	Ranking index.Ranking
}

// Hit is a chunk as the index ranks it, before chunks are joined to passages and fitted into a
// budget. Retrieval quality is measured on hits.
type Hit struct {
	// Key is the document's external id or the memory's id.
	Key              string
	Version, Ordinal int
	Score, Relevance float64
	Signals          index.Signals
	Start, End       chunk.Pos
}

// Hits returns the chunks that match a query, best first, and the names of signals that failed.
func (e Indexes) Hits(ctx context.Context, q ragctx.ContextQuery, o HitsOptions) ([]Hit, []string, error) {
	q, err := e.check(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	q, _ = e.unquote(ctx, q)
	search := e.plan(o.Kind, q)
	search.K = o.K
	hits, degraded, err := e.retriever.Hits(ctx, o.Kind, q, search, &o.Ranking)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Hit, 0, len(hits))
	for _, h := range hits {
		out = append(out, Hit{
			Key: h.Item.Key, Version: h.Item.Version, Ordinal: h.Unit.Ordinal,
			Score: h.Hit.Score, Relevance: h.Hit.Relevance, Signals: h.Hit.Signals, Start: h.Unit.Start, End: h.Unit.End,
		})
	}
	return out, degraded, nil
}
