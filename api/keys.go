package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
)

const keysPath = "/v1/keys"

// keyRequest describes a new API key.
type keyRequest struct {
	Name       string    `json:"name" minLength:"1" maxLength:"200" doc:"purpose of the key" example:"billing agent"`
	Role       string    `json:"role" enum:"read,write,admin"`
	Namespaces []string  `json:"namespaces,omitempty" maxItems:"100"`
	UserID     string    `json:"user_id,omitempty" maxLength:"512"`
	Expires    time.Time `json:"expires,omitzero" doc:"time after which the key is invalid; default is never"`
}

// keyPage is a page of API keys.
type keyPage struct {
	Keys       []access.Key `json:"keys" nullable:"false" doc:"oldest first, without secrets"`
	NextCursor string       `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type keyInput struct{ Body keyRequest }

type newKeyOutput struct{ Body engine.NewKey }

type keyID struct {
	ID string `path:"id" maxLength:"64" doc:"key id"`
}

type keyOutput struct{ Body access.Key }

type keyList struct {
	Page
}

type keyPageOutput struct{ Body keyPage }

type keyCursor struct {
	ID string `json:"id"`
}

func (s *Server) keyRoutes() {
	tags := []string{administrationGroup}
	register(s, huma.Operation{
		OperationID: "create-key", Method: http.MethodPost, Path: keysPath, Tags: tags, Summary: "Create an API key",
		Description: "Returns the key, only this once: the server stores its SHA-256. As soon as one key exists, " +
			"every request needs a key, so the first one must be for an admin of all namespaces. For admins of " +
			"all namespaces.",
		DefaultStatus: http.StatusCreated,
	}, s.createKey)
	register(s, huma.Operation{
		OperationID: "list-keys", Method: http.MethodGet, Path: keysPath, Tags: tags, Summary: "List API keys",
		Description: "Includes expired keys, and revoked ones for 90 days. For admins of all namespaces.",
	}, s.listKeys)
	register(s, huma.Operation{
		OperationID: "revoke-key", Method: http.MethodPost, Path: verbPath(keysPath, "revoke"), Tags: tags, Summary: "Revoke an API key",
		Description: "Revokes a key permanently, with immediate effect. The key stays listed for 90 days. Revoking it " +
			"again changes nothing. For admins of all namespaces.",
	}, func(ctx context.Context, in *keyID) (*keyOutput, error) {
		k, err := s.engine.Keys().Revoke(ctx, in.ID)
		return &keyOutput{k}, err
	})
}

func (s *Server) createKey(ctx context.Context, in *keyInput) (*newKeyOutput, error) {
	r := in.Body
	role, err := access.ParseRole(r.Role)
	if err != nil {
		return nil, err
	}
	key := access.Key{Name: r.Name, Role: role, Namespaces: r.Namespaces, User: r.UserID, Expires: r.Expires}
	if !s.engine.Keys().Needed() {
		if err := key.CheckFirst(); err != nil {
			return nil, err
		}
	}
	k, err := s.engine.Keys().Create(ctx, key)
	return &newKeyOutput{k}, err
}

func (s *Server) listKeys(ctx context.Context, in *keyList) (*keyPageOutput, error) {
	c, err := decodeCursor[keyCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	keys, err := s.engine.Keys().List(ctx, c.ID, in.Limit+1)
	if err != nil {
		return nil, err
	}
	keys, next := pageOf(in.Page, keys, func(k access.Key) keyCursor { return keyCursor{k.ID} })
	return &keyPageOutput{keyPage{keys, next}}, nil
}

// CreateKey calls [engine.Keys.Create] on the server.
func (c *Client) CreateKey(ctx context.Context, k access.Key) (engine.NewKey, error) {
	var made engine.NewKey
	err := c.do(ctx, http.MethodPost, keysPath, nil, keyRequest{
		k.Name, k.Role.String(), k.Namespaces, k.User,
		k.Expires,
	}, &made)
	return made, err
}

// Keys calls [engine.Keys.List] on the server.
func (c *Client) Keys(ctx context.Context, after string, limit int) ([]access.Key, error) {
	q := make(url.Values)
	setPage(q, keysPath, limit, keyCursor{after})
	var page keyPage
	err := c.do(ctx, http.MethodGet, keysPath, q, nil, &page)
	return page.Keys, err
}

// RevokeKey calls [engine.Keys.Revoke] on the server.
func (c *Client) RevokeKey(ctx context.Context, id string) (access.Key, error) {
	var k access.Key
	err := c.do(ctx, http.MethodPost, keysPath+"/"+escaped(id)+":revoke", nil, nil, &k)
	return k, err
}
