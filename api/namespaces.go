package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

const namespacesPath = "/v1/namespaces"

// namespaceRequest creates a namespace with quotas.
type namespaceRequest struct {
	Name   string       `json:"name" minLength:"1" maxLength:"512" doc:"name used in requests" example:"billing"`
	Quotas store.Quotas `json:"quotas,omitzero" doc:"limits; default is unlimited"`
}

// namespacePage is a page of namespaces.
type namespacePage struct {
	Namespaces []string          `json:"namespaces" nullable:"false" doc:"names in order"`
	Details    []store.Namespace `json:"details" nullable:"false"`
	Role       access.Role       `json:"role" enum:"read,write,admin"`
	NextCursor string            `json:"next_cursor,omitempty" doc:"cursor of the next page; absent on the last page"`
}

type namespaceList struct {
	Page
}

// NamespaceKey is the parameter that names a namespace. It is exported because huma ignores
// unexported embedded types.
type NamespaceKey struct {
	Name string `path:"name" maxLength:"512" doc:"name of the namespace"`
}

type namespaceInput struct{ Body namespaceRequest }

type quotasInput struct {
	NamespaceKey
	Body store.Quotas
}

type namespaceDelete struct {
	NamespaceKey
	Erasable
}

type namespaceOutput struct{ Body store.Namespace }

type namespacePageOutput struct{ Body namespacePage }

type namespaceCursor struct {
	Name string `json:"name"`
}

func (s *Server) namespaceRoutes() {
	tags := []string{administrationGroup}
	one := namespacesPath + "/{name}"
	register(s, huma.Operation{
		OperationID: "list-namespaces", Method: http.MethodGet, Path: namespacesPath, Tags: tags, Summary: "List namespaces",
		Description: "Lists the accessible namespaces that were created explicitly or hold data.",
	}, s.listNamespaces)
	register(s, huma.Operation{
		OperationID: "create-namespace", Method: http.MethodPost, Path: namespacesPath, Tags: tags,
		Summary: "Create a namespace",
		Description: "Storing into a new namespace creates it as well, without quotas. A request that would " +
			"exceed a quota is 403 with the code `quota_exceeded`. An existing namespace is 409. For admins of " +
			"all namespaces.",
		DefaultStatus: http.StatusCreated,
	}, func(ctx context.Context, in *namespaceInput) (*namespaceOutput, error) {
		n, err := s.engine.Admin().CreateNamespace(ctx, in.Body.Name, in.Body.Quotas)
		return &namespaceOutput{n}, err
	})
	register(s, huma.Operation{
		OperationID: "get-namespace", Method: http.MethodGet, Path: one, Tags: tags, Summary: "Get a namespace",
		Description: "Returns the quotas and usage of a namespace. Replaced and deleted versions do not count.",
	}, func(ctx context.Context, in *NamespaceKey) (*namespaceOutput, error) {
		n, err := s.engine.Admin().Namespace(ctx, in.Name)
		return &namespaceOutput{n}, err
	})
	register(s, huma.Operation{
		OperationID: "put-quotas", Method: http.MethodPut, Path: verbPathOf(namespacesPath, "quotas", "name"), Tags: tags,
		Summary: "Change the quotas of a namespace",
		Description: "Replaces all quotas; an absent one is unlimited. Existing data beyond a quota stays, and " +
			"may be replaced by data of the same size or smaller. For admins of all namespaces.",
	}, func(ctx context.Context, in *quotasInput) (*namespaceOutput, error) {
		n, err := s.engine.Admin().SetQuotas(ctx, in.Name, in.Body)
		return &namespaceOutput{n}, err
	})
	register(s, huma.Operation{
		OperationID: "erase-namespace", Method: http.MethodDelete, Path: one, Tags: tags, Summary: "Erase a namespace",
		Description: "Permanently removes a namespace with its documents, memories, turns, ledgers, procedures " +
			"and jobs, from the database and from the index files. It disappears at once; concurrent writes into " +
			"it are 409. A later write under the same name creates a new namespace without quotas. Requires " +
			"erase=true. For admins of all namespaces.",
	}, func(ctx context.Context, in *namespaceDelete) (*erasedOutput, error) {
		if err := in.confirmed(); err != nil {
			return nil, err
		}
		erased, err := s.engine.Admin().EraseNamespace(ctx, in.Name)
		return &erasedOutput{erased}, err
	})
}

func (s *Server) listNamespaces(ctx context.Context, in *namespaceList) (*namespacePageOutput, error) {
	c, err := decodeCursor[namespaceCursor](in.Cursor, in.list)
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Admin().Namespaces(ctx, c.Name, in.Limit+1)
	if err != nil {
		return nil, err
	}
	found, next := pageOf(in.Page, found, func(n store.Namespace) namespaceCursor { return namespaceCursor{n.Name} })
	page := namespacePage{Details: found, Namespaces: []string{}, Role: access.From(ctx).Role, NextCursor: next}
	for _, n := range found {
		page.Namespaces = append(page.Namespaces, n.Name)
	}
	return &namespacePageOutput{page}, nil
}

// CreateNamespace calls [engine.Admin.CreateNamespace] on the server.
func (c *Client) CreateNamespace(ctx context.Context, name string, q store.Quotas) (n store.Namespace, err error) {
	err = c.do(ctx, http.MethodPost, namespacesPath, nil, namespaceRequest{name, q}, &n)
	return n, err
}

// SetQuotas calls [engine.Admin.SetQuotas] on the server.
func (c *Client) SetQuotas(ctx context.Context, name string, q store.Quotas) (n store.Namespace, err error) {
	err = c.do(ctx, http.MethodPut, namespacePath(name)+"/quotas", nil, q, &n)
	return n, err
}

// DescribeNamespace calls [engine.Admin.Namespace] on the server.
func (c *Client) DescribeNamespace(ctx context.Context, name string) (n store.Namespace, err error) {
	err = c.do(ctx, http.MethodGet, namespacePath(name), nil, nil, &n)
	return n, err
}

// ListNamespaces calls [engine.Admin.Namespaces] on the server.
func (c *Client) ListNamespaces(ctx context.Context, after string, limit int) ([]store.Namespace, error) {
	q := make(url.Values)
	setPage(q, namespacesPath, limit, namespaceCursor{after})
	var page namespacePage
	err := c.do(ctx, http.MethodGet, namespacesPath, q, nil, &page)
	return page.Details, err
}

// EraseNamespace calls [engine.Admin.EraseNamespace] on the server.
func (c *Client) EraseNamespace(ctx context.Context, name string) (e store.Erased, err error) {
	err = c.do(ctx, http.MethodDelete, namespacePath(name), url.Values{"erase": {"true"}}, nil, &e)
	return e, err
}

func namespacePath(name string) string { return namespacesPath + "/" + url.PathEscape(name) }
