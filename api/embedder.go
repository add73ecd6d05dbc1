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
		OperationID: "get-embedder", Method: http.MethodGet, Path: "/v1/embedder", Tags: []string{administrationGroup},
		Summary: "Get the embedder",
		Description: "Returns the current embedder. For an embedding service: its availability, and its usage " +
			"since the start, with the cost if prices are configured.",
	}, func(context.Context, *struct{}) (*embedderOutput, error) {
		return &embedderOutput{s.engine.Indexes().EmbedderInfo()}, nil
	})
}
