package api

import (
	"encoding/json"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/access"
)

// A request without a namespace uses that of its key, if the key has exactly one. It is written
// into the request, so that handlers need not know.

// defaultNamespaceInQuery adds the namespace to the query string.
func defaultNamespaceInQuery(c echo.Context, op *huma.Operation) {
	g := access.From(c.Request().Context())
	if len(g.Namespaces) != 1 {
		return
	}
	q := c.QueryParams()
	for _, name := range namespaceFields {
		if takes(op, name) && q.Get(name) == "" {
			q.Set(name, g.HomeNamespace())
			c.Request().URL.RawQuery = q.Encode()
		}
	}
}

// defaultNamespaceInBody adds the namespace to a checked body.
func (s *Server) defaultNamespaceInBody(c echo.Context, op *huma.Operation, body []byte) []byte {
	g := access.From(c.Request().Context())
	schema := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
	if len(g.Namespaces) != 1 || schema == nil {
		return body
	}
	for _, name := range namespaceFields {
		var fields map[string]json.RawMessage
		if schema.Properties[name] == nil || json.Unmarshal(body, &fields) != nil || !slices.Contains([]string{
			"", `""`,
			"null",
		}, string(fields[name])) {
			continue
		}
		fields[name], _ = json.Marshal(g.HomeNamespace()) // a string: cannot fail
		if with, err := json.Marshal(fields); err == nil {
			body = with
		}
	}
	return body
}

// namespaceFields are the names of namespace parameters and fields; the second is mem0's.
var namespaceFields = [...]string{"namespace", "project_id"}
