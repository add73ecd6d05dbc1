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

// attached holds the providers other than the built-in ones, and which sessions use them.
type attached struct {
	resolver *resolve.Resolver
	// global providers are asked for every query; the first are the built-in ones. Neither list
	// changes after open.
	global  []resolve.Registered
	builtin int
	offered []offer
	// told is true if some session provider observes turns.
	told atomic.Bool

	mu    sync.Mutex
	local map[SessionKey][]local // added by this process
}

// offer is a configured provider that sessions can add by name.
type offer struct {
	reg   resolve.Registered
	ready *resolve.Prepared
}

// local is a provider that was added to one session in this process.
type local struct {
	ready *resolve.Prepared
	added time.Time
}

func (l local) name() string { return l.ready.Provider().Name() }

func (a *attached) open(r *resolve.Resolver, global []resolve.Registered, builtin int, offered []resolve.Registered) error {
	a.resolver, a.global, a.builtin, a.local = r, global, builtin, make(map[SessionKey][]local)
	for _, reg := range offered {
		p, err := r.Prepare(reg)
		if err != nil {
			return err
		}
		if name := reg.Provider.Name(); a.named(name) {
			return fmt.Errorf("context provider %q is there twice: %w", ragctx.Clip(name), ragctx.ErrConflict)
		}
		a.offered = append(a.offered, offer{reg, p})
		a.watch(reg.Provider)
	}
	return nil
}

// watch records whether a provider observes turns.
func (a *attached) watch(p ragctx.ContextProvider) {
	if _, ok := p.(ragctx.TurnObserver); ok {
		a.told.Store(true)
	}
}

// observes reports whether session providers may need to be notified of a turn.
func (a *attached) observes(ragctx.Turn) bool { return a.told.Load() }

// registered returns the global providers and those offered to sessions.
func (a *attached) registered() []resolve.Registered {
	out := slices.Clone(a.global)
	for _, o := range a.offered {
		out = append(out, o.reg)
	}
	return out
}

// named reports whether a global or offered provider has the name.
func (a *attached) named(name string) bool {
	return slices.ContainsFunc(a.global, func(r resolve.Registered) bool { return r.Provider.Name() == name }) || a.offer(name) != nil
}

func (a *attached) offer(name string) *resolve.Prepared {
	for _, o := range a.offered {
		if o.reg.Provider.Name() == name {
			return o.ready
		}
	}
	return nil
}

// locals returns the providers added to a session in this process.
func (a *attached) locals(k SessionKey) []local {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.local[k])
}

func (a *attached) remove(k SessionKey, name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.local[k]
	rest := slices.DeleteFunc(slices.Clone(before), func(l local) bool { return l.name() == name })
	a.local[k] = rest // keep the empty list: the session exists
	if before == nil {
		delete(a.local, k)
	}
	return len(rest) < len(before)
}

// forget removes the local providers of matching sessions.
func (a *attached) forget(matches func(SessionKey) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range a.local {
		if matches(k) {
			delete(a.local, k)
		}
	}
}
