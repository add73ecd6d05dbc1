package api

import (
	"fmt"
	"strings"
	"testing"
)

// bodyRoutes are the routes with a body, each with a body that is good.
var bodyRoutes = []struct{ method, path, good, field string }{
	{"PUT", "/v1/documents/a", `{"text":"good text"}`, "text"},
	{"POST", "/v1/context", `{"query":"good"}`, "query"},
	{"POST", "/v1/search", `{"query":"good"}`, "query"},
	{"POST", "/v1/turns", `{"prompt":"good"}`, "prompt"},
	{"POST", "/v1/memories", `{"content":"good"}`, "content"},
	{"POST", "/v1/memories:search", `{"query":"good"}`, "query"},
	{"POST", "/v1/embeddings", `{"input":"good"}`, "input"},
}

// TestBadBodies sends to every route what no route may accept.
func TestBadBodies(t *testing.T) {
	f := start(t, Options{})
	for _, r := range bodyRoutes {
		q := `{"` + r.field + `":`
		for _, tc := range []struct {
			name, body, location string
			status               int
		}{
			{"empty", " ", "body", 400},
			{"not JSON", "hello", "body", 400},
			{"cut off", q + `"x`, "body." + r.field, 400},
			{"no closing brace", q + `"x"`, "body", 400},
			{"trailing garbage", r.good + "x", "body", 400},
			{"two values", r.good + r.good, "body", 400},
			{"trailing comma", q + `"x",}`, "body", 400},
			{"single quotes", `{'a':1}`, "body", 400},
			{"byte order mark", "\ufeff" + r.good, "body", 400},
			{"invalid UTF-8", q + "\"a\xffb\"}", "body." + r.field, 400},
			{"raw NUL", q + "\"a\x00b\"}", "body." + r.field, 400},
			{"NaN", q + "NaN}", "body." + r.field, 400},
			{"leading zero", q + "01}", "body", 400},
			{"null", "null", "body", 422},
			{"array", "[]", "body", 422},
			{"string", `"x"`, "body", 422},
			{"number", "12", "body", 422},
			{"missing field", "{}", "", 422},
			{"null field", q + "null}", "", 422},
			{"escaped NUL", q + `"a\u0000b"}`, "body." + r.field, 422},
			{"lone surrogate", q + `"a\ud800b"}`, "body." + r.field, 422},
			{"lone low surrogate", q + `"\udc00"}`, "body." + r.field, 422},
			{"a number for text", q + "1}", "body." + r.field, 422},
			{"an object for text", q + "{}}", "body." + r.field, 422},
			{"huge number for text", q + "1e400}", "body." + r.field, 422},
			{"given twice", q + `"x",` + strings.TrimPrefix(r.good, "{"), "body." + r.field, 422},
			{"unknown field", q + `"x","nonsense":1}`, "body.nonsense", 422},
			{"other letter case", q + `"x","Namespace":"y"}`, "body.Namespace", 422},
			{"deep", q + strings.Repeat("[", 100_000) + `}`, "body." + r.field, 400},
		} {
			t.Run(r.path+"/"+tc.name, func(t *testing.T) {
				a := f.call(t, r.method, r.path, tc.body)
				p := a.problem(t)
				if tc.location == "" { // turns need no single field, so the engine says what is missing
					if a.status != 422 || len(p.Errors) == 0 {
						t.Errorf("status %d: %s", a.status, a.body)
					}
					return
				}
				if a.status != tc.status || len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Location, tc.location) {
					t.Errorf("status %d, want %d at %s: %s", a.status, tc.status, tc.location, a.body)
				}
				if len(p.Errors) == 1 && !strings.HasSuffix(p.Detail, p.Errors[0].Message) {
					t.Errorf("the detail lacks the fault: %s", a.body)
				}
			})
		}
		for _, ct := range []string{"text/plain", "image/png", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "", "json", ";;"} {
			if r.method == "PUT" && ct == "text/plain" {
				continue // a file
			}
			a := f.call(t, r.method, r.path, r.good, "Content-Type: "+ct)
			if p := a.problem(t); a.status != 415 || p.Code != codeMediaType {
				t.Errorf("%s with Content-Type %q: %d %s", r.path, ct, a.status, a.body)
			}
		}
		if a := f.call(t, r.method, r.path, r.good, "Content-Encoding: gzip"); a.status != 415 {
			t.Errorf("%s compressed: %d %s", r.path, a.status, a.body)
		}
	}
	if names, err := f.eng.Admin().NamespaceNames(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("something was stored: namespaces %v, %v", names, err)
	}
	if strings.Contains(f.log.String(), "level=ERROR") {
		t.Errorf("bad input was logged as an error:\n%s", f.log)
	}
}

