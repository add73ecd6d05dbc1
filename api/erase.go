package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Erasable is the parameter of routes that can erase permanently. It is exported because huma
// ignores unexported embedded types.
type Erasable struct {
	Erase bool `query:"erase"`
}

type documentDelete struct {
	DocumentKey
	Matching
	Erasable
}

type memoryDelete struct {
	MemoryKey
	Matching
	Erasable
}

type sessionDelete struct {
	Scoped
	SessionMatching
	Erasable
	ID     string `path:"id" maxLength:"512" doc:"session id"`
	UserID string `query:"user_id" maxLength:"512" doc:"owner of the session; default is all users (admins only)"`
}

type userDelete struct {
	Scoped
	Erasable
	ID string `path:"id" maxLength:"512" doc:"user id"`
}

type erasedOutput struct{ Body store.Erased }

func (s *Server) eraseRoutes() {
	register(s, huma.Operation{
		OperationID: "erase-session", Method: http.MethodDelete, Path: "/v1/sessions/{id}", Tags: []string{conversationsGroup},
		Summary: "Erase a session",
		Description: "Permanently removes a session with its branches, compactions, observations and forks, and " +
			"all turns and memories with this session id. Requires erase=true; there is no other way to delete a " +
			"session.",
	}, func(ctx context.Context, in *sessionDelete) (*erasedOutput, error) {
		if err := in.confirmed(); err != nil {
			return nil, err
		}
		// Among the erased items only the session has a tag.
		erased, err := s.engine.Sessions().Erase(ctx, in.Namespace, in.ID, in.UserID, in.UserID == "", in.when())
		return &erasedOutput{erased}, err
	})
	register(s, huma.Operation{
		OperationID: "erase-user", Method: http.MethodDelete, Path: "/v1/users/{id}", Tags: []string{administrationGroup},
		Summary: "Erase a user",
		Description: "Permanently removes all data of a user in a namespace. Requires erase=true; there is no " +
			"other way to delete a user.",
	}, func(ctx context.Context, in *userDelete) (*erasedOutput, error) {
		if err := in.confirmed(); err != nil {
			return nil, err
		}
		erased, err := s.engine.Admin().EraseUser(ctx, in.Namespace, in.ID)
		return &erasedOutput{erased}, err
	})
}

// confirmed returns an error unless erase=true was sent.
func (e Erasable) confirmed() error {
	if !e.Erase {
		return ragctx.Invalid("erase", "is not set; this cannot be undone, so send erase=true")
	}
	return nil
}

func (s *Server) deleteDocument(ctx context.Context, in *documentDelete) (*struct{}, error) {
	as := s.engine.If(in.when())
	if in.Erase {
		_, err := as.EraseDocument(ctx, in.Namespace, in.ID)
		return nil, err
	}
	return nil, as.DeleteDocument(ctx, in.Namespace, in.ID)
}

func (s *Server) deleteMemory(ctx context.Context, in *memoryDelete) (*struct{}, error) {
	as := s.engine.If(in.when())
	if in.Erase {
		_, err := as.EraseMemory(ctx, in.Namespace, in.ID, in.viewer())
		return nil, err
	}
	return nil, as.DeleteMemory(ctx, in.Namespace, in.ID, in.viewer())
}
