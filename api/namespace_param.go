package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// The namespace of a request is a query parameter. Routes whose handlers read it from the body take
// both. A request without one uses the namespace of its key, if the key has exactly one. Both are
// written into the request, so that handlers need not know.

// hasNamespace reports whether a body has the field namespace.
func hasNamespace(body reflect.Type) bool {
	if body.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(body), func(f reflect.StructField) bool {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name == namespaceField
	})
}

// describeNamespace adds the query parameter of an operation whose body has the namespace.
func describeNamespace(op *huma.Operation) {
	limit := ragctx.MaxNameBytes
	op.Parameters = append(op.Parameters, &huma.Param{
		Name: namespaceField, In: "query", Example: ragctx.DefaultNamespace,
		Description: "namespace; default is \"default\". It may be in the body instead",
		Schema:      &huma.Schema{Type: huma.TypeString, MaxLength: &limit},
	})
}

// defaultNamespaceInQuery adds the namespace of the key to the query string.
func (s *Server) defaultNamespaceInQuery(c echo.Context, op *huma.Operation) {
	g := access.From(c.Request().Context())
	if len(g.Namespaces) != 1 {
		return
	}
	q := c.QueryParams()
	for _, name := range namespaceFields {
		if takes(op, name) && q.Get(name) == "" && !s.bodyHas(op, name) {
			q.Set(name, g.HomeNamespace())
			c.Request().URL.RawQuery = q.Encode()
		}
	}
}

// bodyHas reports whether the JSON body of an operation has a field.
func (s *Server) bodyHas(op *huma.Operation, field string) bool {
	if op.RequestBody == nil || op.RequestBody.Content[jsonType] == nil {
		return false
	}
	schema := s.api.OpenAPI().Components.Schemas.SchemaFromRef(op.RequestBody.Content[jsonType].Schema.Ref)
	return schema != nil && schema.Properties[field] != nil
}

// namespaceInBody adds the namespace of the query string, or of the key, to a checked body.
func (s *Server) namespaceInBody(c echo.Context, op *huma.Operation, body []byte) ([]byte, *Problem) {
	home := ""
	if g := access.From(c.Request().Context()); len(g.Namespaces) == 1 {
		home = g.HomeNamespace()
	}
	for _, name := range namespaceFields {
		asked := c.QueryParam(name)
		value := cmp.Or(asked, home)
		var fields map[string]json.RawMessage
		if value == "" || !s.bodyHas(op, name) || json.Unmarshal(body, &fields) != nil {
			continue
		}
		var given string
		if _ = json.Unmarshal(fields[name], &given); given != "" {
			if asked != "" && given != asked {
				return nil, invalid(Fault{
					Location: "query." + name,
					Message:  fmt.Sprintf("is %q, but body.%s is %q; send one of them", ragctx.Clip(asked), name, ragctx.Clip(given)),
				})
			}
			continue
		}
		fields[name], _ = json.Marshal(value) // a string: cannot fail
		if with, err := json.Marshal(fields); err == nil {
			body = with
		}
	}
	return body, nil
}

// namespaceField is the name of namespaces in queries and bodies.
const namespaceField = "namespace"

// namespaceFields are the names of namespace parameters and fields; the second is mem0's.
var namespaceFields = [...]string{namespaceField, "project_id"}
