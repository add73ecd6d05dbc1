package api

import (
	"context"
	"net/http"
)

// Item returns what the id of an item of an answer cites.
func (c *Client) Item(ctx context.Context, namespace, id string) (Item, error) {
	var it Item
	return it, c.do(ctx, http.MethodGet, "/v1/items/"+escaped(id), in(namespace), nil, &it)
}
