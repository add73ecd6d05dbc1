// Package resolve answers a context query: it asks all providers at once, merges
// what they return into one ranked list, and fits that list into the query's
// budget.
//
// # The cap is a promise
//
// The rendered string of an [Answer] never has more tokens than the query's
// MaxTokens, tags included, as the query's own tokenizer counts the whole
// string. Items that do not fit step down to shorter forms before they are
// dropped, and when no form of any item fits, the best one is cut. Every drop and
// every cut is listed with its reason, and an empty answer has a note.
//
// # Order
//
// An item's rank is relevance + .25 priority + .15 trust + .10 freshness. The
// last three belong to the provider and come from the operator's configuration
// alone; what an item or its metadata claims does not count. Required items come
// first, then by rank, relevance, fewer tokens, and id. The answer depends on
// what the providers returned and not on which of them was faster.
//
// With a [Reranker] the best items get its relevance in place of their own, and
// are ordered by it. A query can ask for diversity; then what is shown is chosen
// for saying something else than what was chosen before. [Resolver.Order] does
// both, for an answer as well as for lists that are not fitted into a budget.
package resolve

import (
	"cmp"
	"context"
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

// DefaultTimeout is how long a provider may take unless configured otherwise.
const DefaultTimeout = 2 * time.Second

// Registered is a provider with what the operator configured for it.
type Registered struct {
	Provider ragctx.ContextProvider
	// Priority, Trust and Freshness raise the rank of the provider's items; each
	// is limited to 0..1.
	Priority, Trust, Freshness float64
	// Required gives all the provider's items a place before all others, and
	// exempts them from the query's minimum relevance.
	Required bool
	// Stored says that the provider's items are of the program's own store. What others
	// claim of their relevance does not put out one with the same content.
	Stored bool
	// Timeout replaces [Options].Timeout for this provider.
	Timeout time.Duration
}

// Options configure a [Resolver]. The zero value works.
type Options struct {
	// Providers are asked in parallel and reported in this order.
	Providers []Registered
	// Counters and Renderers resolve the names in a query; [tokens.New] and
	// [xmlfmt.New] unless set.
	Counters  func(name string) (ragctx.Counter, error)
	Renderers func(name string) (ragctx.Renderer, error)
	// Timeout is each provider's deadline; [DefaultTimeout] unless set.
	Timeout time.Duration
	// Reranker scores the best RerankTop items of a query anew, of all providers
	// together, in at most RerankTimeout; nil is none. [DefaultRerankTop] and
	// [DefaultRerankTimeout] unless set. Its failure leaves the order as it is.
	Reranker      Reranker
	RerankTop     int
	RerankTimeout time.Duration
	Logger        *slog.Logger
	// Standing returns what belongs into every prompt of a query's scope, for answers in
	// blocks: the same whatever is asked, and most wanted first. Nil is nothing.
	Standing func(ctx context.Context, q ragctx.ContextQuery) ([]Standing, error)
	// Secret makes the markers of spotlighted text unpredictable to those who write it. It
	// is asked for when a query wants them; nil is none.
	Secret func(ctx context.Context) ([]byte, error)
	// OnEvent is given each event with its type, namespace, session and data; the
	// bus fills in the rest. It is called by the goroutine that calls Resolve.
	OnEvent func(ctx context.Context, ev ragctx.Event)
	// Now is the clock; [time.Now] unless set.
	Now func() time.Time
}

// Resolver answers context queries. It is safe for concurrent use.
type Resolver struct {
	opts     Options
	reranker callee

	mu      sync.Mutex
	entries []*entry // replaced as a whole, never changed
}

// New returns a resolver. Providers without a name, or two of the same name, are
// [ragctx.ErrInvalid] and [ragctx.ErrConflict].
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

// Add registers one more provider, after the others. Queries that are under way
// do not see it.
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

// Prepared is a provider that only the queries it is given to ask; see
// [Resolver.Resolve].
type Prepared struct{ entry *entry }

// Provider returns the provider itself.
func (p *Prepared) Provider() ragctx.ContextProvider { return p.entry.Provider }

// Prepare readies a provider without registering it. It is prepared once for all of
// its queries, as what it does with one says whether it is asked another.
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

// Remove unregisters a provider and reports whether there was one of that name.
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

// concerned returns the providers that a query is for.
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

// Resolve answers q, whose unset fields get their defaults. It fails if q is
// invalid, if ctx ends, or with [ragctx.ErrProvider] if a provider fails whose
// failure mode is [ragctx.FailClosed]. Other failures of providers are part of
// the answer. Those in also are asked after the registered ones; their names must be
// others.
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
	stable, err := r.standing(ctx, q, fit)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, fmt.Errorf("resolve context: %w", ctx.Err())
		}
		r.opts.Logger.WarnContext(ctx, "the stable block failed", "error", err)
		stable.failed = true
	}
	q, caps := besides(q, stable)
	entries := slices.Clip(r.snapshot())
	for _, p := range also {
		entries = append(entries, p.entry)
	}
	entries = concerned(entries, q)
	var ans Answer
	if len(entries) > 0 {
		r.emit(ctx, q, ragctx.EventContextResolving, ragctx.ContextResolving{Providers: names(entries)})
		defer func() { r.emit(ctx, q, ragctx.EventContextResolved, ans.total()) }()
	}
	judged := r.judges(q)
	if judged {
		q.MinRelevance = new(ragctx.DefaultMinRelevance)
	}
	outcomes, err := r.ask(ctx, r.Wider(q), entries)
	if err != nil {
		return Answer{}, err
	}
	span := trace.Start(ctx, trace.Assemble)
	f := fit.within(caps)
	f.judged = judged
	ans, err = r.answer(ctx, q, entries, outcomes, stable, f)
	span.End()
	return ans, err
}

// Retell tells the events of an answer that is given again, as [Resolver.Resolve] told them
// when it was made.
func (r *Resolver) Retell(ctx context.Context, q ragctx.ContextQuery, a Answer) {
	if len(a.Providers) == 0 {
		return
	}
	asked := make([]string, len(a.Providers))
	for i, p := range a.Providers {
		asked[i] = p.Name
	}
	r.emit(ctx, q, ragctx.EventContextResolving, ragctx.ContextResolving{Providers: asked})
	r.emit(ctx, q, ragctx.EventContextResolved, a.total())
}

func (r *Resolver) emit(ctx context.Context, q ragctx.ContextQuery, t ragctx.EventType, data any) {
	r.opts.OnEvent(ctx, ragctx.Event{Type: t, Namespace: q.Namespace, SessionID: q.SessionID, UserID: q.UserID, Data: data})
}
