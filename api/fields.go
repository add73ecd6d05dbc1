package api

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

//go:embed fields.txt
var fieldsText string

// fieldDocs are the descriptions of fields without a doc tag. The head of fields.txt explains the
// format.
type fieldDocs map[string]string

func readFieldDocs() fieldDocs {
	d := make(fieldDocs)
	for line := range strings.Lines(fieldsText) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && line[0] != '#' {
			d[name] = text
		}
	}
	return d
}

// of returns the description of an owner's field, or "".
func (d fieldDocs) of(owner, field string) string {
	return cmp.Or(d[owner+"."+field], d["*."+field])
}

// describe adds descriptions to all fields and parameters of doc that have none.
func (d fieldDocs) describe(doc *huma.OpenAPI) {
	for name, schema := range doc.Components.Schemas.Map() {
		for field, s := range schema.Properties {
			if s.Description == "" {
				s.Description = d.of(name, field)
			}
		}
	}
	for _, op := range operations(doc) {
		for _, p := range op.Parameters {
			if p.Description == "" {
				p.Description = d["?."+p.Name]
			}
		}
	}
}

// operations returns the operations of doc in order of the paths.
func operations(doc *huma.OpenAPI) (all []*huma.Operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		p := doc.Paths[path]
		for _, op := range [...]*huma.Operation{p.Get, p.Put, p.Post, p.Patch, p.Delete} {
			if op != nil {
				all = append(all, op)
			}
		}
	}
	return all
}
