package web_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/api"
)

// TestPagesReadFieldsThatRESTHas reads the sources of the pages. Every struct that a page decodes must have only
// fields that the OpenAPI document has for the answer of that route, with the same kind of value. So a renamed field
// fails here and does not leave an empty cell.
func TestPagesReadFieldsThatRESTHas(t *testing.T) {
	var doc openAPI
	if err := json.Unmarshal([]byte(start(t, api.Options{}).get("/openapi.json").body), &doc); err != nil {
		t.Fatal(err)
	}
	p := readPages(t)
	calls, found := 0, map[string]bool{}
	for _, f := range p.funcs {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			generic, ok := call.Fun.(*ast.IndexExpr)
			if !ok {
				return true
			}
			method, path := `"GET"`, 1
			switch fmt.Sprint(generic.X) {
			case "get":
			case "send":
				method, path = p.method(call.Args[1]), 2
			case "call":
				method, path = p.method(call.Args[2]), 3
			default:
				return true
			}
			if name, is := generic.Index.(*ast.Ident); is && name.Name == "T" {
				return true // get and send call themselves
			}
			calls++
			at := p.files.Position(call.Pos())
			pattern := p.path(f, call.Args[path])
			answers := doc.answers(method, pattern)
			if len(answers) == 0 {
				t.Errorf("%v: REST has no %s %s", at, method, pattern)
			}
			count := make(map[string]int)
			for _, a := range answers {
				for _, fault := range p.faults(&doc, generic.Index, a, pattern) {
					count[fault]++
				}
			}
			for fault, n := range count {
				if open, is := strings.CutSuffix(fault, ": any value"); is {
					found[open] = true
				} else if n == len(answers) || !strings.Contains(pattern, "*") { // one of several routes may have it
					t.Errorf("%v: %s %s", at, method, fault)
				}
			}
			return true
		})
	}
	if calls < 40 {
		t.Errorf("only %d calls of REST were found", calls)
	}
	open := []string{"/v1/jobs/{}.result", "/v1/sessions/{}/compactions.compactions[].record"} // by kind of job, and by layer
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, open) {
		t.Errorf("the OpenAPI document allows any value at %v; only %v are known to", got, open)
	}
}

// openAPI is what the test reads of an OpenAPI document.
type openAPI struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema schema }
		}
	}
	Components struct{ Schemas map[string]schema }
}

type schema struct {
	Ref        string `json:"$ref"`
	Type       any    // a name, or names
	Properties map[string]schema
	Items      *schema
	Additional json.RawMessage `json:"additionalProperties"`
	AnyOf      []schema        `json:"anyOf"`
	OneOf      []schema        `json:"oneOf"`
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// answers returns the schemas of the successful answers of the routes that match a pattern. In it {} stands for a
// parameter, and * for any text.
func (d *openAPI) answers(method, pattern string) (all []schema) {
	match := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$")
	for path, operations := range d.Paths {
		if !match.MatchString(parameter.ReplaceAllString(path, "{}")) {
			continue
		}
		for verb, o := range operations {
			if method != "*" && strconv.Quote(strings.ToUpper(verb)) != method {
				continue
			}
			for status, r := range o.Responses {
				if strings.HasPrefix(status, "2") {
					all = append(all, r.Content["application/json"].Schema)
				}
			}
		}
	}
	return all
}

func (d *openAPI) resolve(s schema) schema {
	for s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

// kinds returns the JSON types of a schema without null; none is any value.
func (s schema) kinds() (list []string) {
	switch k := s.Type.(type) {
	case string:
		list = []string{k}
	case []any:
		for _, one := range k {
			list = append(list, one.(string))
		}
	}
	return slices.DeleteFunc(list, func(k string) bool { return k == "null" })
}

// pages are the sources of the package.
type pages struct {
	files *token.FileSet
	funcs []*ast.FuncDecl
	types map[string]ast.Expr
}

func readPages(t *testing.T) *pages {
	t.Helper()
	p := &pages{files: token.NewFileSet(), types: make(map[string]ast.Expr)}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(p.files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				p.funcs = append(p.funcs, f)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool { // types of functions too
			if s, ok := n.(*ast.TypeSpec); ok {
				p.types[s.Name.Name] = s.Type
			}
			return true
		})
	}
	return p
}

// method returns a method as a Go string, or * for a variable.
func (p *pages) method(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Method") {
		return strconv.Quote(strings.ToUpper(strings.TrimPrefix(s.Sel.Name, "Method")))
	}
	return "*"
}

