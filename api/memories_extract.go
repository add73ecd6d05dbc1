package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

// extractRequest requests a preview of the extraction from a turn.
type extractRequest struct {
	Turn TurnRequest `json:"turn"`
}

type extractInput struct {
	Scoped
	Body extractRequest
}

type extractOutput struct{ Body engine.Extraction }

const extractPath = `/v1/memories\:extract`

func (s *Server) extractRoutes() {
	register(s, huma.Operation{
		OperationID: "extract-memories", Method: http.MethodPost, Path: extractPath, Tags: []string{coreGroup},
		Summary: "Preview extraction from a turn", DefaultStatus: http.StatusOK,
		Description: "Extracts facts from the turn without storing anything. Returns each finding with its rule, " +
			"its reason, its position in the turn, and the effect it would have.",
	}, s.extractMemories)
}

func (s *Server) extractMemories(ctx context.Context, in *extractInput) (*extractOutput, error) {
	turn := in.Body.Turn.turn()
	if given := turn.Namespace; given != "" && in.Namespace != "" && given != in.Namespace && access.From(ctx).Includes(given) {
		return nil, ragctx.Invalid("namespace", "is %q, but that of the turn is %q; send one of them", ragctx.Clip(in.Namespace),
			ragctx.Clip(given))
	}
	turn.Namespace = cmp.Or(turn.Namespace, in.Namespace)
	x, err := s.engine.Sessions().Extract(ctx, turn)
	return &extractOutput{x}, err
}

// Extract calls [engine.Sessions.Extract] on the server.
func (c *Client) Extract(ctx context.Context, t ragctx.Turn) (engine.Extraction, error) {
	var x engine.Extraction
	err := c.do(ctx, http.MethodPost, memoriesPath+":extract", nil, extractRequest{turnRequest(t)}, &x)
	return x, err
}
