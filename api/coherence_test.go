package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/internal/store"
)

// The rules of docs/rest.md (One shape for all routes) for routes, parameters and fields, and what they except.
var (
	// functions are routes that compute and store nothing, or act on the whole server.
	functions = []string{
		"/v1/context", "/v1/search", "/v1/explain", "/v1/assemble", "/v1/compile", "/v1/compact", "/v1/packs", "/v1/embeddings",
		"/v1/doctor", "/v1/reembed",
	}
	// views are GET routes of a whole collection with a colon, because an id may contain slashes.
	views = []string{"duplicates", "quarantine", "tags", "stats", "export"}
	// massNouns are lists whose name has no plural.
	massNouns = []string{"audit", "history"}
	// outsideNamespaces are operations without a namespace: on the whole server, on an entity with an
	// id of its own, or computing from the request alone.
	outsideNamespaces = []string{
		"healthz", "readyz", "metrics", "status", "doctor", "vector-status", "snapshot", "reembed", "get-embedder", "put-embedder", "embeddings",
		"create-key", "list-keys", "revoke-key", "list-namespaces", "create-namespace", "get-namespace", "erase-namespace",
		"put-quotas", "get-job", "list-job-items", "watch-job", "cancel-job", "retry-job", "list-providers", "compile", "compact",
	}
	// seedSchemas are documents of the systems that ragctx continues or that have compatible routes. They
	// keep their own spelling of names and times.
	seedSchemas = regexp.MustCompile(`^Mem0|^OpenAI|^Rerank|^Ledger(Message|.*Metrics)$|^MessageBody$|^MessagesRequest$`)
)

type walkedSchema struct {
	Ref         string `json:"$ref"`
	Type        any
	Format      string
	Description string
	Properties  map[string]walkedSchema
}

type walkedOperation struct {
	OperationID string
	Tags        []string
	Parameters  []struct {
		Name, In string
		Schema   walkedSchema
	}
	RequestBody struct {
		Content map[string]struct{ Schema walkedSchema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema walkedSchema }
	}
	method, path string
}

func (o walkedOperation) takes(name string) bool {
	for _, p := range o.Parameters {
		if p.In == "query" && p.Name == name {
			return true
		}
	}
	return false
}

type walkedDocument struct {
	Tags       []struct{ Name, Description string }
	Paths      map[string]map[string]walkedOperation
	Components struct{ Schemas map[string]walkedSchema }
}

// named returns the name of a schema and the schema.
func (d walkedDocument) named(s walkedSchema) (string, walkedSchema) {
	if name := strings.TrimPrefix(s.Ref, "#/components/schemas/"); name != "" {
		return name, d.Components.Schemas[name]
	}
	return "", s
}

// TestCoherence walks the OpenAPI document and holds the rules of docs/rest.md.
func TestCoherence(t *testing.T) {
	f := start(t, Options{})
	var doc walkedDocument
	if err := json.Unmarshal(f.spec(), &doc); err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, tag := range doc.Tags {
		if tag.Description == "" {
			t.Errorf("the tag %s has no description", tag.Name)
		}
		tags = append(tags, tag.Name)
	}
	if want := []string{"core", "conversations", "teams", "administration", "compatibility"}; !slices.Equal(tags, want) {
		t.Errorf("tags = %v, want %v", tags, want)
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, op := range doc.Paths[path] {
			op.method, op.path = strings.ToUpper(method), path
			compatible := foreign(path, &Problem{}) != nil
			if len(op.Tags) != 1 || !slices.Contains(tags, op.Tags[0]) || compatible && op.Tags[0] != "compatibility" {
				t.Errorf("%s %s has the tags %v; use one of %v", op.method, path, op.Tags, tags)
			}
			if compatible {
				continue
			}
			for _, fault := range slices.Concat(doc.faultsOfPath(op), doc.faultsOfNamespace(op), doc.faultsOfPaging(op), doc.faultsOfDelete(op)) {
				t.Errorf("%s %s: %s", op.method, path, fault)
			}
		}
	}
	for _, fault := range doc.faultsOfSpelling() {
		t.Error(fault)
	}
}

