package engine

import (
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/resolve"
)

// Scope is the set of queries that a provider is asked for.
type Scope string

// The scopes of providers.
const (
	ScopeGlobal  Scope = "global"  // all queries that concern it
	ScopeSession Scope = "session" // queries of the sessions that added it
)

// ProviderInfo describes a provider. It contains no secrets: neither a remote provider's address
// nor its credentials.
type ProviderInfo struct {
	Name  string `json:"name" example:"crm"`
	Kind  string `json:"kind" enum:"builtin,remote,custom" doc:"part of ragctx, behind a URL, or part of the program that embeds ragctx"`
	Scope Scope  `json:"scope" enum:"global,session" doc:"whether it is asked for every query, or only for those of sessions that added it"`
	// FailureMode is best_effort or fail_closed.
	FailureMode string  `json:"failure_mode" enum:"best_effort,fail_closed"`
	TimeoutMS   int64   `json:"timeout_ms,omitempty" doc:"how long it may take; absent is the server's default"`
	Priority    float64 `json:"priority,omitempty" doc:"raises the rank of its items, as trust and freshness do"`
	Trust       float64 `json:"trust,omitempty"`
	Freshness   float64 `json:"freshness,omitempty"`
	Required    bool    `json:"required,omitempty" doc:"its items are placed before all others"`
	Turns       bool    `json:"turns" doc:"whether completed turns are delivered to it"`
	// Breaker is nil for providers without a circuit breaker.
	Breaker *BreakerInfo `json:"breaker,omitempty" doc:"for providers behind a URL: whether requests are sent at present"`
}

// BreakerInfo is the state of a circuit breaker.
type BreakerInfo struct {
	State httpclient.State `json:"state" enum:"closed,open,half-open"`
	Until time.Time        `json:"until,omitzero" doc:"until when requests are suspended"`
}

// Providers describes the providers in the order in which they are asked, global ones first.
// Providers that sessions added in this process are not included.
func (e Admin) Providers() []ProviderInfo {
	out := make([]ProviderInfo, 0, len(e.registry.global)+len(e.registry.offered))
	for i, r := range e.registry.global {
		p := describe(r, ScopeGlobal)
		if i < e.registry.builtin {
			p.Kind = "builtin"
		}
		p.Turns = slices.ContainsFunc(e.turns.observers, func(w turnObserver) bool { return w.name == p.Name })
		out = append(out, p)
	}
	for _, o := range e.registry.offered {
		out = append(out, describe(o.reg, ScopeSession))
	}
	return out
}

func describe(r resolve.Registered, scope Scope) ProviderInfo {
	_, observes := r.Provider.(ragctx.TurnObserver)
	i := ProviderInfo{
		Name: r.Provider.Name(), Kind: "custom", Scope: scope, FailureMode: "best_effort", TimeoutMS: r.Timeout.Milliseconds(),
		Priority: ragctx.Clamp01(r.Priority), Trust: ragctx.Clamp01(r.Trust), Freshness: ragctx.Clamp01(r.Freshness), Required: r.Required,
		Turns: observes,
	}
	if k, ok := r.Provider.(interface{ Kind() string }); ok {
		i.Kind = k.Kind()
	}
	if p, ok := r.Provider.(interface{ Timeout() time.Duration }); ok {
		i.TimeoutMS = p.Timeout().Milliseconds() // r.Timeout is how long the resolver waits for it
	}
	if p, ok := r.Provider.(ragctx.FailurePolicy); ok && p.FailureMode() == ragctx.FailClosed {
		i.FailureMode = "fail_closed"
	}
	if p, ok := r.Provider.(interface {
		Breaker() (httpclient.State, time.Time)
	}); ok {
		state, until := p.Breaker()
		i.Breaker = &BreakerInfo{State: state, Until: until.UTC()}
	}
	return i
}
