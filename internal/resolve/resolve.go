// Package resolve answers a context query: it queries all providers in parallel, merges their
// results into one ranked list, and fits that list into the query's budget.
//
// # The token cap
//
// The rendered string of an [Answer] never has more tokens than the query's MaxTokens, tags
// included, as counted by the query's own tokenizer over the whole string. Items that do not fit
// are shortened before they are dropped, and if no form of any item fits, the best one is cut.
// Every drop and every cut is reported with its reason, and an empty answer has a note.
//
// # Order
//
// The rank of an item is relevance + .25 priority + .15 trust + .10 freshness. The last three
// belong to the provider and come only from the operator's configuration; claims of an item or its
// metadata do not count. Required items come first, then the order is by rank, relevance, fewer
// tokens, and id. The answer depends on the results of the providers, not on their speed.
//
// With a [Reranker] the best items get its relevance and are ordered by it. If a query asks for
// diversity, each shown item is chosen to differ from the ones before. [Resolver.Rank] does all of
// this without fitting the items into a budget.
package resolve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/internal/trace"
	"github.com/ragctx/ragctx/xmlfmt"
)

// DefaultTimeout is the default deadline of a provider.
const DefaultTimeout = 2 * time.Second

// Registered is a provider with the operator's configuration.
type Registered struct {
	Provider ragctx.ContextProvider
	// Priority, Trust and Freshness raise the rank of the provider's items. Each is clamped to
	// 0..1.
	Priority, Trust, Freshness float64
	// Required places all items of the provider before all others, and exempts them from the
	// query's minimum relevance.
	Required bool
	// Stored marks a provider of the program's own store. Items of other providers with the same
	// content do not replace its items, whatever relevance they claim.
	Stored bool
	// Timeout overrides [Options].Timeout for this provider.
	Timeout time.Duration
}

// Options configures a [Resolver]. The zero value is valid.
type Options struct {
	// Providers are queried in parallel and reported in this order.
	Providers []Registered
	// Counters and Renderers resolve the names in a query; [tokens.New] and [xmlfmt.New] by
	// default.
	Counters  func(name string) (ragctx.Counter, error)
	Renderers func(name string) (ragctx.Renderer, error)
	// Timeout is the deadline of each provider; [DefaultTimeout] by default.
	Timeout time.Duration
	// Reranker rescores the best RerankTop items of a query, of all providers together, within
	// RerankTimeout; it may be nil. The defaults are [DefaultRerankTop] and [DefaultRerankTimeout].
	// If it fails, the order stays as it is.
	Reranker      Reranker
	RerankTop     int
	RerankTimeout time.Duration
	Logger        *slog.Logger
	// Pinned returns the items that belong in every prompt of a query's scope. They must not
	// depend on the question, and come in order of importance. An answer in blocks shows them in
	// its stable block, any other one after its results. It may be nil.
	Pinned func(ctx context.Context, q ragctx.ContextQuery) ([]Pinned, error)
	// Secret returns a key that makes the markers of spotlighted text unpredictable to the authors
	// of texts. It is called if a query asks for markers; it may be nil.
	Secret func(ctx context.Context) ([]byte, error)
	// OnEvent receives each event with its type, namespace, session and data; the bus fills in the
	// rest. It is called in the goroutine that calls Resolve.
	OnEvent func(ctx context.Context, ev ragctx.Event)
	// Now is the clock; [time.Now] by default.
	Now func() time.Time
}

// Resolver answers context queries. It is safe for concurrent use.
type Resolver struct {
	opts     Options
	reranker callee

	mu      sync.Mutex
	entries []*entry // replaced as a whole, never modified
}

