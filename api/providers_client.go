package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/ragctx/ragctx/engine"
)

// ListProviders calls [engine.Admin.Providers] on the server.
func (c *Client) ListProviders(ctx context.Context) ([]engine.ProviderInfo, error) {
	var list providerList
	err := c.do(ctx, http.MethodGet, "/v1/providers", nil, nil, &list)
	return list.Providers, err
}

// SessionProviders calls [engine.Sessions.Providers] on the server.
func (c *Client) SessionProviders(ctx context.Context, k engine.SessionKey) ([]engine.SessionProvider, error) {
	var list sessionProviderList
	err := c.do(ctx, http.MethodGet, sessionAt(k)+"/providers", ofUser(k), nil, &list)
	return list.Providers, err
}

// UseProvider calls [engine.Sessions.UseProvider] on the server.
func (c *Client) UseProvider(ctx context.Context, k engine.SessionKey, name string) (bool, error) {
	var a providerAdded
	err := c.do(ctx, http.MethodPut, sessionAt(k)+"/providers/"+escaped(name), ofUser(k), nil, &a)
	return a.Added, err
}

// RemoveProvider removes a provider from a session. If the session does not have it, the error is
// [ragctx.ErrNotFound].
func (c *Client) RemoveProvider(ctx context.Context, k engine.SessionKey, name string) error {
	return c.do(ctx, http.MethodDelete, sessionAt(k)+"/providers/"+escaped(name), ofUser(k), nil, nil)
}

func sessionAt(k engine.SessionKey) string { return sessionsRoot + "/" + escaped(k.SessionID) }

func ofUser(k engine.SessionKey) url.Values {
	q := in(k.Namespace)
	set(q, "user_id", k.UserID)
	return q
}
