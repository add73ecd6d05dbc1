package api

import (
	"context"
	"net/http"

	"github.com/ragctx/ragctx/engine"
)

// Assemble asks the server to put a model call together.
func (c *Client) Assemble(ctx context.Context, r AssembleRequest) (AssembleAnswer, error) {
	var out AssembleAnswer
	err := c.do(ctx, http.MethodPost, "/v1/assemble", nil, r, &out)
	return out, err
}

// AssembleSession asks the server to put a model call of a session together.
func (c *Client) AssembleSession(ctx context.Context, k engine.SessionKey, r SessionAssembleRequest) (SessionAssembleAnswer, error) {
	var out SessionAssembleAnswer
	err := c.do(ctx, http.MethodPost, sessionAt(k)+"/assemble", ofUser(k), r, &out)
	return out, err
}