// New returns a resolver. It returns [ragctx.ErrInvalid] for a provider without a name, and
// [ragctx.ErrConflict] for two of the same name.
func New(opts Options) (*Resolver, error) {
	if opts.Counters == nil {
		opts.Counters = tokens.New
	}
	if opts.Renderers == nil {
		opts.Renderers = xmlfmt.New
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.OnEvent == nil {
		opts.OnEvent = func(context.Context, ragctx.Event) {}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	r := &Resolver{opts: opts, reranker: callee{name: "reranker"}}
	r.opts.Timeout = cmp.Or(opts.Timeout, DefaultTimeout)
	r.opts.RerankTop = cmp.Or(max(opts.RerankTop, 0), DefaultRerankTop)
	r.opts.RerankTimeout = cmp.Or(max(opts.RerankTimeout, 0), DefaultRerankTimeout)
	for _, reg := range opts.Providers {
		if err := r.Add(reg); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Add registers one more provider after the others. Running queries do not see it.
func (r *Resolver) Add(reg Registered) error {
	p, err := r.Prepare(reg)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(r.entries, func(e *entry) bool { return e.name == p.entry.name }) {
		return fmt.Errorf("context provider %q is registered already: %w", p.entry.name, ragctx.ErrConflict)
	}
	r.entries = append(slices.Clip(r.entries), p.entry)
	return nil
}

// Prepared is an unregistered provider for single queries; see [Resolver.Resolve].
type Prepared struct{ entry *entry }

// Provider returns the provider itself.
func (p *Prepared) Provider() ragctx.ContextProvider { return p.entry.Provider }

// Prepare prepares a provider without registering it. Use the same Prepared for all its queries,
// because it counts the calls that did not return.
func (r *Resolver) Prepare(reg Registered) (*Prepared, error) {
	if reg.Provider == nil {
		return nil, ragctx.Invalid("provider", "is missing")
	}
	name := reg.Provider.Name()
	if name == "" {
		return nil, ragctx.Invalid("provider", "has no name; a provider needs one that is short and stable")
	}
	reg.Timeout = cmp.Or(reg.Timeout, r.opts.Timeout)
	e := &entry{Registered: reg, callee: callee{name: name}}
	if p, ok := reg.Provider.(ragctx.FailurePolicy); ok {
		e.failClosed = p.FailureMode() == ragctx.FailClosed
	}
	return &Prepared{e}, nil
}

// Remove unregisters a provider and reports whether it was registered.
func (r *Resolver) Remove(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(r.entries), func(e *entry) bool { return e.name == name })
	found := len(rest) < len(r.entries)
	r.entries = rest
	return found
}

// Names returns the names of the providers in registration order.
func (r *Resolver) Names() []string { return names(r.snapshot()) }

func (r *Resolver) snapshot() []*entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.entries
}

// concerned returns the providers that apply to a query.
func concerned(entries []*entry, q ragctx.ContextQuery) []*entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e *entry) bool {
		p, ok := e.Provider.(ragctx.Selective)
		return ok && !p.Concerns(q)
	})
}

func names(entries []*entry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.name
	}
	return out
}

