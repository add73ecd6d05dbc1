package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// MaxSessionProviders bounds the providers of a session, in addition to the global ones.
const MaxSessionProviders = 32

// sessionObserverName is the observer name under which deliveries to session providers are recorded.
const sessionObserverName = "session-providers"

// SessionKey identifies a session of a user; "" is no user. Sessions are not created explicitly:
// one exists from its first turn, or from the first provider added to it.
type SessionKey struct {
	Namespace, UserID, SessionID string
}

func (k SessionKey) notFound() error { return notFound("session", k.SessionID) }

// SessionProvider is a provider that a session asks.
type SessionProvider struct {
	Name string `json:"name" example:"crm"`
	// Available is false if the server no longer offers the provider.
	Available bool      `json:"available" doc:"false if the server does not offer it any more; then it is not asked"`
	Added     time.Time `json:"added"`
}

// completeSessionKey validates a key and completes it by the default namespace and the caller's user.
func (e *core) completeSessionKey(ctx context.Context, k SessionKey) (SessionKey, error) {
	k.Namespace = namespaceName(k.Namespace)
	if err := canEnter(ctx, k.Namespace); err != nil {
		return k, err
	}
	if k.SessionID == "" {
		return k, ragctx.Invalid("session_id", "is empty; name the session")
	}
	for _, f := range [...]struct{ field, value string }{{"user_id", k.UserID}, {"session_id", k.SessionID}} {
		if err := ragctx.ValidName(f.field, f.value); err != nil {
			return k, err
		}
	}
	var err error
	k.UserID, err = access.From(ctx).ActAs(k.UserID)
	return k, err
}

// storeSessionKey returns a session's store key; create creates the namespace.
func (e *core) storeSessionKey(ctx context.Context, k SessionKey, create bool) (store.SessionKey, error) {
	ns, err := e.namespace(ctx, k.Namespace, create)
	if isNotFound(err) {
		err = k.notFound()
	}
	return store.SessionKey{Namespace: ns, User: k.UserID, Session: k.SessionID}, err
}

// AddProvider adds a provider to a session until it is removed, the session is erased, or the
// engine closes. Its name must differ from the names of all providers that the session can ask
// ([ragctx.ErrConflict]). The caller closes the provider.
func (e Sessions) AddProvider(ctx context.Context, k SessionKey, r resolve.Registered) error {
	k, err := e.completeSessionKey(ctx, k)
	if err != nil {
		return err
	}
	p, err := e.resolver.Prepare(r)
	if err != nil {
		return err
	}
	if _, err := e.namespace(ctx, k.Namespace, true); err != nil {
		return err
	}
	name := r.Provider.Name()
	e.registry.mu.Lock()
	defer e.registry.mu.Unlock()
	list := e.registry.local[k]
	switch {
	case e.registry.hasName(name), slices.ContainsFunc(list, func(l localProvider) bool { return l.name() == name }):
		return fmt.Errorf("context provider %q already exists: %w", ragctx.Clip(name), ragctx.ErrConflict)
	case len(list) >= MaxSessionProviders:
		return ragctx.Invalid("provider", "exceeds the limit of %d providers per session; remove one", len(list))
	}
	e.registry.local[k] = append(list, localProvider{p, e.opts.Now()})
	e.registry.noteObserver(r.Provider)
	return nil
}

// UseProvider permanently adds one of [Options].SessionProviders to a session, and reports whether
// it is new. A name that is not offered is [ragctx.ErrNotFound].
func (e Sessions) UseProvider(ctx context.Context, k SessionKey, name string) (added bool, err error) {
	k, err = e.completeSessionKey(ctx, k)
	if err != nil {
		return false, err
	}
	if e.registry.findOffered(name) == nil {
		return false, notFound("session provider", name)
	}
	key, err := e.storeSessionKey(ctx, k, true)
	if err != nil {
		return false, err
	}
	return e.store.AddSessionProvider(ctx, key, name, MaxSessionProviders)
}

// RemoveProvider removes a provider from a session, whichever way it was added, and reports whether
// the session had it. An unknown session is [ragctx.ErrNotFound].
func (e Sessions) RemoveProvider(ctx context.Context, k SessionKey, name string) (removed bool, err error) {
	k, key, err := e.knownSession(ctx, k)
	if err != nil || e.registry.remove(k, name) {
		return err == nil, err
	}
	return e.store.RemoveSessionProvider(ctx, key, name)
}

// Providers returns the providers of a session besides the global ones, in the order in
// which they are asked. An unknown session is [ragctx.ErrNotFound].
func (e Sessions) Providers(ctx context.Context, k SessionKey) ([]SessionProvider, error) {
	k, key, err := e.knownSession(ctx, k)
	if err != nil {
		return nil, err
	}
	stored, err := e.store.SessionProviders(ctx, key)
	if err != nil {
		return nil, err
	}
	out := []SessionProvider{}
	for _, p := range stored {
		out = append(out, SessionProvider{
			Name: p.Name, Available: e.registry.findOffered(p.Name) != nil,
			Added: p.Added,
		})
	}
	for _, l := range e.registry.locals(k) {
		out = append(out, SessionProvider{Name: l.name(), Available: true, Added: l.added.UTC()})
	}
	return out, nil
}

// knownSession checks that a session exists.
func (e *core) knownSession(ctx context.Context, k SessionKey) (SessionKey, store.SessionKey, error) {
	k, err := e.completeSessionKey(ctx, k)
	if err != nil {
		return k, store.SessionKey{}, err
	}
	key, err := e.storeSessionKey(ctx, k, false)
	if err != nil {
		return k, key, err
	}
	e.registry.mu.Lock()
	_, known := e.registry.local[k]
	e.registry.mu.Unlock()
	if !known {
		known, err = e.store.SessionKnown(ctx, key)
	}
	if err == nil && !known {
		err = k.notFound()
	}
	return k, key, err
}

// sessionProvidersFor returns the providers of a query's session.
func (e *core) sessionProvidersFor(ctx context.Context, q ragctx.ContextQuery) ([]*resolve.Prepared, error) {
	if q.SessionID == "" {
		return nil, nil
	}
	return e.preparedFor(ctx, SessionKey{namespaceName(q.Namespace), q.UserID, q.SessionID})
}

func (e *core) preparedFor(ctx context.Context, k SessionKey) (out []*resolve.Prepared, err error) {
	if len(e.registry.offered) > 0 {
		key, err := e.storeSessionKey(ctx, k, false)
		if isNotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		names, err := e.store.SessionProviders(ctx, key)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if p := e.registry.findOffered(n.Name); p != nil {
				out = append(out, p)
			}
		}
	}
	for _, l := range e.registry.locals(k) {
		out = append(out, l.prepared)
	}
	return out, nil
}

// sessionObserver delivers turns to the providers of their session.
type sessionObserver struct{ engine *core }

// OnTurnComplete implements [ragctx.TurnObserver].
func (s sessionObserver) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	list, err := s.engine.preparedFor(ctx, SessionKey{namespaceName(t.Namespace), t.UserID, t.SessionID})
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range list {
		if o, ok := p.Provider().(ragctx.TurnObserver); ok {
			if err := o.OnTurnComplete(ctx, t); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.Provider().Name(), err))
			}
		}
	}
	return errors.Join(errs...)
}
