package resolve_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// fake is a provider with fixed results.
type fake struct {
	name  string
	items []ragctx.ContextItem
	res   ragctx.ContextResult // fields other than the items
	err   error
	query func(ctx context.Context) // runs first, if set
	mode  ragctx.FailureMode
}

func (f fake) Name() string                    { return f.name }
func (f fake) FailureMode() ragctx.FailureMode { return f.mode }

func (f fake) Query(ctx context.Context, _ ragctx.ContextQuery) (ragctx.ContextResult, error) {
	if f.query != nil {
		f.query(ctx)
	}
	res := f.res
	res.Items = append(res.Items, f.items...)
	return res, f.err
}

// shy is a provider that applies only to queries with its name.
type shy struct{ fake }

func (s shy) Concerns(q ragctx.ContextQuery) bool { return q.Query == s.name }

// counter is a Counter that calls a func.
type counter struct {
	name  string
	count func(string) int
}

func (c counter) Name() string          { return c.name }
func (c counter) Count(text string) int { return c.count(text) }

// words counts the words outside tags, so that tags are free.
func words(name string) (ragctx.Counter, error) {
	return counter{name, func(s string) int {
		n := 0
		for line := range strings.Lines(s) {
			if !strings.HasPrefix(line, "<") {
				n += len(strings.Fields(line))
			}
		}
		return n
	}}, nil
}

// runes counts every character, so a text's length is its cost.
func runes(name string) (ragctx.Counter, error) {
	return counter{name, func(s string) int { return len([]rune(s)) }}, nil
}

func item(id string, relevance float64, content string) ragctx.ContextItem {
	return ragctx.ContextItem{ID: id, Type: ragctx.TypeResource, Relevance: relevance, Content: content}
}

// text returns n words that begin with the given one, so that texts differ.
func text(first string, n int) string {
	return first + strings.Repeat(" word", n-1)
}

func newResolver(t testing.TB, opts resolve.Options, providers ...ragctx.ContextProvider) *resolve.Resolver {
	t.Helper()
	for _, p := range providers {
		opts.Providers = append(opts.Providers, resolve.Registered{Provider: p})
	}
	if opts.Counters == nil {
		opts.Counters = words
	}
	r, err := resolve.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustResolve(t testing.TB, r *resolve.Resolver, q ragctx.ContextQuery) resolve.Answer {
	t.Helper()
	a, err := r.Resolve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// shown lists the ids of the items in order.
func shown(a resolve.Answer) string {
	var ids []string
	for _, it := range a.Items {
		ids = append(ids, it.ID)
	}
	return strings.Join(ids, " ")
}

// lost lists the dropped ids with their reasons.
func lost(a resolve.Answer) string {
	var ids []string
	for _, d := range a.Dropped {
		ids = append(ids, d.ID+"!"+string(d.Reason))
	}
	return strings.Join(ids, " ")
}
