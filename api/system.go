package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
)

// Health is the answer of the health checks.
type Health struct {
	Status string `json:"status" enum:"ok"`
}

// NamespaceList is the list of all namespaces.
type NamespaceList struct {
	Namespaces []string `json:"namespaces" nullable:"false" doc:"sorted"`
}

type healthOutput struct{ Body Health }

type namespacesOutput struct{ Body NamespaceList }

func (s *Server) systemRoutes() {
	tags := []string{"system"}
	register(s, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: tags, Summary: "Is the process up?",
		Description: "Looks at nothing; /readyz does.",
	}, func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{Health{"ok"}}, nil
	})
	register(s, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: tags, Summary: "Can the server answer?",
		Description: "503 if the store does not answer.",
	}, s.ready)
	register(s, huma.Operation{
		OperationID: "list-namespaces", Method: http.MethodGet, Path: "/v1/namespaces", Tags: tags, Summary: "List namespaces",
		Description: "Those in which anything was ever stored.",
	}, s.listNamespaces)
}

func (s *Server) ready(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	if err := s.engine.Ready(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ragctx.ErrUnavailable, err)
	}
	return &healthOutput{Health{"ok"}}, nil
}

func (s *Server) listNamespaces(ctx context.Context, _ *struct{}) (*namespacesOutput, error) {
	names, err := s.engine.Namespaces(ctx)
	if names == nil {
		names = []string{}
	}
	return &namespacesOutput{NamespaceList{names}}, err
}
