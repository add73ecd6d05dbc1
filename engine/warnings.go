package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// warnings returns one sentence for each current problem, limited to the namespaces that the grant
// of ctx reaches.
func (e *core) warnings(ctx context.Context) ([]string, error) {
	out := []string{}
	failures := e.store.Failures()
	for _, f := range failures {
		out = append(out, f.Problem)
	}
	grant := access.From(ctx)
	names, err := e.namespaceNames(ctx)
	if err != nil && len(failures) == 0 {
		return out, err
	}
	for _, i := range e.Metrics().Indexes(ctx) {
		if name := names[i.ID.Namespace]; grant.Includes(name) {
			out = append(out, indexWarnings(name, i)...)
		}
	}
	slices.Sort(out)
	out = append(out, e.breakerWarnings()...)
	if e.store.Erasing() {
		out = append(out, "an erasure is incomplete and will be retried")
	}
	return out, nil
}

// indexWarnings reports which parts of an index are incomplete or failed.
func indexWarnings(namespace string, i IndexHealth) (out []string) {
	for _, l := range []struct {
		name  string
		state index.State
	}{{"keyword", i.Keyword.State}, {"vector", i.Vector.State}} {
		what := fmt.Sprintf("the %s index of %s in namespace %s ", l.name, i.ID.Kind, namespace)
		switch l.state {
		case index.Ready:
		case index.Behind:
			out = append(out, what+"is being rebuilt and is incomplete")
		case index.Failed:
			out = append(out, what+"failed and will be reopened; see the log for the cause")
		}
	}
	return out
}

// hasBreaker is implemented by clients that call a service through a circuit breaker.
type hasBreaker interface {
	Breaker() (httpclient.State, time.Time)
}

// hasTurnBreaker is implemented by providers with a separate circuit breaker for turn delivery.
type hasTurnBreaker interface {
	TurnBreaker() (httpclient.State, time.Time)
}

// breakerWarnings reports the services with a circuit breaker that is not closed, and how requests are
// handled without them.
func (e *core) breakerWarnings() (out []string) {
	now := e.opts.Now()
	add := func(state httpclient.State, until time.Time, what, instead string) {
		switch {
		case state == httpclient.Closed:
		case state == httpclient.Open && until.After(now):
			out = append(out, fmt.Sprintf("%s fails; requests are suspended until %s; %s", what,
				until.UTC().Format(time.RFC3339), instead))
		default:
			out = append(out, fmt.Sprintf("%s fails and will be tried again on the next use; %s", what, instead))
		}
	}
	if s := e.Indexes().EmbedderInfo().Service; s != nil {
		add(httpclient.State(s.State), orZero(s.AsksAgain), "the embedding service "+s.Service,
			"queries use only the keyword index until it recovers")
	}
	if g, ok := e.opts.Reranker.(hasBreaker); ok {
		state, until := g.Breaker()
		add(state, until, "the reranker", "results are not reranked until it recovers")
	}
	model := cmp.Or(e.opts.FactExtraction.Model, e.opts.Summarizer, e.opts.Observer)
	if m, ok := model.(interface {
		hasBreaker
		fmt.Stringer
	}); ok {
		state, until := m.Breaker()
		add(state, until, "the language model "+m.String(), "rules replace it where possible until it recovers")
	}
	for _, r := range e.registry.all() {
		name := "the provider " + r.Provider.Name()
		if g, ok := r.Provider.(hasBreaker); ok {
			state, until := g.Breaker()
			instead := "queries are answered without it until it recovers"
			if p, ok := r.Provider.(ragctx.FailurePolicy); ok && p.FailureMode() == ragctx.FailClosed {
				instead = "queries that it is asked fail until it recovers"
			}
			add(state, until, name, instead)
		}
		if g, ok := r.Provider.(hasTurnBreaker); ok {
			state, until := g.TurnBreaker()
			add(state, until, "turn delivery to "+name, "completed turns are not delivered to it until it recovers")
		}
	}
	return out
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