// Resolve answers q, with defaults for unset fields. It fails if q is invalid, if ctx ends,
// or with [ragctx.ErrProvider] if a provider with failure mode [ragctx.FailClosed] fails. Other
// provider failures are reported in the answer. The providers in also are queried after the
// registered ones and must have other names.
func (r *Resolver) Resolve(ctx context.Context, q ragctx.ContextQuery, also ...*Prepared) (Answer, error) {
	q = q.WithDefaults()
	if err := q.Validate(); err != nil {
		return Answer{}, err
	}
	counter, err := r.opts.Counters(q.Tokenizer)
	if err != nil {
		return Answer{}, err
	}
	renderer, err := r.opts.Renderers(q.Format)
	if err != nil {
		return Answer{}, err
	}
	if q.Citations != nil && !*q.Citations {
		renderer = xmlfmt.Uncited(renderer)
	}
	if q.Now.IsZero() {
		q.Now = r.opts.Now() // one clock for all providers
	}
	fit := fitting{counter: counter, renderer: renderer}
	if q.Spotlight && r.opts.Secret != nil {
		if fit.secret, err = r.opts.Secret(ctx); err != nil {
			return Answer{}, fmt.Errorf("secret of markers: %w", err)
		}
	}
	stable, err := r.pinnedBlock(ctx, q, fit)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, fmt.Errorf("resolve context: %w", ctx.Err())
		}
		r.opts.Logger.WarnContext(ctx, "the stable block failed", "error", err)
		stable.unreadable = true
	}
	q, caps := besidePinned(q, stable)
	entries := slices.Clip(r.snapshot())
	for _, p := range also {
		entries = append(entries, p.entry)
	}
	entries = concerned(entries, q)
	var ans Answer
	if len(entries) > 0 {
		r.emit(ctx, q, ragctx.EventContextResolving, ragctx.ContextResolving{Providers: names(entries)})
		defer func() { r.emit(ctx, q, ragctx.EventContextResolved, ans.totals()) }()
	}
	limited := r.limitsByRelevance(q)
	if limited {
		q.MinRelevance = new(ragctx.DefaultMinRelevance)
	}
	outcomes, err := r.ask(ctx, r.providerQuery(q), entries)
	if err != nil {
		return Answer{}, err
	}
	span := trace.Start(ctx, trace.Assemble)
	f := fit.within(caps)
	f.relevanceLimits = limited
	ans, err = r.answer(ctx, q, entries, outcomes, stable, f)
	span.End()
	return ans, err
}

// Rank answers q with the best items of some registered providers, at most q.MaxResults, in the order
// in which [Resolver.Resolve] considers them. It neither fits them into a budget nor renders them,
// applies no default of the minimum relevance, and emits no events. It fails if all providers fail.
func (r *Resolver) Rank(ctx context.Context, q ragctx.ContextQuery, providers ...string) (Answer, error) {
	entries := concerned(slices.DeleteFunc(slices.Clone(r.snapshot()), func(e *entry) bool {
		return !slices.Contains(providers, e.name)
	}), q)
	asked := r.providerQuery(q)
	asked.MaxTokens = 0 // nothing is fitted, so items need no other forms
	outcomes, err := r.ask(ctx, asked, entries)
	if err != nil {
		return Answer{}, err
	}
	if !slices.ContainsFunc(outcomes, func(o reply) bool { return o.err == nil }) && len(outcomes) > 0 {
		errs := make([]error, len(outcomes))
		for i, o := range outcomes {
			errs[i] = o.err
		}
		return Answer{}, errors.Join(errs...)
	}
	a, list, err := r.ranked(ctx, q, entries, outcomes, placement{})
	if err != nil {
		return Answer{}, err
	}
	for _, c := range list[:min(len(list), q.MaxResults)] {
		a.Items = append(a.Items, c.item)
	}
	if len(a.Items) == 0 {
		a.Note = a.whyEmpty(q, nil, nil)
	} else {
		a.noteMinRelevance(q)
	}
	return a, nil
}

// ReplayEvents emits the events of a cached answer, as [Resolver.Resolve] did when it was made.
func (r *Resolver) ReplayEvents(ctx context.Context, q ragctx.ContextQuery, a Answer) {
	if len(a.Providers) == 0 {
		return
	}
	asked := make([]string, len(a.Providers))
	for i, p := range a.Providers {
		asked[i] = p.Name
	}
	r.emit(ctx, q, ragctx.EventContextResolving, ragctx.ContextResolving{Providers: asked})
	r.emit(ctx, q, ragctx.EventContextResolved, a.totals())
}

func (r *Resolver) emit(ctx context.Context, q ragctx.ContextQuery, t ragctx.EventType, data any) {
	r.opts.OnEvent(ctx, ragctx.Event{Type: t, Namespace: q.Namespace, SessionID: q.SessionID, UserID: q.UserID, Data: data})
}
