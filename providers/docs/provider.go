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

// Source is what the provider reads from.
type Source interface {
	passage.Source
	// Search finds document units in the query's namespace; the vector of the
	// query's text is put in by the source.
	Search(ctx context.Context, q ragctx.ContextQuery, s index.Query) (index.Result, error)
}

// Provider answers queries from documents. It implements [ragctx.ContextProvider].
type Provider struct {
	source Source
}

// NewProvider returns a provider over source.
func NewProvider(source Source) *Provider { return &Provider{source: source} }

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
		Text: q.Query, K: max(50, 3*(q.MaxResults+len(q.Exclude))),
		Filter: q.Filter, AsOf: q.AsOf, Now: q.Now, Exact: q.Exact,
	}
	found, err := p.source.Search(ctx, q, search)
	if err != nil {
		return res, fmt.Errorf("search documents: %w", err)
	}
	items, more, err := passage.Assemble(ctx, p.source, passage.Request{Query: q, Search: search, Hits: found.Hits})
	if err != nil {
		return res, fmt.Errorf("assemble documents: %w", err)
	}
	res.Degraded, res.Truncated = found.Degraded, more
	for _, it := range items {
		res.Add(it)
	}
	if res.IsEmpty() {
		res.Note = "no document matches the query"
	}
	return res, nil
}
