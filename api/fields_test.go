package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// TestEverythingIsDescribed fails for a route, a parameter or a field that says nothing of itself,
// and for lines of fields.txt that nothing needs.
func TestEverythingIsDescribed(t *testing.T) {
	s := New(nil, Options{})
	doc := s.api.OpenAPI()
	for _, op := range operations(doc) {
		if op.Summary == "" || op.Description == "" || len(op.Tags) != 1 {
			t.Errorf("%s: needs a summary, a description and one tag", op.OperationID)
		}
		for _, p := range op.Parameters {
			if p.Description == "" {
				t.Errorf("%s: parameter %s has no doc tag, and no line in fields.txt", op.OperationID, p.Name)
			}
		}
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		for _, field := range slices.Sorted(maps.Keys(schemas[name].Properties)) {
			if schemas[name].Properties[field].Description == "" {
				t.Errorf("%s.%s has no doc tag, and no line in fields.txt", name, field)
			}
		}
	}
	docs := readFieldDocs()
	for _, line := range slices.Sorted(maps.Keys(docs)) {
		if !docs.needs(doc, line) {
			t.Errorf("fields.txt: %s describes nothing", line)
		}
	}
}

// needs reports whether a field or parameter of doc has the text of a line.
func (d fieldDocs) needs(doc *huma.OpenAPI, line string) bool {
	owner, field, _ := strings.Cut(line, ".")
	for _, op := range operations(doc) {
		for _, p := range op.Parameters {
			if owner == "?" && p.Name == field && p.Description == d[line] {
				return true
			}
		}
	}
	for name, schema := range doc.Components.Schemas.Map() {
		s := schema.Properties[field]
		if s != nil && (owner == name || owner == "*") && s.Description == d[line] {
			return true
		}
	}
	return false
}
