package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/session"
)

func keptAt(k session.Key) string { return sessionsRoot + "/" + escaped(k.ID) }

func ofKept(k session.Key) url.Values {
	q := in(k.Namespace)
	set(q, "user_id", k.User)
	return q
}

// CreateSession creates a session.
func (c *Client) CreateSession(ctx context.Context, r SessionRequest) (Session, error) {
	return c.session(ctx, http.MethodPost, sessionsRoot, nil, r)
}

// ListSessions returns a page of the sessions of a user; "" are those without a user.
func (c *Client) ListSessions(ctx context.Context, namespace, user, cursor string, limit int) (page SessionPage, err error) {
	q := ofKept(session.Key{Namespace: namespace, User: user})
	set(q, "cursor", cursor)
	if limit != 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	err = c.do(ctx, http.MethodGet, sessionsRoot, q, nil, &page)
	return page, err
}

// DescribeSession returns the description of a session.
func (c *Client) DescribeSession(ctx context.Context, k session.Key) (Session, error) {
	return c.session(ctx, http.MethodGet, keptAt(k), ofKept(k), nil)
}

// ChangeSession changes the layer and the parameters of a session.
func (c *Client) ChangeSession(ctx context.Context, k session.Key, p SessionPatch) (Session, error) {
	return c.session(ctx, http.MethodPatch, keptAt(k), ofKept(k), p)
}

// PutSection replaces the messages of a section of a session.
func (c *Client) PutSection(ctx context.Context, k session.Key, section string, said Said) (Session, error) {
	return c.session(ctx, http.MethodPut, keptAt(k)+"/sections/"+escaped(section), ofKept(k), said)
}

// DeleteSection removes a section of a session.
func (c *Client) DeleteSection(ctx context.Context, k session.Key, section string) error {
	return c.do(ctx, http.MethodDelete, keptAt(k)+"/sections/"+escaped(section), ofKept(k), nil, nil)
}

// ForkSession creates a session from a branch of another, up to a message or its leaf.
func (c *Client) ForkSession(ctx context.Context, k session.Key, r ForkRequest) (Session, error) {
	return c.session(ctx, http.MethodPost, keptAt(k)+":fork", ofKept(k), r)
}

// NavigateSession moves the leaf of a session to a message; "" is before the first one.
func (c *Client) NavigateSession(ctx context.Context, k session.Key, message string) (Session, error) {
	return c.session(ctx, http.MethodPost, keptAt(k)+":navigate", ofKept(k), navigateRequest{message})
}

// EraseSession erases a session of a user; "" erases those of all users.
func (c *Client) EraseSession(ctx context.Context, k session.Key) (erased store.Erased, err error) {
	q := ofKept(k)
	q.Set("erase", "true")
	err = c.do(ctx, http.MethodDelete, keptAt(k), q, nil, &erased)
	return erased, err
}

func (c *Client) session(ctx context.Context, method, path string, q url.Values, body any) (out Session, err error) {
	err = c.do(ctx, method, path, q, body, &out)
	return out, err
}
