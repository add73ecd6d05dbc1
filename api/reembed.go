package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
)

// reembedRequest requests a change of the embedder.
type reembedRequest struct {
	Embedder string `json:"embedder" minLength:"1" maxLength:"512" example:"hashing/512"`
}

type reembedInput struct{ Body reembedRequest }

func (s *Server) reembedRoutes() {
	register(s, huma.Operation{
		OperationID: "reembed", Method: http.MethodPost, Path: "/v1/reembed", Tags: []string{administrationGroup},
		Summary: "Change the embedder",
		Description: "Starts a job that embeds all texts of the data directory again. The existing vectors serve " +
			"queries until all indexes switch over at once. 409 if the embedder is already in use, or another " +
			"change is in progress.",
		DefaultStatus: http.StatusAccepted,
	}, func(ctx context.Context, in *reembedInput) (*jobOutput, error) {
		with, err := s.engine.Indexes().EmbedderNamed(in.Body.Embedder)
		if err != nil {
			return nil, err
		}
		j, err := s.engine.Indexes().Reembed(ctx, with)
		return &jobOutput{j}, err
	})
}

// ReembedAs starts the change of the data directory to a built-in embedder, or to the configured
// service (see [engine.RemoteName]).
func (c *Client) ReembedAs(ctx context.Context, embedder string) (engine.Job, error) {
	var j engine.Job
	err := c.do(ctx, http.MethodPost, "/v1/reembed", nil, reembedRequest{embedder}, &j)
	return j, err
}
