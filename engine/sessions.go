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

// MaxSessionProviders is how many providers a session can ask beside those of all
// sessions.
const MaxSessionProviders = 32

// sessionWatcher is the name by which it is noted that the providers of a session were
// told of a turn.
const sessionWatcher = "session-providers"

// SessionKey names a session of a user; no user is nobody's. Sessions are not made: one
// is known from its first turn on, or from when it was first given a provider.
type SessionKey struct {
	Namespace, UserID, SessionID string
}

func (k SessionKey) notFound() error { return notFound("session", k.SessionID) }

// SessionProvider is a provider that a session asks.
type SessionProvider struct {
	Name string `json:"name" example:"crm"`
	// Available is false for one that was offered when it was added and is not any more.
	Available bool      `json:"available" doc:"false if the server does not offer it any more; then it is not asked"`
	Added     time.Time `json:"added"`
}

// session checks a key and completes it: by the default namespace, and by the user that
// the caller acts for.
func (e *Engine) session(ctx context.Context, k SessionKey) (SessionKey, error) {
	k.Namespace = spaceName(k.Namespace)
	if err := enters(ctx, k.Namespace); err != nil {
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

// sessionKey returns a session's key in the store; create makes the namespace.
func (e *Engine) sessionKey(ctx context.Context, k SessionKey, create bool) (store.SessionKey, error) {
	ns, err := e.namespace(ctx, k.Namespace, create)
	if isNotFound(err) {
		err = k.notFound()
	}
	return store.SessionKey{Namespace: ns, User: k.UserID, Session: k.SessionID}, err
}

// AddProvider has a session ask a provider of this process until it is removed, the
// session is erased, or the engine closes. Its name must be that of no other provider
// that the session can ask ([ragctx.ErrConflict]). The provider stays the caller's to
// close.
func (e *Engine) AddProvider(ctx context.Context, k SessionKey, r resolve.Registered) error {
	k, err := e.session(ctx, k)
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
	e.attached.mu.Lock()
	defer e.attached.mu.Unlock()
	list := e.attached.local[k]
	switch {
	case e.attached.named(name), slices.ContainsFunc(list, func(l local) bool { return l.name() == name }):
		return fmt.Errorf("context provider %q is there already: %w", ragctx.Clip(name), ragctx.ErrConflict)
	case len(list) >= MaxSessionProviders:
		return ragctx.Invalid("provider", "is one too many: the session has %d, which is the limit; remove one", len(list))
	}
	e.attached.local[k] = append(list, local{p, e.opts.Now()})
	e.attached.watch(r.Provider)
	return nil
}

// UseProvider has a session ask one of [Options].SessionProviders, also after a restart.
// It reports whether that is new. A name that is not offered is [ragctx.ErrNotFound].
func (e *Engine) UseProvider(ctx context.Context, k SessionKey, name string) (added bool, err error) {
	k, err = e.session(ctx, k)
	if err != nil {
		return false, err
	}
	if e.attached.offer(name) == nil {
		return false, notFound("session provider", name)
	}
	key, err := e.sessionKey(ctx, k, true)
	if err != nil {
		return false, err
	}
	return e.store.AddSessionProvider(ctx, key, name, MaxSessionProviders)
}

// RemoveProvider ends that a session asks a provider, whichever way it was added. It
// reports whether the session did; a session that is not known is [ragctx.ErrNotFound].
func (e *Engine) RemoveProvider(ctx context.Context, k SessionKey, name string) (removed bool, err error) {
	k, key, err := e.known(ctx, k)
	if err != nil || e.attached.remove(k, name) {
		return err == nil, err
	}
	return e.store.RemoveSessionProvider(ctx, key, name)
}

// SessionProviders returns the providers that a session asks beside those of all
// sessions, in that order. A session that is not known is [ragctx.ErrNotFound].
func (e *Engine) SessionProviders(ctx context.Context, k SessionKey) ([]SessionProvider, error) {
	k, key, err := e.known(ctx, k)
	if err != nil {
		return nil, err
	}
	stored, err := e.store.SessionProviders(ctx, key)
	if err != nil {
		return nil, err
	}
	out := []SessionProvider{}
	for _, p := range stored {
		out = append(out, SessionProvider{Name: p.Name, Available: e.attached.offer(p.Name) != nil, Added: p.Added})
	}
	for _, l := range e.attached.locals(k) {
		out = append(out, SessionProvider{Name: l.name(), Available: true, Added: l.added.UTC()})
	}
	return out, nil
}

// known checks that a session is.
func (e *Engine) known(ctx context.Context, k SessionKey) (SessionKey, store.SessionKey, error) {
	k, err := e.session(ctx, k)
	if err != nil {
		return k, store.SessionKey{}, err
	}
	key, err := e.sessionKey(ctx, k, false)
	if err != nil {
		return k, key, err
	}
	e.attached.mu.Lock()
	_, known := e.attached.local[k]
	e.attached.mu.Unlock()
	if !known {
		known, err = e.store.SessionKnown(ctx, key)
	}
	if err == nil && !known {
		err = k.notFound()
	}
	return k, key, err
}

// ofSession returns the providers that are asked for a question because of its session.
func (e *Engine) ofSession(ctx context.Context, q ragctx.ContextQuery) ([]*resolve.Prepared, error) {
	if q.SessionID == "" {
		return nil, nil
	}
	return e.preparedFor(ctx, SessionKey{spaceName(q.Namespace), q.UserID, q.SessionID})
}

func (e *Engine) preparedFor(ctx context.Context, k SessionKey) (out []*resolve.Prepared, err error) {
	if len(e.attached.offered) > 0 {
		key, err := e.sessionKey(ctx, k, false)
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
			if p := e.attached.offer(n.Name); p != nil {
				out = append(out, p)
			}
		}
	}
	for _, l := range e.attached.locals(k) {
		out = append(out, l.ready)
	}
	return out, nil
}

// sessionObserver tells the providers of a turn's session.
type sessionObserver struct{ engine *Engine }

// OnTurnComplete implements [ragctx.TurnObserver].
func (s sessionObserver) OnTurnComplete(ctx context.Context, t ragctx.Turn) error {
	list, err := s.engine.preparedFor(ctx, SessionKey{spaceName(t.Namespace), t.UserID, t.SessionID})
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
