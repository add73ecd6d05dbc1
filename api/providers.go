package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// SessionKey are the parameters that name a session. It is exported because huma ignores unexported
// embedded types.
type SessionKey struct {
	Scoped
	ID     string `path:"id" maxLength:"512" doc:"session id; send a slash in it as %2F" example:"s-42"`
	UserID string `query:"user_id" maxLength:"512" doc:"owner of the session; default is none. Users may have sessions of the same id"`
}

func (k SessionKey) key() engine.SessionKey {
	return engine.SessionKey{Namespace: k.Namespace, UserID: k.UserID, SessionID: k.ID}
}

type sessionProviderKey struct {
	SessionKey
	Name string `path:"name" maxLength:"64" doc:"name of a provider that is offered to sessions" example:"crm"`
}

// providerList holds the providers of a server.
type providerList struct {
	Providers []engine.ProviderInfo `json:"providers" nullable:"false"`
}

// sessionProviderList holds the additional providers of a session.
type sessionProviderList struct {
	Providers []engine.SessionProvider `json:"providers" nullable:"false"`
}

// providerAdded is the result of adding a provider.
type providerAdded struct {
	Added bool `json:"added" doc:"false if the session already had it"`
}

type (
	providerListOutput        struct{ Body providerList }
	sessionProviderListOutput struct{ Body sessionProviderList }
	providerAddedOutput       struct{ Body providerAdded }
)

const sessionsRoot = "/v1/sessions"

func (s *Server) providerRoutes() {
	tags := []string{conversationsGroup}
	register(s, huma.Operation{
		OperationID: "list-providers", Method: http.MethodGet, Path: "/v1/providers", Tags: []string{administrationGroup},
		Summary: "List providers",
		Description: "Lists providers in the order of calling: built-in ones, those configured for every query, " +
			"and those offered to sessions. URLs and secrets are omitted.",
	}, func(context.Context, *struct{}) (*providerListOutput, error) {
		return &providerListOutput{providerList{s.engine.Admin().Providers()}}, nil
	})
	register(s, huma.Operation{
		OperationID: "list-session-providers", Method: http.MethodGet, Path: verbPath(sessionsRoot, "providers"), Tags: tags,
		Summary: "List the providers of a session",
		Description: "Lists the additional providers of a session in the order of adding. A session exists from " +
			"its first turn or its first provider on; otherwise 404.",
	}, func(ctx context.Context, in *SessionKey) (*sessionProviderListOutput, error) {
		list, err := s.engine.Sessions().Providers(ctx, in.key())
		return &sessionProviderListOutput{sessionProviderList{list}}, err
	})
	register(s, huma.Operation{
		OperationID: "add-session-provider", Method: http.MethodPut, Path: memberPath("provider"), Tags: tags,
		Summary: "Add a provider to a session",
		Description: "Adds one of the providers offered to sessions. Queries with this session_id call it, and " +
			"it receives the session's turns if it subscribes to them, also after a restart.",
	}, func(ctx context.Context, in *sessionProviderKey) (*providerAddedOutput, error) {
		added, err := s.engine.Sessions().UseProvider(ctx, in.key(), in.Name)
		return &providerAddedOutput{providerAdded{added}}, err
	})
	register(s, huma.Operation{
		OperationID: "remove-session-provider", Method: http.MethodDelete, Path: memberPath("provider"), Tags: tags,
		Summary:     "Remove a provider from a session",
		Description: "404 if the session does not exist or does not have the provider.",
	}, func(ctx context.Context, in *sessionProviderKey) (*struct{}, error) {
		removed, err := s.engine.Sessions().RemoveProvider(ctx, in.key(), in.Name)
		if err == nil && !removed {
			err = fmt.Errorf("provider %q of session %q: %w", ragctx.Clip(in.Name), ragctx.Clip(in.ID), ragctx.ErrNotFound)
		}
		return nil, err
	})
}
