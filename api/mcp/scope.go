package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// Scope says whose items a call works on, as in a [ragctx.ContextQuery]. An empty
// namespace is the default one.
type Scope struct {
	Namespace, UserID, AgentID, SessionID string
}

// Headers of a request over HTTP that fix parts of the scope, where [Options] leave them
// open.
const (
	NamespaceHeader = "Ragctx-Namespace"
	UserHeader      = "Ragctx-User"
	AgentHeader     = "Ragctx-Agent"
	SessionHeader   = "Ragctx-Session"
)

// parts names the parts of a scope as arguments of tools and as headers.
func (s *Scope) parts() []part {
	return []part{
		{"namespace", NamespaceHeader, &s.Namespace},
		{"user_id", UserHeader, &s.UserID},
		{"agent_id", AgentHeader, &s.AgentID},
		{"session_id", SessionHeader, &s.SessionID},
	}
}

type part struct {
	argument, header string
	value            *string
}

// scope returns the scope of a call, and the part of it that is configured, here or where
// the caller's requests are. That a model cannot change: it may have read the wish in a
// document.
func (s *Server) scope(ctx context.Context, h http.Header, asked Scope) (at, fixed Scope, err error) {
	fixed = s.opts.Scope
	for _, p := range fixed.parts() {
		if err := fix(p.value, p.header, h.Get(p.header)); err != nil {
			return at, fixed, err
		}
	}
	if fixed.Namespace != "" {
		if err := access.From(ctx).RequireNamespace(fixed.Namespace); err != nil {
			return at, fixed, err
		}
	}
	at = fixed
	args := asked.parts()
	for i, p := range at.parts() {
		if err := fix(p.value, p.argument, *args[i].value); err != nil {
			return at, fixed, err
		}
		if err := ragctx.ValidName(p.argument, *p.value); err != nil {
			return at, fixed, err
		}
	}
	if at.Namespace == "" {
		at.Namespace = access.From(ctx).HomeNamespace()
	}
	at.UserID, err = access.From(ctx).ActAs(at.UserID)
	return at, fixed, err
}

// within returns ctx with a grant that ends where the configured scope ends, so that the
// engine keeps the wall for every tool: what belongs to no user is not changed for a fixed
// one. A tool that is for all has the users of the grant. Agents and conversations are no
// walls of the engine: those that are fixed go along, for [Server.memory].
func (s Scope) within(ctx context.Context, forAll bool) context.Context {
	user := s.UserID
	if forAll {
		user = ""
	}
	ctx = context.WithValue(ctx, fixedKey{}, s)
	return access.With(ctx, access.From(ctx).Restrict(s.Namespace, user))
}

// fixedKey is where the context of a call has the configured scope.
type fixedKey struct{}

// narrowed reports whether an agent or a conversation is configured, and the scope that
// has them.
func narrowed(ctx context.Context) (Scope, bool) {
	fixed, _ := ctx.Value(fixedKey{}).(Scope)
	return fixed, fixed.AgentID != "" || fixed.SessionID != ""
}

// memory returns a memory, also one in quarantine, if it is within the configured scope.
// What is another agent's or of another conversation is as if it were not there.
func (s *Server) memory(ctx context.Context, at Scope, id string) (store.Quarantined, error) {
	m, err := s.engine.FindMemory(ctx, at.Namespace, id, at.viewer())
	fixed, _ := narrowed(ctx)
	if err == nil && (fixed.AgentID != "" && m.AgentID != fixed.AgentID || fixed.SessionID != "" && m.SessionID != fixed.SessionID) {
		return store.Quarantined{}, fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return m, err
}

// mayTake refuses the id of a memory that is beyond the configured scope, or was before it
// was forgotten: whoever replaces it would have its history.
func (s *Server) mayTake(ctx context.Context, at Scope, id string) error {
	if _, narrow := narrowed(ctx); !narrow || id == "" {
		return nil
	}
	if _, err := s.memory(ctx, at, id); !errors.Is(err, ragctx.ErrNotFound) {
		return err
	}
	_, err := s.engine.MemoryHistory(ctx, at.Namespace, id, at.viewer())
	if err == nil {
		return fmt.Errorf("memory %q: %w: the id belongs to another agent or conversation, or to a forgotten "+
			"memory; use another one",
			ragctx.Clip(id), ragctx.ErrConflict)
	}
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil
	}
	return err
}

// fix sets a part that is open; one that is fixed stays.
func fix(value *string, name, wanted string) error {
	if *value != "" && wanted != "" && *value != wanted {
		return ragctx.Invalid(name, "is %q, but the configuration fixes it to %q; leave it out", ragctx.Clip(wanted), ragctx.Clip(*value))
	}
	if wanted != "" {
		*value = wanted
	}
	return nil
}

// place are the arguments of tools about documents.
type place struct {
	Namespace string `json:"namespace,omitempty" jsonschema:"namespace; leave out unless instructed"`
	UserID    string `json:"user_id,omitempty" jsonschema:"user to act for; leave out unless instructed"`
}

func (p place) asked() Scope { return Scope{Namespace: p.Namespace, UserID: p.UserID} }

// whose are the arguments of tools about memories.
type whose struct {
	place

	AgentID   string `json:"agent_id,omitempty" jsonschema:"only memories of this agent"`
	SessionID string `json:"session_id,omitempty" jsonschema:"only memories of this session"`
}

func (w whose) asked() Scope {
	s := w.place.asked()
	s.AgentID, s.SessionID = w.AgentID, w.SessionID
	return s
}
