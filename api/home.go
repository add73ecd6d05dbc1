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

// atHome adds the namespace to the query string.
func atHome(c echo.Context, op *huma.Operation) {
	g := access.From(c.Request().Context())
	if len(g.Namespaces) != 1 {
		return
	}
	q := c.QueryParams()
	for _, name := range spaceNames {
		if takes(op, name) && q.Get(name) == "" {
			q.Set(name, g.HomeNamespace())
			c.Request().URL.RawQuery = q.Encode()
		}
	}
}

// bodyAtHome adds the namespace to a checked body.
func (s *Server) bodyAtHome(c echo.Context, op *huma.Operation, body []byte) []byte {
	g := access.From(c.Request().Context())
	schema := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
	if len(g.Namespaces) != 1 || schema == nil {
		return body
	}
	for _, name := range spaceNames {
		var fields map[string]json.RawMessage
		if schema.Properties[name] == nil || json.Unmarshal(body, &fields) != nil || !slices.Contains([]string{"", `""`,
			"null"}, string(fields[name])) {
			continue
		}
		fields[name], _ = json.Marshal(g.HomeNamespace()) // a string: cannot fail
		if with, err := json.Marshal(fields); err == nil {
			body = with
		}
	}
	return body
}

// spaceNames are the names of namespace parameters and fields; the second is mem0's.
var spaceNames = [...]string{"namespace", "project_id"}
