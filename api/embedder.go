package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
)

type embedderOutput struct{ Body engine.EmbedderInfo }

func (s *Server) embedderRoutes() {
	register(s, huma.Operation{
		OperationID: "get-embedder", Method: http.MethodGet, Path: "/v1/embedder", Tags: []string{"system"}, Summary: "Whose vectors are searched?",
		Description: "With an embedding service: whether it is up, and what was asked of it since the start, with its price if that is configured.",
	}, func(context.Context, *struct{}) (*embedderOutput, error) {
		return &embedderOutput{s.engine.Indexes().EmbedderInfo()}, nil
	})
}
