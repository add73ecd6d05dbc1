package api

import (
	"context"
	"net/http"
)

// Item returns the text that the id of an item of an answer cites.
func (c *Client) Item(ctx context.Context, namespace, id string) (Item, error) {
	return c.LedgerItem(ctx, namespace, "", id)
}

// LedgerItem returns a message of a cluster, or its state, by the id of its item: of a
// message that several clusters have, this one's copy.
func (c *Client) LedgerItem(ctx context.Context, namespace, cluster, id string) (Item, error) {
	query := in(namespace)
	set(query, "cluster", cluster)
	var it Item
	return it, c.do(ctx, http.MethodGet, "/v1/items/"+escaped(id), query, nil, &it)
}
