package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// providerRegistry holds the providers other than the built-in ones, and which sessions use them.
type providerRegistry struct {
	// global providers are asked for every query; the first are the built-in ones. Neither list
	// changes after open.
	global  []resolve.Registered
	builtin int
	offered []offeredProvider
	// observesTurns is true if some session provider observes turns.
	observesTurns atomic.Bool

	mu    sync.Mutex
	local map[SessionKey][]localProvider // added by this process
}

// offeredProvider is a configured provider that sessions can add by name.
type offeredProvider struct {
	reg      resolve.Registered
	prepared *resolve.Prepared
}

// localProvider is a provider that was added to one session in this process.
type localProvider struct {
	prepared *resolve.Prepared
	added    time.Time
}

func (l localProvider) name() string { return l.prepared.Provider().Name() }

func (a *providerRegistry) open(
	r *resolve.Resolver, global []resolve.Registered, builtin int, offered []resolve.Registered,
) error {
	a.global, a.builtin, a.local = global, builtin, make(map[SessionKey][]localProvider)
	for _, reg := range offered {
		p, err := r.Prepare(reg)
		if err != nil {
			return err
		}
		if name := reg.Provider.Name(); a.hasName(name) {
			return fmt.Errorf("context provider %q is registered twice: %w", ragctx.Clip(name), ragctx.ErrConflict)
		}
		a.offered = append(a.offered, offeredProvider{reg, p})
		a.noteObserver(reg.Provider)
	}
	return nil
}

// noteObserver records whether a provider observes turns.
func (a *providerRegistry) noteObserver(p ragctx.ContextProvider) {
	if _, ok := p.(ragctx.TurnObserver); ok {
		a.observesTurns.Store(true)
	}
}

// mayObserve reports whether session providers may need to be notified of a turn.
func (a *providerRegistry) mayObserve(ragctx.Turn) bool { return a.observesTurns.Load() }

// all returns the global providers and those offered to sessions.
func (a *providerRegistry) all() []resolve.Registered {
	out := slices.Clone(a.global)
	for _, o := range a.offered {
		out = append(out, o.reg)
	}
	return out
}

// hasName reports whether a global or offered provider has the name.
func (a *providerRegistry) hasName(name string) bool {
	return slices.ContainsFunc(a.global, func(r resolve.Registered) bool { return r.Provider.Name() == name }) ||
		a.findOffered(name) != nil
}

func (a *providerRegistry) findOffered(name string) *resolve.Prepared {
	for _, o := range a.offered {
		if o.reg.Provider.Name() == name {
			return o.prepared
		}
	}
	return nil
}

// locals returns the providers added to a session in this process.
func (a *providerRegistry) locals(k SessionKey) []localProvider {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.local[k])
}

func (a *providerRegistry) remove(k SessionKey, name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.local[k]
	rest := slices.DeleteFunc(slices.Clone(before), func(l localProvider) bool { return l.name() == name })
	a.local[k] = rest // keep the empty list: the session exists
	if before == nil {
		delete(a.local, k)
	}
	return len(rest) < len(before)
}

// forget removes the local providers of matching sessions.
func (a *providerRegistry) forget(matches func(SessionKey) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.local {
		if matches(k) {
			delete(a.local, k)
		}
	}
}
