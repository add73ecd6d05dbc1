package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/resolve"
)

// Context answers what a model should see for a query: the best items of all
// providers, fitted into the query's token budget and rendered.
func (e *Engine) Context(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	q, err := e.check(q)
	if err != nil {
		return resolve.Answer{}, err
	}
	return e.resolver.Resolve(ctx, q)
}

// check fills in a query's defaults and time, and validates it.
func (e *Engine) check(q ragctx.ContextQuery) (ragctx.ContextQuery, error) {
	q = q.WithDefaults()
	if q.Now.IsZero() {
		q.Now = e.opts.Now()
	}
	return q, q.Validate()
}

// SearchResult is a ranked list without a budget.
type SearchResult struct {
	Items []ragctx.ContextItem `json:"items"`
	// Degraded names signals that did not run.
	Degraded []string `json:"degraded"`
}

// Search returns the best items of documents and memories, best first, at most
// MaxResults, without fitting them into a token budget.
func (e *Engine) Search(ctx context.Context, q ragctx.ContextQuery) (SearchResult, error) {
	res := SearchResult{Items: []ragctx.ContextItem{}, Degraded: []string{}}
	q, err := e.check(q)
	if err != nil {
		return res, err
	}
	if q.Query == "" {
		return res, ragctx.Invalid("query", "is empty; say what to search for")
	}
	found := make([]ragctx.ContextResult, len(e.builtin))
	g, gctx := errgroup.WithContext(ctx)
	for i, p := range e.builtin {
		g.Go(func() (err error) {
			if found[i], err = p.Query(gctx, q); err != nil {
				return fmt.Errorf("%s: %w", p.Name(), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return res, err
	}
	for _, f := range found {
		for _, it := range f.Items {
			it.Provider = f.Provider
			if it.Relevance >= q.MinRelevance {
				res.Items = append(res.Items, it)
			}
		}
		for _, d := range f.Degraded {
			if !slices.Contains(res.Degraded, d) {
				res.Degraded = append(res.Degraded, d)
			}
		}
	}
	slices.SortStableFunc(res.Items, func(a, b ragctx.ContextItem) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(a.ID, b.ID))
	})
	res.Items = res.Items[:min(len(res.Items), q.MaxResults)]
	return res, nil
}
