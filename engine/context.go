package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/internal/trace"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/xmlfmt"
)

// Context returns the context for a query: the best items of all providers, fitted into the query's
// token budget and rendered.
func (e *core) Context(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	defer e.priority.beginRequest()()
	ctx, tr := e.beginTrace(ctx)
	a, err := e.answer(ctx, q)
	e.answers.add(tr, len(a.Items), a.Degraded, err)
	e.endTrace(ctx, tr, trace.Record{Operation: "context", Namespace: q.Namespace, Items: len(a.Items), Degraded: a.Degraded, Err: err})
	return a, err
}

func (e *core) answer(ctx context.Context, q ragctx.ContextQuery) (resolve.Answer, error) {
	hasTime := !q.Now.IsZero()
	q, err := e.check(ctx, q)
	if err != nil {
		return resolve.Answer{}, err
	}
	if err := e.Indexes().Warm(ctx, q.Namespace); err != nil {
		return resolve.Answer{}, err
	}
	defer trace.Start(ctx, trace.Engine).End()
	sessionProviders, err := e.sessionProvidersFor(ctx, q)
	if err != nil {
		return resolve.Answer{}, err
	}
	lookup, cacheable := e.prepareLookup(ctx, q, sessionProviders, hasTime)
	if cacheable {
		if a, ok := e.answerCache.get(lookup.key, lookup.state, q.Now); ok {
			e.resolver.ReplayEvents(ctx, q, a)
			e.recordAnswer(ctx, q, a)
			return a, nil
		}
	}
	a, err := e.uncached(ctx, q, sessionProviders)
	if err != nil {
		return resolve.Answer{}, err
	}
	if cacheable && ctx.Err() == nil { // a cancelled caller's answer may lack highlights
		e.cacheAnswer(ctx, lookup, q.Now, a)
	}
	e.recordAnswer(ctx, q, a)
	return a, nil
}

// uncached answers a checked query by asking the providers.
func (e *core) uncached(ctx context.Context, q ragctx.ContextQuery, sessionProviders []*resolve.Prepared) (resolve.Answer, error) {
	q, unquoted := e.unquote(ctx, q)
	a, err := e.resolver.Resolve(ctx, q, sessionProviders...)
	a.Unquoted = unquoted
	if len(a.Items) == 0 && err == nil {
		a.Note = cmp.Or(e.missing(ctx, q.Namespace, a.Providers), a.Note)
	}
	highlight(ctx, q, a.Items, a.Terms)
	return a, err
}

// missing returns the note of an answer from a namespace that does not exist, such as a misspelt one, or "".
// A provider that failed or found something, such as one of another program, is the better reason.
func (e *core) missing(ctx context.Context, namespace string, asked []resolve.ProviderReport) string {
	better := func(p resolve.ProviderReport) bool { return p.Returned > 0 || p.Error != "" }
	if slices.ContainsFunc(asked, better) || !e.namespaceMissing(ctx, namespace) {
		return ""
	}
	return fmt.Sprintf("nothing has been stored in namespace %q", cmp.Or(namespace, ragctx.DefaultNamespace))
}

// recordAnswer publishes the events of an answer and counts the uses of its memories.
func (e *core) recordAnswer(ctx context.Context, q ragctx.ContextQuery, a resolve.Answer) {
	e.publishRecalled(ctx, q, a)
	if ns, err := e.namespace(ctx, q.Namespace, false); err == nil {
		e.uses.add(ns, a.Items, e.opts.Now())
	}
}

// maxHighlighted bounds how much content of an answer is searched for highlights.
const maxHighlighted = 8 << 20 // bytes

// highlight marks the words of the query, and terms, in each item's content if the query asks for
// it. It stops when ctx ends.
func highlight(ctx context.Context, q ragctx.ContextQuery, items []ragctx.ContextItem, terms []string) {
	if !q.Highlight {
		return
	}
	h := passage.HighlighterOf(q).With(terms)
	scanned := 0
	for i := range items {
		if scanned += len(items[i].Content); ctx.Err() != nil || i > 0 && scanned > maxHighlighted {
			return
		}
		found := h.In(items[i].Content)
		items[i].Highlights = &found
	}
}

// Warm opens the indexes of a namespace, as the first query would. Opening time grows with the
// namespace and must not count against a provider's timeout. An index that cannot be opened is not
// an error here: its provider reports it.
func (e Indexes) Warm(ctx context.Context, namespace string) error {
	ns, err := e.namespace(ctx, namespace, false)
	if err != nil {
		return ctx.Err() // an unknown namespace has no indexes
	}
	for _, k := range [...]store.Kind{store.KindDocuments, store.KindMemories} {
		_, release, err := e.collections.Get(ctx, store.Collection{Namespace: ns, Kind: k})
		if err == nil {
			release()
		}
	}
	return ctx.Err()
}

