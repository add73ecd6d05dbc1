package api

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is a page of the documentation, or a part of it.
func page(t *testing.T, path, from, to string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(b), from)
	text, _, ended := strings.Cut(text, to)
	if !found || !ended {
		t.Fatalf("%s has no part between %q and %q", path, from, to)
	}
	return text
}

var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestRoutesPage compares the table of docs/rest.md with the routes that there are. What
// ends with … in it stands for all below.
func TestRoutesPage(t *testing.T) {
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(OpenAPI("test"), &doc); err != nil {
		t.Fatal(err)
	}
	listed, below := routesOf(page(t, "../docs/rest.md", "| route | what |\n|---|---|\n", "\n\n"))
	for path, methods := range doc.Paths {
		if slices.ContainsFunc(below, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		for method := range methods {
			route := strings.ToUpper(method) + " " + path
			if !listed[route] {
				t.Errorf("docs/rest.md does not list %s", route)
			}
			delete(listed, route)
		}
	}
	for route := range listed {
		t.Errorf("docs/rest.md lists %s, which does not exist", route)
	}
}

// routesOf reads the first column of a table: `GET /a`, `POST`, `PUT /b` are three routes.
func routesOf(table string) (listed map[string]bool, below []string) {
	listed = make(map[string]bool)
	for row := range strings.Lines(table) {
		var methods []string
		for _, span := range codeSpan.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			method, path, whole := strings.Cut(span[1], " ")
			if prefix, all := strings.CutSuffix(method, "…"); all {
				below = append(below, prefix)
				continue
			}
			methods = append(methods, method)
			if whole {
				for _, m := range methods {
					listed[m+" "+path] = true
				}
				methods = nil
			}
		}
	}
	return listed, below
}

// TestQueryFieldsPage: docs/rest-context.md says what each field of a query means.
func TestQueryFieldsPage(t *testing.T) {
	f := start(t, Options{})
	table := page(t, "../docs/rest-context.md", "## POST /v1/context\n", "The answer:")
	for name := range f.api.OpenAPI().Components.Schemas.Map()["ContextRequest"].Properties {
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("docs/rest-context.md does not say what %s means", name)
		}
	}
}

// headless is the beginning of a description that names no subject.
var headless = regexp.MustCompile(`(?i)^(?:what|who|whoever|whatever)\b`)

// TestPlainDescriptions: the descriptions of the OpenAPI document name their subjects in sentences of at most 28
// words.
func TestPlainDescriptions(t *testing.T) {
	var doc any
	if err := json.Unmarshal(OpenAPI("test"), &doc); err != nil {
		t.Fatal(err)
	}
	ends := regexp.MustCompile(`[.!?:;]\s+`)
	found := 0
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for name, e := range v {
				text, ok := e.(string)
				if !ok || name != "description" && name != "summary" {
					walk(e)
					continue
				}
				found++
				if headless.MatchString(text) {
					t.Errorf("%q; name the subject", text)
				}
				for _, s := range ends.Split(text, -1) {
					if n := len(strings.Fields(s)); n > 28 {
						t.Errorf("a sentence of %d words: %s", n, s)
					}
				}
			}
		}
	}
	walk(doc)
	if found < 1000 {
		t.Errorf("only %d descriptions", found)
	}
}
