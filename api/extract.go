package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// extractRequest requests a preview of the extraction from a turn.
type extractRequest struct {
	Turn TurnRequest `json:"turn"`
}

type extractInput struct{ Body extractRequest }

type extractOutput struct{ Body engine.Extraction }

const extractPath = `/v1/memories\:extract`

func (s *Server) extractRoutes() {
	register(s, huma.Operation{
		OperationID: "extract-memories", Method: http.MethodPost, Path: extractPath, Tags: []string{"memory"},
		Summary: "Preview extraction from a turn", DefaultStatus: http.StatusOK,
		Description: "Extracts facts from the turn without storing anything. Returns each finding with its rule, " +
			"its reason, its position in the turn, and the effect it would have.",
	}, s.extractMemories)
}

func (s *Server) extractMemories(ctx context.Context, in *extractInput) (*extractOutput, error) {
	x, err := s.engine.Sessions().Extract(ctx, in.Body.Turn.turn())
	return &extractOutput{x}, err
}

// Extract calls [engine.Sessions.Extract] on the server.
func (c *Client) Extract(ctx context.Context, t ragctx.Turn) (engine.Extraction, error) {
	var x engine.Extraction
	err := c.do(ctx, http.MethodPost, memoriesPath+":extract", nil, extractRequest{turnRequest(t)}, &x)
	return x, err
}
