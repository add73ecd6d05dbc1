package api

import (
	"encoding/json"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx/internal/access"
)

// A request that names no namespace means that of its key, where the key is for exactly
// one. It is written into the request, so that handlers need not know.

// atHome does it in the query string.
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

// bodyAtHome does it in a body that was checked.
func (s *Server) bodyAtHome(c echo.Context, op *huma.Operation, body []byte) []byte {
	g := access.From(c.Request().Context())
	schema := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
	if len(g.Namespaces) != 1 || schema == nil {
		return body
	}
	for _, name := range spaceNames {
		var fields map[string]json.RawMessage
		if schema.Properties[name] == nil || json.Unmarshal(body, &fields) != nil || !slices.Contains([]string{"", `""`, "null"}, string(fields[name])) {
			continue
		}
		fields[name], _ = json.Marshal(g.HomeNamespace()) // a string: cannot fail
		if with, err := json.Marshal(fields); err == nil {
			body = with
		}
	}
	return body
}

// spaceNames are what parameters and fields with a namespace are called; the second is mem0's.
var spaceNames = [...]string{"namespace", "project_id"}
