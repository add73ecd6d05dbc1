package api

import (
	"context"
	"net/http"

	"github.com/ragctx/ragctx/internal/ledger"
)

// Pack asks the server for the context of an agent.
func (c *Client) Pack(ctx context.Context, r PackRequest) (PackAnswer, error) {
	var out PackAnswer
	err := c.do(ctx, http.MethodPost, "/v1/packs", nil, r, &out)
	return out, err
}

// ClusterState calls [engine.Ledger.State] on the server.
func (c *Client) ClusterState(ctx context.Context, namespace, cluster string) (ledger.State, error) {
	var out clusterState
	var state ledger.State
	err := c.do(ctx, http.MethodGet, clusterAt(cluster, "/state"), in(namespace), nil, &out)
	if err == nil {
		err = state.UnmarshalJSON(out.State)
	}
	return state, err
}
