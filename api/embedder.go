package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
)

type embedderInput struct {
	Body struct {
		Paused bool `json:"paused" doc:"whether chunks are not embedded in the background"`
	}
}

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
	register(s, huma.Operation{
		OperationID: "put-embedder", Method: http.MethodPut, Path: "/v1/embedder", Tags: []string{administrationGroup},
		Summary: "Pause or resume embedding",
		Description: "Pauses or resumes the embedding of chunks in the background, which the embedder auto does. It is " +
			"kept across restarts. Queries use the vectors that exist.",
	}, func(ctx context.Context, in *embedderInput) (*embedderOutput, error) {
		err := s.engine.Indexes().PauseEmbedding(ctx, in.Body.Paused)
		return &embedderOutput{s.engine.Indexes().EmbedderInfo()}, err
	})
}
