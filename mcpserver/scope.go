package mcpserver

import (
	"context"
	"net/http"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/access"
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

// scope returns the scope of a call. What is configured, here or where the caller's
// requests are, a model cannot change: it may have read the wish in a document.
func (s *Server) scope(ctx context.Context, h http.Header, asked Scope) (Scope, error) {
	out := s.opts.Scope
	args := asked.parts()
	for i, p := range out.parts() {
		if err := fix(p.value, p.header, h.Get(p.header)); err != nil {
			return out, err
		}
		if err := fix(p.value, p.argument, *args[i].value); err != nil {
			return out, err
		}
		if err := ragctx.ValidName(p.argument, *p.value); err != nil {
			return out, err
		}
	}
	if out.Namespace == "" {
		out.Namespace = ragctx.DefaultNamespace
	}
	var err error
	out.UserID, err = access.From(ctx).ActAs(out.UserID)
	return out, err
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
	Namespace string `json:"namespace,omitempty" jsonschema:"the namespace to work in; leave it out unless you were told one"`
	UserID    string `json:"user_id,omitempty" jsonschema:"the user to act for; memories of others are not seen; leave it out unless you were told one"`
}

func (p place) asked() Scope { return Scope{Namespace: p.Namespace, UserID: p.UserID} }

// whose are the arguments of tools about memories.
type whose struct {
	place

	AgentID   string `json:"agent_id,omitempty" jsonschema:"only memories of this agent"`
	SessionID string `json:"session_id,omitempty" jsonschema:"only memories of this conversation"`
}

func (w whose) asked() Scope {
	s := w.place.asked()
	s.AgentID, s.SessionID = w.AgentID, w.SessionID
	return s
}
