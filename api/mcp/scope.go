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

// Scope is the scope of a call, as in a [ragctx.ContextQuery]. An empty namespace is the default
// one.
type Scope struct {
	Namespace, UserID, AgentID, SessionID string
	// InSession restricts searches to the memories of a session. A configured SessionID implies it.
	InSession string
}

// HTTP headers that fix parts of the scope left open by [Options].
const (
	NamespaceHeader = "Ragctx-Namespace"
	UserHeader      = "Ragctx-User"
	AgentHeader     = "Ragctx-Agent"
	SessionHeader   = "Ragctx-Session"
)

// parts lists the parts of a scope with their argument and header names.
func (s *Scope) parts() []part {
	return []part{
		{"namespace", NamespaceHeader, &s.Namespace},
		{"user_id", UserHeader, &s.UserID},
		{"agent_id", AgentHeader, &s.AgentID},
		{"session_id", SessionHeader, &s.SessionID},
		{"in_session", "", &s.InSession},
	}
}

type part struct {
	argument, header string
	value            *string
}

// scope returns the scope of a call, and its configured part from the options and the request
// headers. A model cannot override the configured part, since a document may have told it to.
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
	if err := fix(&at.InSession, "in_session", fixed.SessionID); err != nil {
		return at, fixed, err
	}
	at.UserID, err = access.From(ctx).ActAs(at.UserID)
	return at, fixed, err
}

// within returns ctx with a grant limited to the configured scope, so that the engine enforces it
// for every tool. With a fixed user, shared items are read-only. A tool for shared items keeps the
// users of the grant. The engine does not isolate agents and sessions; fixed ones are passed on to
// [Server.memory].
func (s Scope) within(ctx context.Context, forAll bool) context.Context {
	user := s.UserID
	if forAll {
		user = ""
	}
	ctx = context.WithValue(ctx, fixedKey{}, s)
	return access.With(ctx, access.From(ctx).Restrict(s.Namespace, user))
}

// fixedKey is the context key of the configured scope.
type fixedKey struct{}

// narrowed returns the configured scope, and whether it includes an agent or a session.
func narrowed(ctx context.Context) (Scope, bool) {
	fixed, _ := ctx.Value(fixedKey{}).(Scope)
	return fixed, fixed.AgentID != "" || fixed.SessionID != ""
}

// memory returns a memory, including quarantined ones, within the configured scope. Memories of
// other agents and sessions count as missing.
func (s *Server) memory(ctx context.Context, at Scope, id string) (store.Quarantined, error) {
	m, err := s.engine.FindMemory(ctx, at.Namespace, id, at.viewer())
	fixed, _ := narrowed(ctx)
	if err == nil && (fixed.AgentID != "" && m.AgentID != fixed.AgentID || fixed.SessionID != "" &&
		m.SessionID != fixed.SessionID) {
		return store.Quarantined{}, fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return m, err
}

// checkID rejects the id of a memory outside of the configured scope, even a forgotten one, because
// a replacement would inherit its history.
func (s *Server) checkID(ctx context.Context, at Scope, id string) error {
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

// fix sets an open part; a fixed part must not change.
func fix(value *string, name, wanted string) error {
	if *value != "" && wanted != "" && *value != wanted {
		return ragctx.Invalid(name, "is %q, but the configuration fixes it to %q; leave it out", ragctx.Clip(wanted),
			ragctx.Clip(*value))
	}
	if wanted != "" {
		*value = wanted
	}
	return nil
}

// documentScope are the arguments of tools for documents.
type documentScope struct {
	Namespace string `json:"namespace,omitempty" jsonschema:"only if instructed"`
	UserID    string `json:"user_id,omitempty" jsonschema:"only if instructed"`
}

func (p documentScope) requestedScope() Scope { return Scope{Namespace: p.Namespace, UserID: p.UserID} }

// memoryScope are the arguments of tools for memories.
type memoryScope struct {
	documentScope

	AgentID   string `json:"agent_id,omitempty" jsonschema:"only memories of this agent"`
	SessionID string `json:"session_id,omitempty" jsonschema:"this conversation"`
}

func (w memoryScope) requestedScope() Scope {
	s := w.documentScope.requestedScope()
	s.AgentID, s.SessionID = w.AgentID, w.SessionID
	return s
}

// searchScope are the arguments of tools that search memories.
type searchScope struct {
	memoryScope

	InSession string `json:"in_session,omitempty" jsonschema:"only memories of this session"`
}

func (w searchScope) requestedScope() Scope {
	s := w.memoryScope.requestedScope()
	s.InSession = w.InSession
	return s
}
