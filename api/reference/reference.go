// Package reference converts an OpenAPI document into Markdown pages: one per tag, one with the
// schemas, and an index of the routes.
package reference

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schemasPage lists the schemas that routes refer to.
const schemasPage = "schemas.md"

// methods are in the order of the pages.
var methods = [...]string{"get", "post", "put", "patch", "delete"}

type document struct {
	Info       struct{ Description string }
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []parameter
	RequestBody          struct{ Content map[string]media }
	Responses            map[string]response
	Samples              []struct{ Source string } `json:"x-codeSamples"`
}

type parameter struct {
	Name, In, Description string
	Required              bool
	Schema                schema
}

type response struct{ Content map[string]media }

type media struct {
	Schema  schema
	Example json.RawMessage
}

// route is an operation with its method and path.
type route struct {
	operation

	method, path string
}

func (r route) name() string { return strings.ToUpper(r.method) + " " + r.path }

// Pages returns the pages of an OpenAPI document in JSON, by file name.
func Pages(openAPI []byte) (map[string][]byte, error) {
	var doc document
	if err := json.Unmarshal(openAPI, &doc); err != nil {
		return nil, fmt.Errorf("read OpenAPI document: %w", err)
	}
	byTag := make(map[string][]route)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range methods {
			if op, ok := doc.Paths[path][method]; ok {
				tag := cmp.Or(strings.Join(op.Tags, "-"), "other")
				byTag[tag] = append(byTag[tag], route{op, method, path})
			}
		}
	}
	pages := map[string][]byte{
		"README.md": index(doc, byTag),
		schemasPage: schemas(doc.Components.Schemas),
	}
	for tag, routes := range byTag {
		pages[tag+".md"] = page(tag, routes)
	}
	return pages, nil
}

// index returns the list of all routes.
func index(doc document, byTag map[string][]route) []byte {
	var w writer
	w.line("# Reference of the REST API")
	w.line("Generated from [the OpenAPI document](../rest.md) by `ragctx openapi --markdown`; do not edit. %s", doc.Info.Description)
	for _, tag := range doc.Tags {
		w.line("## %s", tag.Name)
		w.line("%s", tag.Description)
		w.table("route", "")
		for _, r := range byTag[tag.Name] {
			w.row(fmt.Sprintf("[`%s`](%s.md#%s)", r.name(), tag.Name, anchor(r.name())), r.Summary)
		}
	}
	w.line("[Schemas](%s) lists the objects of requests and answers.", schemasPage)
	return w.Bytes()
}

// page returns the page of a tag.
func page(tag string, routes []route) []byte {
	var w writer
	w.line("# %s", tag)
	for _, r := range routes {
		w.route(r)
	}
	return w.Bytes()
}

// anchor returns the link target of a heading, as GitHub generates it.
func anchor(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == ' ':
			return '-'
		case c == '-' || c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			return c
		}
		return -1
	}, strings.ToLower(heading))
}

// writer writes Markdown.
type writer struct{ bytes.Buffer }

// line writes a separate block.
func (w *writer) line(format string, args ...any) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *writer) table(columns ...string) {
	w.line("%s", "| "+strings.Join(columns, " | ")+" |")
	w.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
}

// row adds a row to the table above, with cells escaped.
func (w *writer) row(cells ...string) {
	for i, c := range cells {
		cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(c)
	}
	w.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// code writes an indented code block, which no content can end.
func (w *writer) code(text string) {
	w.line("%s", "    "+strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
}
