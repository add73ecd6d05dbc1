package docs

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Name is the name of the documents provider.
const Name = "docs"

// Provider answers queries from documents. It implements [ragctx.ContextProvider].
type Provider struct{ retriever *retrieve.Retriever }

// NewProvider returns a provider of the documents that a retriever finds.
func NewProvider(from *retrieve.Retriever) *Provider { return &Provider{from} }

// Plan returns the index query for a question, without the number of hits. Documents belong to a
// namespace, not to a user, session or agent, so those do not restrict it.
func Plan(q ragctx.ContextQuery) index.Query {
	plan := index.Query{
		Text: q.Query, Sentences: passage.Sentences(q),
		Phrases: passage.Phrases(q), Patterns: passage.Patterns(q), Spelling: passage.Spelling(q),
		More: passage.Wordings(q), Filter: q.Filter, AsOf: q.AsOf, Now: q.Now,
		Exact: q.Exact, Explain: q.Explain,
	}
	plan.Filter.SessionID = ""
	if q.Params[paramTime] != false {
		if reading, ok := timeexpr.Read(q.Query, q.Now); ok {
			plan.Time = &index.Time{Reading: reading}
		}
	}
	return plan
}

// paramTime is the query parameter that disables time expressions if it is false.
const paramTime = "time"

var _ ragctx.ContextProvider = (*Provider)(nil)

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return Name }

// Query implements [ragctx.ContextProvider]. Documents belong to a namespace, not to a user,
// session or agent, so those do not restrict the result. A query without text finds no documents.
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: Name}
	switch {
	case !q.Wants(ragctx.TypeResource):
		return res, nil
	case q.Query == "":
		res.Note = "documents are searched only with a query text"
		return res, nil
	}
	found, err := p.retriever.Items(ctx, store.KindDocuments, q, Plan(q), preferred(q).order())
	if err != nil {
		return res, fmt.Errorf("documents: %w", err)
	}
	res.Degraded, res.Truncated, res.Time = found.Degraded, found.More, found.Time
	res.Corrections, res.Terms = found.Corrections, found.Terms
	for _, it := range found.Items {
		res.Add(it)
	}
	if res.IsEmpty() {
		res.Note = "no document matches the query"
	}
	return res, nil
}
