package api

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/engine"
)

// odd draws values that are at the edge of being right, or past it.
func odd() *rapid.Generator[any] {
	return rapid.OneOf(jsonText(1), rapid.SampledFrom([]any{
		"", " ", "SKILL", "L2", "\u2028\ufffe", strings.Repeat("é", 400), -1, 0, 1, 1e308, 1 << 53, true,
		[]any{},
		map[string]any{},
		"9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00Z", "0000-01-01T00:00:00Z",
	}))
}

// value draws a value of a schema, or now and then an odd one.
func value(schemas huma.Registry, s *huma.Schema, depth int) *rapid.Generator[any] {
	for s != nil && s.Ref != "" {
		s = schemas.SchemaFromRef(s.Ref)
	}
	if s != nil && len(s.OneOf) > 0 {
		s = s.OneOf[1]
	}
	if s == nil || depth == 0 {
		return odd()
	}
	return rapid.Custom(func(t *rapid.T) any {
		if rapid.IntRange(0, 24).Draw(t, "odd") == 0 {
			return odd().Draw(t, "value")
		}
		return proper(t, schemas, s, depth)
	})
}

// proper draws a value that keeps the schema.
func proper(t *rapid.T, schemas huma.Registry, s *huma.Schema, depth int) any {
	switch s.Type {
	case huma.TypeObject:
		if len(s.Properties) == 0 {
			values, _ := s.AdditionalProperties.(*huma.Schema)
			return rapid.MapOfN(rapid.String(), value(schemas, values, depth-1), 0, 3).Draw(t, "map")
		}
		m := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if slices.Contains(s.Required, name) || rapid.IntRange(0, 3).Draw(t, "use "+name) == 0 {
				m[name] = value(schemas, s.Properties[name], depth-1).Draw(t, name)
			}
		}
		return m
	case huma.TypeArray:
		return rapid.SliceOfN(value(schemas, s.Items, depth-1), 0, 3).Draw(t, "array")
	case huma.TypeBoolean:
		return rapid.Bool().Draw(t, "bool")
	case huma.TypeNumber:
		return rapid.Float64Range(0, 1).Draw(t, "number")
	case huma.TypeInteger:
		return rapid.IntRange(1, 1000).Draw(t, "integer")
	case huma.TypeString:
		return text(t, s)
	}
	return odd().Draw(t, "anything")
}

func text(t *rapid.T, s *huma.Schema) any {
	if names, ok := s.Extensions["enum"].([]string); ok {
		return rapid.SampledFrom(names).Draw(t, "name")
	}
	switch {
	case len(s.Enum) > 0:
		return rapid.SampledFrom(s.Enum).Draw(t, "name")
	case s.Format == "date-time":
		return time.Unix(rapid.Int64Range(-62135596800, 253402300799).Draw(t, "time"), 0).UTC()
	case s.ContentEncoding == "base64":
		return rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
	}
	return rapid.StringN(1, 40, 100).Draw(t, "text")
}

// TestNoServerErrors sends all sorts of values: each is accepted or refused
// with a problem that names the field, and none is the server's fault.
func TestNoServerErrors(t *testing.T) {
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s := New(eng, Options{})
	schemas := s.api.OpenAPI().Components.Schemas
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.SampledFrom(bodyRoutes).Draw(t, "route")
		item := s.api.OpenAPI().Paths[strings.Replace(r.path, "documents/a", "documents/{id}", 1)]
		op := item.Post
		if r.method == "PUT" {
			op = item.Put
		}
		body, err := json.Marshal(value(schemas, op.RequestBody.Content[jsonType].Schema, 4).Draw(t, "body"))
		if err != nil {
			t.Skip(err)
		}
		req := httptest.NewRequest(r.method, r.path, strings.NewReader(string(body)))
		req.Host = "localhost"
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		var p Problem
		switch {
		case w.Code >= 500:
			t.Fatalf("%s %s: %d %s", r.path, body, w.Code, w.Body)
		case w.Code >= 400 && (json.Unmarshal(w.Body.Bytes(), &p) != nil || w.Code != 409 && len(p.Errors) == 0):
			t.Fatalf("%s %s: %d without the field: %s", r.path, body, w.Code, w.Body)
		case w.Code < 300 && !json.Valid(w.Body.Bytes()):
			t.Fatalf("%s %s: %d %s", r.path, body, w.Code, w.Body)
		}
	})
}
