package docs

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/passage"
)

// Name is the documents provider's name.
const Name = "docs"

// Provider answers queries from documents. It implements [ragctx.ContextProvider].
type Provider struct {
	source passage.Searcher
}

// NewProvider returns a provider over source.
func NewProvider(source passage.Searcher) *Provider { return &Provider{source: source} }

var _ ragctx.ContextProvider = (*Provider)(nil)

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return Name }

// Query implements [ragctx.ContextProvider]. Documents belong to a namespace,
// not to a user, session or agent, so those narrow nothing here. A query without
// text finds no documents.
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: Name}
	switch {
	case !q.Wants(ragctx.TypeResource):
		return res, nil
	case q.Query == "":
		res.Note = "documents are only searched with a query"
		return res, nil
	}
	search := index.Query{
		Text:   q.Query,
		Filter: q.Filter, AsOf: q.AsOf, Now: q.Now, Exact: q.Exact,
	}
	found, err := passage.Find(ctx, p.source, q, search, false)
	if err != nil {
		return res, fmt.Errorf("documents: %w", err)
	}
	res.Degraded, res.Truncated = found.Degraded, found.More
	for _, it := range found.Items {
		res.Add(it)
	}
	if res.IsEmpty() {
		res.Note = "no document matches the query"
	}
	return res, nil
}