// TestBadValues checks values that are bad in one field only.
func TestBadValues(t *testing.T) {
	f := start(t, Options{})
	long := strings.Repeat("x", 600)
	for _, tc := range []struct{ method, path, body, location, message string }{
		{"POST", "/v1/context", `{"query":"x","max_tokens":0}`, "body.max_tokens", "is 0; use 1 to 10000000"},
		{"POST", "/v1/context", `{"query":"x","max_tokens":-1}`, "body.max_tokens", "is -1; use 1 to 10000000"},
		{"POST", "/v1/context", `{"query":"x","max_tokens":1.5}`, "body.max_tokens", "whole number"},
		{"POST", "/v1/context", `{"query":"x","max_tokens":1e3}`, "body.max_tokens", "whole number"},
		{"POST", "/v1/context", `{"query":"x","max_tokens":99999999999999999999}`, "body.max_tokens", "use 1 to 10000000"},
		{"POST", "/v1/context", `{"query":"x","max_tokens":"5"}`, "body.max_tokens", "is a string; send a whole number"},
		{"POST", "/v1/context", `{"query":"x","max_results":1001}`, "body.max_results", "use 1 to 1000"},
		{"POST", "/v1/context", `{"query":"x","min_relevance":1.1}`, "body.min_relevance", "use 0 to 1"},
		{"POST", "/v1/context", `{"query":"x","min_relevance":1e400}`, "body.min_relevance", "use 0 to 1"},
		{"POST", "/v1/context", `{"query":"x","depth":"deep"}`, "body.depth", "abstract, overview or full"},
		{"POST", "/v1/context", `{"query":"x","context_types":["memory","bogus"]}`, "body.context_types[1]", "memory, resource or skill"},
		{"POST", "/v1/context", `{"query":"x","context_types":[null]}`, "body.context_types[0]", "is null"},
		{"POST", "/v1/context", `{"query":"x","tokenizer":"gpt9"}`, "body.tokenizer", "o200k_base"},
		{"POST", "/v1/context", `{"query":"x","format":"pdf"}`, "body.format", "xml"},
		{"POST", "/v1/context", `{"query":"x","preset":"huge"}`, "body.preset", "compact"},
		{"POST", "/v1/context", `{"query":"x","as_of":"yesterday"}`, "body.as_of", "RFC 3339"},
		{"POST", "/v1/context", `{"query":"x","namespace":"` + long + `"}`, "body.namespace", "limit is 512"},
		{"POST", "/v1/context", `{"query":"x","filter":{"tag":["a"]}}`, "body.filter.tag", "did you mean tags?"},
		{"POST", "/v1/context", `{"query":"x","filter":{"metadata":{"a":1}}}`, "body.filter.metadata.a", "send a string"},
		{"POST", "/v1/context", `{"query":"x","filter":{"occurred_after":"2026-01-02T00:00:00Z","occurred_before":"2026-01-01T00:00:00Z"}}`, "body.filter.occurred_before", "not after"},
		{"POST", "/v1/context", `{"query":"x","maxTokens":5}`, "body.maxTokens", "did you mean max_tokens?"},
		{"POST", "/v1/context", `{"query":"x","params":{"n":1e400}}`, "body.params.n", "range"},
		{"POST", "/v1/context", `{"query":"x","params":{"a":{"b":"\u0000"}}}`, "body.params.a.b", "NUL"},
		{"POST", "/v1/context", `{"query":"` + strings.Repeat("é", 40_000) + `"}`, "body.query", "limit is 65536"},
		{"POST", "/v1/context", `{"query":"x","queries":["a",""]}`, "body.queries[1]", "is empty"},
		{"POST", "/v1/context", `{"query":"x","queries":["1","2","3","4","5","6","7","8","9"]}`, "body.queries", "limit is 8"},
		{"POST", "/v1/context", `{"queries":["a"],"query":""}`, "body.queries", "which is empty"},
		{"POST", "/v1/search", `{"query":"x","queries":["` + strings.Repeat("é", 40_000) + `"]}`, "body.queries", "limit is 65536"},
		{"POST", "/v1/context", `{"query":"x","messages":[{"role":"user","content":"a"},{"role":"boss"}]}`, "body.messages[1].role", "assistant"},
		{"POST", "/v1/context", `{"query":"x","messages":[{"content":[{"type":"video"}]}]}`, "body.messages[0].content[0].type", "tool_use"},
		{"POST", "/v1/context", `{"query":"x","messages":[{"content":[{"text":"no type"}]}]}`, "body.messages[0].content[0].type", "is missing"},
		{"POST", "/v1/context", `{"query":"x","messages":[{"content":5}]}`, "body.messages[0].content", "send a string or an array"},
		{"POST", "/v1/context", `{"query":"x","messages":[{"content":[{"type":"image","data":"%%%"}]}]}`, "body.messages[0].content[0].data", "base64"},
		{"POST", "/v1/search", `{"query":""}`, "body.query", "is empty"},
		{"POST", "/v1/search", `{"query":"x","tokenizer":"none"}`, "body.tokenizer", "is unknown; use one of o200k_base, "},
		{"POST", "/v1/memories:search", `{"query":"x","format":"none"}`, "body.format", "is not a format; use xml, "},
		{"POST", "/v1/memories:search", `{"query":"x","context_types":["skill"]}`, "body.context_types[0]", "/v1/search"},
		{"POST", "/v1/memories", `{"content":"x","importance":1.01}`, "body.importance", "use 0 to 1"},
		{"POST", "/v1/memories", `{"content":"x","memory_type":"eternal"}`, "body.memory_type", "episodic"},
		{"POST", "/v1/memories", `{"content":"x","occurred":"9999-12-31T23:59:59-01:00"}`, "body.occurred", "years 1 to 9999"},
		{"POST", "/v1/memories", `{"content":"x","expires":"0000-01-01T00:00:00+01:00"}`, "body.expires", "years 1 to 9999"},
		{"POST", "/v1/memories", `{"content":"x","expires":"2026-02-30T00:00:00Z"}`, "body.expires", "RFC 3339"},
		{"POST", "/v1/memories", `{"content":"  "}`, "body.content", "is empty"},
		{"POST", "/v1/memories", `{"content":"x","tags":["a",""]}`, "body.tags[1]", "is empty"},
		{"POST", "/v1/turns", `{}`, "body.messages", "prompt"},
		{"POST", "/v1/turns", `{"prompt":"x","success":"yes"}`, "body.success", "true or false"},
		{"PUT", "/v1/documents/a", `{"text":"  "}`, "body.text", "is empty"},
		{"PUT", "/v1/documents/a", `{"text":"x","tags":[""]}`, "body.tags", "empty tag"},
		{"PUT", "/v1/documents/a", `{"text":"x","namespace":"n"}`, "body.namespace", "not a field"},
		{"PUT", "/v1/documents/a?namespace=" + long, `{"text":"x"}`, "query.namespace", "limit is 512"},
		{"PUT", "/v1/documents/" + long, `{"text":"x"}`, "path.id", "limit is 512"},
		{"PUT", "/v1/documents/a%00b", `{"text":"x"}`, "path", "NUL"},
		{"GET", "/v1/documents/a%FFb", ``, "path", "UTF-8"},
		{"GET", "/v1/documents?limit=0", ``, "query.limit", "is 0; use 1 to 1000"},
		{"GET", "/v1/documents?limit=1001", ``, "query.limit", "is 1001; use 1 to 1000"},
		{"GET", "/v1/documents?limit=ten", ``, "query.limit", "whole number"},
		{"GET", "/v1/documents?limit=99999999999999999999", ``, "query.limit", "use 1 to 1000"},
		{"GET", "/v1/documents?limit=1&limit=2", ``, "query.limit", "sent 2 times"},
		{"GET", "/v1/documents?namespace=a%00", ``, "query.namespace", "NUL"},
		{"GET", "/v1/documents?prefix=%FF", ``, "query.prefix", "UTF-8"},
		{"GET", "/v1/documents?offset=3", ``, "query.offset", "not a parameter here; use cursor"},
		{"GET", "/v1/documents?cursor=%21", ``, "query.cursor", "not a cursor"},
		{"GET", "/v1/documents?cursor=" + encodeCursor("", memoryCursor{ID: "a"}), ``, "query.cursor", "not a cursor"},
		{"GET", "/v1/memories?cursor=" + encodeCursor("", memoryCursor{ID: "a"}), ``, "query.cursor", "another list"},
		{"GET", "/v1/memories?page=2", ``, "query.page", "; use cursor"},
		{"GET", "/v1/memories?q=x", ``, "query.q", "; use contains"},
		{"POST", "/v1/search", `{"query":"x","top_k":3}`, "body.top_k", "; use max_results"},
		{"POST", "/v1/search", `{"query":"x","types":["memory"]}`, "body.types", "; use context_types"},
		{"POST", "/v1/documents", `{"content":"x"}`, "body.content", "; use text"},
		{"POST", "/v1/turns", `{"prompt":"x","response":"y","user":"ann"}`, "body.user", "; use user_id"},
		{"GET", "/v1/rankings/foo", ``, "path.kind", "use documents"},
		{"GET", "/v1/documents/a?version=0", ``, "query.version", "use 1 to"},
		{"GET", "/v1/documents/a?text=perhaps", ``, "query.text", "true or false"},
		{"POST", "/v1/memories", `{"content":"x","expires":"2001-01-01T00:00:00Z"}`, "body.expires", "has passed"},
		{"POST", "/v1/turns", `{"prompt":"x","messages":[{"content":"y"}]}`, "body.messages", "one or the other"},
		{"GET", "/v1/memories?type=eternal", ``, "query.type", "episodic"},
		{"GET", "/v1/memories?all_users=true&user_id=u", ``, "query.all_users", "contradicts"},
		{"POST", "/v1/compile?namespace=x", `{"messages":[]}`, "query.namespace", "not a parameter"},
	} {
		t.Run(tc.path[:min(len(tc.path), 40)]+"/"+tc.location, func(t *testing.T) {
			a := f.call(t, tc.method, tc.path, tc.body)
			p := a.problem(t)
			if a.status != 422 || p.Code != "invalid" || len(p.Errors) != 1 || p.Errors[0].Location != tc.location ||
				!strings.Contains(p.Errors[0].Message, tc.message) {
				t.Errorf("status %d, want 422 at %s with %q: %s", a.status, tc.location, tc.message, a.body)
			}
		})
	}
}

