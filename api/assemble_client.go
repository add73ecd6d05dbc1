package api

import (
	"context"
	"net/http"
)

// Assemble asks the server to put a model call together.
func (c *Client) Assemble(ctx context.Context, r AssembleRequest) (AssembleAnswer, error) {
	var out AssembleAnswer
	err := c.do(ctx, http.MethodPost, "/v1/assemble", nil, r, &out)
	return out, err
}