// check fills in a query's defaults and time, validates it, and restricts it to what the grant of
// ctx reaches.
func (e *core) check(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextQuery, error) {
	q = q.WithDefaults()
	if q.Now.IsZero() {
		q.Now = e.opts.Now()
	}
	if err := q.Validate(); err != nil {
		return q, err
	}
	if err := canEnter(ctx, q.Namespace); err != nil {
		return q, err
	}
	return q, actAs(ctx, &q.UserID)
}

// SearchResult is a ranked list of items, without a token budget.
type SearchResult struct {
	Items []ragctx.ContextItem `json:"items"`
	// Degraded names failed providers, failed signals as provider:signal, and a failed reranker as
	// rerank.
	Degraded []string `json:"degraded"`
	// Unquoted lists quoted phrases of the query that appear verbatim in no text in scope; their
	// words were searched for instead.
	Unquoted []string `json:"unquoted,omitempty"`
	// Corrections lists query words that occur in no document, or in no memory, in scope, and the
	// spellings that were also searched for.
	Corrections []ragctx.Correction `json:"corrections,omitempty"`
	// Times is each provider's reading of the time expressions in the query, by provider name. Only
	// explained results have them.
	Times map[string]ragctx.TimeReading `json:"times,omitempty"`
	// Note says why there are no items, or how many have too little relevance.
	Note string `json:"note,omitempty"`
}

// Search returns the best items of documents and memories, best first, at most MaxResults, without
// fitting them into a token budget. Reranking, diversity and provider timeouts are as in
// [Engine.Context].
func (e *Engine) Search(ctx context.Context, q ragctx.ContextQuery) (SearchResult, error) {
	defer e.priority.beginRequest()()
	ctx, tr := e.beginTrace(ctx)
	res, err := e.rankedSearch(ctx, q)
	e.answers.add(tr, len(res.Items), res.Degraded, err)
	e.endTrace(ctx, tr, trace.Record{Operation: "search", Namespace: q.Namespace, Items: len(res.Items), Degraded: res.Degraded, Err: err})
	return res, err
}

// beginTrace begins to measure a query. The intervals of its stages are kept only for an exporter.
func (e *core) beginTrace(ctx context.Context) (context.Context, *trace.Trace) {
	ctx, tr := trace.From(ctx)
	if e.opts.Traced != nil {
		tr.Keep()
	}
	return ctx, tr
}

// endTrace gives the trace of a query to the exporter.
func (e *core) endTrace(ctx context.Context, tr *trace.Trace, r trace.Record) {
	if e.opts.Traced == nil {
		return
	}
	r.RequestID, r.Parent = ragctx.RequestID(ctx), trace.ParentOf(ctx)
	if r, kept := tr.Finish(r); kept {
		e.opts.Traced(r)
	}
}

// checkRendering validates the tokenizer and format of a query. A search does not render, but rejects
// names that [Engine.Context] would reject.
func checkRendering(q ragctx.ContextQuery) error {
	if err := tokens.Check(q.Tokenizer); err != nil {
		return err
	}
	_, err := xmlfmt.New(q.Format)
	return err
}

func (e *core) rankedSearch(ctx context.Context, q ragctx.ContextQuery) (SearchResult, error) {
	res := SearchResult{Items: []ragctx.ContextItem{}, Degraded: []string{}}
	q, err := e.check(ctx, q)
	if err != nil {
		return res, err
	}
	if q.Query == "" {
		return res, ragctx.Invalid("query", "is empty; say what to search for")
	}
	if err := checkRendering(q); err != nil {
		return res, err
	}
	if err := e.Indexes().Warm(ctx, q.Namespace); err != nil {
		return res, err
	}
	for _, param := range [...]string{passage.ParamPhrases, passage.ParamPatterns} {
		if _, given := q.Params[param]; !given {
			q = q.WithParam(param, true)
		}
	}
	q, res.Unquoted = e.unquote(ctx, q)
	a, err := e.resolver.Rank(ctx, q, e.builtinNames()...)
	if err != nil {
		return res, err
	}
	for _, p := range a.Providers {
		if p.Name == memory.Name && p.Error == "" {
			e.publishSearched(ctx, q, p.Returned)
		}
		if p.Time != nil {
			if res.Times == nil {
				res.Times = make(map[string]ragctx.TimeReading)
			}
			res.Times[p.Name] = *p.Time
		}
	}
	res.Items, res.Degraded, res.Corrections, res.Note = a.Items, a.Degraded, a.Corrections, a.Note
	if len(res.Items) == 0 {
		res.Note = cmp.Or(e.missing(ctx, q.Namespace, a.Providers), res.Note)
	}
	highlight(ctx, q, res.Items, a.Terms)
	return res, nil
}

// builtinNames returns the names of the built-in providers.
func (e *core) builtinNames() []string {
	names := make([]string, len(e.builtin))
	for i, p := range e.builtin {
		names[i] = p.Name()
	}
	return names
}