// path returns a path of REST as a pattern.
func (p *pages) path(in *ast.FuncDecl, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return p.path(in, e.X) + p.path(in, e.Y)
	case *ast.Ident:
		pattern := "*"
		ast.Inspect(in, func(n ast.Node) bool {
			if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == len(a.Rhs) {
				for i, left := range a.Lhs {
					if name, is := left.(*ast.Ident); is && name.Name == e.Name {
						pattern = p.path(in, a.Rhs[i])
					}
				}
			}
			return true
		})
		return pattern
	case *ast.CallExpr:
		if name, ok := e.Fun.(*ast.Ident); ok && name.Name == "segment" {
			return "{}"
		}
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "path" {
			return "/v1/sessions/{}" + p.path(in, e.Args[0])
		}
	}
	return "*"
}

// faults compares a type with a schema.
func (p *pages) faults(d *openAPI, e ast.Expr, s schema, at string) (list []string) {
	s = d.resolve(s)
	if one := slices.Concat(s.AnyOf, s.OneOf); len(one) > 0 { // any of them may have it
		for _, s := range one {
			found := p.faults(d, e, s, at)
			if len(found) == 0 {
				return nil
			}
			list = append(list, found...)
		}
		return list
	}
	want := ""
	switch e := e.(type) {
	case *ast.StarExpr:
		return p.faults(d, e.X, s, at)
	case *ast.ArrayType:
		want = "array"
		if s.Items != nil {
			list = p.faults(d, e.Elt, *s.Items, at+"[]")
		}
	case *ast.MapType:
		want = "object"
	case *ast.StructType:
		if len(s.kinds()) == 0 && len(e.Fields.List) > 0 {
			return []string{at + ": any value"}
		}
		want = "object"
		for _, f := range e.Fields.List {
			list = append(list, p.field(d, f, s, at)...)
		}
	case *ast.Ident:
		if t := p.types[e.Name]; t != nil {
			return p.faults(d, t, s, at)
		}
		want = map[string]string{"string": "string", "int": "integer", "float64": "number", "bool": "boolean"}[e.Name]
	case *ast.SelectorExpr:
		if e.Sel.Name == "Time" {
			want = "string"
		}
	}
	kinds := s.kinds()
	same := slices.Contains(kinds, want) || want == "number" && slices.Contains(kinds, "integer")
	if want != "" && len(kinds) > 0 && !same {
		list = append(list, fmt.Sprintf("%s is %v, and the page reads %s", at, kinds, want))
	}
	return list
}

// field compares a field of a struct with the properties of an object.
func (p *pages) field(d *openAPI, f *ast.Field, s schema, at string) (list []string) {
	if len(f.Names) == 0 {
		return p.faults(d, f.Type, s, at)
	}
	names := make([]string, len(f.Names))
	for i, n := range f.Names {
		names[i] = n.Name
	}
	if f.Tag != nil {
		tag, _ := strconv.Unquote(f.Tag.Value)
		names = []string{reflect.StructTag(tag).Get("json")}
	}
	for _, name := range names {
		found := false
		for property, of := range s.Properties {
			if found = strings.EqualFold(property, name); found { // as encoding/json compares
				list = append(list, p.faults(d, f.Type, of, at+"."+property)...)
				break
			}
		}
		if !found && name != "-" && (len(s.Additional) == 0 || string(s.Additional) == "false") {
			list = append(list, fmt.Sprintf("%s has no field %s", at, name))
		}
	}
	return list
}
