package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
)

// SessionKey are the parameters that name a session. It is exported for huma, which
// passes over others.
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

// ProviderList are the providers of a server.
type ProviderList struct {
	Providers []engine.ProviderInfo `json:"providers" nullable:"false"`
}

// SessionProviderList are the providers that a session asks beside those of all
// sessions.
type SessionProviderList struct {
	Providers []engine.SessionProvider `json:"providers" nullable:"false"`
}

// ProviderAdded says what adding a provider did.
type ProviderAdded struct {
	Added bool `json:"added" doc:"false if the session already had it"`
}

// ProviderRemoved says what removing a provider did.
type ProviderRemoved struct {
	Removed bool `json:"removed" doc:"false if the session did not have it"`
}

type (
	providerListOutput        struct{ Body ProviderList }
	sessionProviderListOutput struct{ Body SessionProviderList }
	providerAddedOutput       struct{ Body ProviderAdded }
	providerRemovedOutput     struct{ Body ProviderRemoved }
)

const sessionsRoot = "/v1/sessions"

func (s *Server) providerRoutes() {
	tags := []string{"providers"}
	register(s, huma.Operation{
		OperationID: "list-providers", Method: http.MethodGet, Path: "/v1/providers", Tags: tags,
		Summary:     "Which providers are there?",
		Description: "In the order in which they are asked: the built-in ones, those of the operator that are asked for every question, and those that sessions can add. Neither URLs nor secrets are told.",
	}, func(context.Context, *struct{}) (*providerListOutput, error) {
		return &providerListOutput{ProviderList{s.engine.Admin().Providers()}}, nil
	})
	register(s, huma.Operation{
		OperationID: "list-session-providers", Method: http.MethodGet, Path: verbPath(sessionsRoot, "providers"), Tags: tags,
		Summary:     "Which providers does a session ask?",
		Description: "Beside those that are asked for every question, in the order in which they were added. A session is known from its first turn on, or from when it was first given a provider; one that is not is answered with 404.",
	}, func(ctx context.Context, in *SessionKey) (*sessionProviderListOutput, error) {
		list, err := s.engine.Sessions().Providers(ctx, in.key())
		return &sessionProviderListOutput{SessionProviderList{list}}, err
	})
	register(s, huma.Operation{
		OperationID: "add-session-provider", Method: http.MethodPut, Path: memberPath("provider"), Tags: tags,
		Summary:     "Have a session ask a provider",
		Description: "One of those that the operator offers to sessions. It is asked for questions with this session_id, and told of the session's turns if it wants to be, from now on and after a restart.",
	}, func(ctx context.Context, in *sessionProviderKey) (*providerAddedOutput, error) {
		added, err := s.engine.Sessions().UseProvider(ctx, in.key(), in.Name)
		return &providerAddedOutput{ProviderAdded{added}}, err
	})
	register(s, huma.Operation{
		OperationID: "remove-session-provider", Method: http.MethodDelete, Path: memberPath("provider"), Tags: tags,
		Summary:     "End that a session asks a provider",
		Description: "A provider that the session does not ask is no error. A session that is not known is answered with 404.", DefaultStatus: http.StatusOK,
	}, func(ctx context.Context, in *sessionProviderKey) (*providerRemovedOutput, error) {
		removed, err := s.engine.Sessions().RemoveProvider(ctx, in.key(), in.Name)
		return &providerRemovedOutput{ProviderRemoved{removed}}, err
	})
}