// faultsOfPath checks nouns and verbs.
func (d walkedDocument) faultsOfPath(op walkedOperation) (faults []string) {
	path, verb, isVerb := strings.Cut(op.path, ":")
	if isVerb && op.method != http.MethodPost && (op.method != http.MethodGet || !slices.Contains(views, verb)) {
		faults = append(faults, "a verb after a colon is a POST")
	}
	_, gettable := d.Paths[op.path]["get"]
	if !gettable && slices.ContainsFunc(slices.Collect(maps.Keys(d.Paths)), func(p string) bool {
		below, is := strings.CutPrefix(p, op.path+"/{")
		return is && !strings.ContainsAny(below, "/:") && d.Paths[p]["get"].OperationID != ""
	}) {
		gettable = true
	}
	if op.method == http.MethodPost && !isVerb && !gettable && !slices.Contains(functions, op.path) {
		faults = append(faults, "a POST creates in a collection that GET lists or reads, or names a verb after a colon")
	}
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		list := i+1 < len(segments) && strings.HasPrefix(segments[i+1], "{") || i+1 == len(segments) && !isVerb && d.lists(op)
		if list && !strings.HasPrefix(s, "{") && !strings.HasSuffix(s, "s") && !slices.Contains(massNouns, s) {
			faults = append(faults, fmt.Sprintf("the collection %s is singular", s))
		}
		if s == "snapshot" && op.path != "/v1/snapshot" {
			faults = append(faults, "a snapshot is a copy of the data directory")
		}
	}
	return faults
}

// lists reports whether the answer of op has pages.
func (d walkedDocument) lists(op walkedOperation) bool {
	_, answer := d.named(op.Responses["200"].Content[jsonType].Schema)
	return answer.Properties["next_cursor"].Type != nil
}

// faultsOfNamespace checks that the namespace is a query parameter.
func (d walkedDocument) faultsOfNamespace(op walkedOperation) (faults []string) {
	if has := op.takes("namespace"); has == slices.Contains(outsideNamespaces, op.OperationID) {
		faults = append(faults, fmt.Sprintf("has the query parameter namespace: %v", has))
	}
	for _, p := range op.Parameters {
		if p.Name == "namespace" && p.In != "query" {
			faults = append(faults, "has the namespace in the "+p.In)
		}
	}
	return faults
}

// faultsOfPaging checks that pages have limit, cursor and next_cursor.
func (d walkedDocument) faultsOfPaging(op walkedOperation) (faults []string) {
	if has := d.lists(op); op.takes("cursor") != has || op.takes("limit") != has {
		faults = append(faults, fmt.Sprintf("limit %v, cursor %v, next_cursor %v; a list has all of them or none",
			op.takes("limit"), op.takes("cursor"), has))
	}
	for _, other := range []string{"offset", "page", "page_size", "before", "after"} {
		if op.takes(other) && op.OperationID != "query-messages" && op.OperationID != "export-messages" {
			faults = append(faults, "pages by "+other)
		}
	}
	return faults
}

// faultsOfDelete checks the answers to DELETE.
func (d walkedDocument) faultsOfDelete(op walkedOperation) (faults []string) {
	if op.method != http.MethodDelete {
		return nil
	}
	erased, _ := d.named(op.Responses["200"].Content[jsonType].Schema)
	_, done := op.Responses["204"]
	if done == (erased == "Erased") || !done && erased == "" {
		faults = append(faults, "answers neither 204 nor 200 with the counts of an erasure")
	}
	return faults
}

