package api

import (
	"context"
	"net/http"

	"github.com/ragctx/ragctx/session"
)

// Assemble asks the server to put a model call together.
func (c *Client) Assemble(ctx context.Context, r AssembleRequest) (AssembleAnswer, error) {
	var out AssembleAnswer
	err := c.do(ctx, http.MethodPost, "/v1/assemble", nil, r, &out)
	return out, err
}

// AssembleSession asks the server to put a model call of a session together.
func (c *Client) AssembleSession(ctx context.Context, k session.Key, r SessionAssembleRequest) (out SessionAssembleAnswer, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+":assemble", ofKept(k), r, &out)
	return out, err
}
