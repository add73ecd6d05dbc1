package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
)

// health is the answer of the health checks.
type health struct {
	Status string `json:"status" enum:"ok"`
}

type healthOutput struct{ Body health }

func (s *Server) systemRoutes() {
	tags := []string{administrationGroup}
	register(s, huma.Operation{
		OperationID: "healthz", Method: http.MethodGet, Path: "/healthz", Tags: tags, Summary: "Check that the process runs",
		Description: "Checks nothing else; see /readyz.",
	}, func(context.Context, *struct{}) (*healthOutput, error) {
		return &healthOutput{health{"ok"}}, nil
	})
	register(s, huma.Operation{
		OperationID: "readyz", Method: http.MethodGet, Path: "/readyz", Tags: tags,
		Summary:     "Check that the server can answer",
		Description: "503 with the reason if the store does not answer, is read-only, or is damaged.",
	}, s.ready)
	register(s, huma.Operation{
		OperationID: "status", Method: http.MethodGet, Path: "/v1/status", Tags: tags,
		Summary: "Get the status of the server",
		Description: "Returns sizes, counts, jobs, the embedder, and known problems. For a check of the data " +
			"itself, see the doctor routes.",
	}, s.status)
}

// Status is the status of the server.
type Status struct {
	Version string `json:"version"`
	engine.Status
}

type statusOutput struct{ Body Status }

func (s *Server) status(ctx context.Context, _ *struct{}) (*statusOutput, error) {
	st, err := s.engine.Admin().Status(ctx)
	return &statusOutput{Status{s.opts.Version, st}}, err
}

// Status returns the status of the server.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var st Status
	err := c.do(ctx, http.MethodGet, "/v1/status", nil, nil, &st)
	return st, err
}

// Readyz reports whether the server can answer.
func (c *Client) Readyz(ctx context.Context) error {
	return c.do(ctx, http.MethodGet, "/readyz", nil, nil, nil)
}

func (s *Server) ready(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	if err := s.engine.Admin().Ready(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ragctx.ErrUnavailable, err)
	}
	return &healthOutput{health{"ok"}}, nil
}