// faultsOfSpelling checks the names of fields and the types of times.
func (d walkedDocument) faultsOfSpelling() (faults []string) {
	snake := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	unix := regexp.MustCompile(`(?i)unix|since 1970|milliseconds? of`)
	check := func(at, field string, s walkedSchema) {
		if !snake.MatchString(field) {
			faults = append(faults, at+" is not in snake_case")
		}
		if number := strings.Contains(fmt.Sprint(s.Type), "integer"); number && (unix.MatchString(s.Description) || strings.HasSuffix(field, "timestamp")) {
			faults = append(faults, at+" is a time in numbers; use RFC 3339")
		}
		for word := range strings.SplitSeq(field, "_") {
			if word == "seq" {
				faults = append(faults, at+" is written sequence")
			}
		}
		if (field == "created" || field == "updated") && s.Format == "date-time" {
			faults = append(faults, at+" is written "+field+"_at")
		}
		if field == "at" && s.Format != "date-time" {
			faults = append(faults, at+" is no time, as it is elsewhere")
		}
	}
	for name, s := range d.Components.Schemas {
		for field, p := range s.Properties {
			if !seedSchemas.MatchString(name) {
				check(name+"."+field, field, p)
			}
		}
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.In == "query" && foreign(path, &Problem{}) == nil {
					check(strings.ToUpper(method)+" "+path+" query."+p.Name, p.Name, p.Schema)
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// TestIDsWithSlashes walks the routes: an id that may contain slashes is the last part of the path that
// echo matches, because only there a parameter takes slashes.
func TestIDsWithSlashes(t *testing.T) {
	f := start(t, Options{})
	inner := regexp.MustCompile(`:([a-z_]+)/`)
	for _, r := range f.echo.Routes() {
		at := inner.FindStringSubmatch(strings.ReplaceAll(r.Path, `\:`, ""))
		if at == nil || foreign(r.Path, &Problem{}) != nil || strings.HasPrefix(r.Path, "/v1/jobs/:id/") || strings.HasPrefix(r.Path, proceduresPath+"/:name/") {
			continue // ids of other APIs and of jobs are generated, and names of procedures have no slashes
		}
		if !slices.ContainsFunc(memberLists[:], func(m members) bool { return m.param == at[1] }) {
			t.Errorf("%s %s: %s cannot have slashes", r.Method, r.Path, at[1])
		}
	}
	into[store.Namespace](t, f.call(t, "POST", "/v1/namespaces", `{"name":"a/b%"}`), 201)
	for _, path := range []string{"/v1/namespaces/a%2Fb%25", "/v1/namespaces/a/b%25"} {
		if n := into[store.Namespace](t, f.call(t, "PUT", path+"/quotas", `{"documents":3}`), 200); n.Name != "a/b%" || n.Quotas.Documents != 3 {
			t.Errorf("%+v", n)
		}
		if n := into[store.Namespace](t, f.call(t, "GET", path, ""), 200); n.Name != "a/b%" {
			t.Errorf("%+v", n)
		}
	}
	if n, err := f.client.DescribeNamespace(t.Context(), "a/b%"); err != nil || n.Quotas.Documents != 3 {
		t.Errorf("%+v, %v", n, err)
	}
	into[store.Erased](t, f.call(t, "DELETE", "/v1/namespaces/a%2Fb%25?erase=true", ""), 200)
}

// TestMoved checks that earlier spellings are answered with the present ones, and that these exist.
func TestMoved(t *testing.T) {
	f := start(t, Options{})
	for _, m := range moves {
		method := m.method
		if method == "" {
			method = "GET"
			if strings.HasSuffix(m.old, "import") {
				method = "POST"
			}
		}
		p := f.call(t, method, strings.ReplaceAll(m.old, "{}", "a%2Fb"), "").problem(t)
		_, now, ok := strings.Cut(p.Detail, "use ")
		now, _, _ = strings.Cut(now, ";")
		if p.Status != http.StatusNotFound || !ok {
			t.Errorf("%s %s: %d %s", method, m.old, p.Status, p.Detail)
			continue
		}
		method, path, _ := strings.Cut(now, " ")
		if p := f.call(t, method, path, ""); strings.Contains(p.body, "no such route") || p.status == http.StatusMethodNotAllowed {
			t.Errorf("%s, which is no route: %s", now, p.body)
		}
	}
	for id, names := range movedParameters {
		i := slices.IndexFunc(operations(f.api.OpenAPI()), func(op *huma.Operation) bool { return op.OperationID == id })
		if i < 0 {
			t.Fatalf("no operation %s", id)
		}
		op := operations(f.api.OpenAPI())[i]
		for old, now := range names {
			faults := checkQuery(map[string][]string{old: {"1"}}, op)
			if len(faults) != 1 || !strings.Contains(faults[0].Message, "is now "+now) || !takes(op, now) {
				t.Errorf("%s?%s: %v", id, old, faults)
			}
		}
	}
}