// TestOtherErrors checks what is no fault of a value.
func TestOtherErrors(t *testing.T) {
	f := start(t, Options{MaxBodyBytes: 1000})
	into[documentPut](t, f.call(t, "PUT", "/v1/documents/a?namespace=n", `{"text":"one","root":"/x"}`), 201)
	into[map[string]any](t, f.call(t, "POST", "/v1/turns", `{"id":"t","prompt":"one"}`), 201)
	for _, tc := range []struct {
		method, path, body, code string
		status                   int
	}{
		{"GET", "/", "", "not_found", 404},
		{"GET", "/v1/documents/", "", "not_found", 404},
		{"GET", "/v1/documents/none", "", "not_found", 404},
		{"GET", "/v1/documents/a?namespace=n&version=7", "", "not_found", 404},
		{"DELETE", "/v1/documents/none?namespace=n", "", "not_found", 404},
		{"GET", "/v1/items/a@1%2399?namespace=n", "", "not_found", 404},
		{"GET", "/v1/items/nonsense?namespace=n", "", "not_found", 404},
		{"GET", "/v1/memories/none", "", "not_found", 404},
		{"POST", "/v1/memories/none:undo", "", "not_found", 404},
		{"POST", "/healthz", "", "method_not_allowed", 405},
		{"PATCH", "/v1/documents/a", "", "method_not_allowed", 405},
		{"DELETE", "/v1/context", "", "method_not_allowed", 405},
		{"GET", "/v1/documents?a=%zz", "", "invalid", 400},
		{"PUT", "/v1/documents/a?namespace=n", `{"text":"two","root":"/y"}`, "conflict", 409},
		{"POST", "/v1/turns", `{"id":"t","prompt":"two"}`, "conflict", 409},
		{"POST", "/v1/memories", `{"content":"` + strings.Repeat("x", 1000) + `"}`, "too_large", 413},
	} {
		a := f.call(t, tc.method, tc.path, tc.body)
		if p := a.problem(t); a.status != tc.status || p.Code != tc.code {
			t.Errorf("%s %s: status %d, want %d %s: %s", tc.method, tc.path, a.status, tc.status, tc.code, a.body)
		}
		if a.status == 405 && a.header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow header", tc.method, tc.path)
		}
	}
}

// TestManyFaults checks that one answer names all faults, but not endlessly.
func TestManyFaults(t *testing.T) {
	f := start(t, Options{})
	var fields []string
	for i := range 1000 {
		fields = append(fields, fmt.Sprintf(`"unknown_%d":1`, i))
	}
	p := f.call(t, "POST", "/v1/context", "{"+strings.Join(fields, ",")+"}").problem(t)
	if len(p.Errors) != maxFaults {
		t.Errorf("%d faults, want %d", len(p.Errors), maxFaults)
	}
	p = f.call(t, "POST", "/v1/context", `{"max_tokens":0,"depth":3}`).problem(t)
	if len(p.Errors) != 3 { // and the query is missing
		t.Errorf("faults = %v", p.Errors)
	}
}
