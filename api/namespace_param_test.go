package api

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
)

// TestAKeyOfOneNamespaceMeansIt where a request names none.
func TestAKeyOfOneNamespaceMeansIt(t *testing.T) {
	f := startPaused(t, Options{})
	if _, err := f.eng.Documents().Put(t.Context(), "team", ragctx.Document{ExternalID: "a", Text: "Tea in the team."}, ""); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		namespaces []string
		status     int
	}{"one": {[]string{"team"}, 200}, "two": {[]string{"team", "home"}, 403}} {
		k, err := f.eng.Keys().Create(t.Context(), access.Key{Name: name, Role: access.Write, Namespaces: c.namespaces})
		if err != nil {
			t.Fatal(err)
		}
		key, body := "X-API-Key: "+k.Text, "Content-Type: application/json"
		for _, ask := range []struct{ method, path, body, want string }{
			{"GET", "/v1/documents/a", "", "Tea in the team"},
			{"GET", "/v1/documents", "", `"a"`},
			{"POST", "/v1/context", `{"query":"tea"}`, "Tea in the team"},
			{"POST", "/v1/search", ` { "query" : "tea" } `, "Tea in the team"},
			{"PUT", "/v1/documents/a", `{"text":"Tea in the team."}`, `"unchanged"`},
			{"POST", "/mem0/v1/memories/search/", `{"query":"tea","user_id":"ada"}`, "["},
		} {
			a := f.call(t, ask.method, ask.path, ask.body, key, body)
			if a.status != c.status || c.status == 200 && !strings.Contains(a.body, ask.want) {
				t.Errorf("%s: %s %s: %d %s", name, ask.method, ask.path, a.status, a.body)
			}
		}
		for target, asked := range map[string]string{
			"/v1/search?namespace=team": `{"query":"tea"}`, "/v1/context?namespace=team": `{"query":"tea","namespace":"team"}`,
			"/v1/memories?namespace=team": `{"content":"Tea is at four."}`,
		} {
			if a := f.call(t, "POST", target, asked, key, body); a.status >= 300 {
				t.Errorf("%s: %s %s: %d %s", name, target, asked, a.status, a.body)
			}
		}
		if a := f.call(t, "POST", "/v1/context?namespace=home", `{"query":"tea","namespace":"team"}`, key, body); a.status != 422 || !strings.Contains(a.body, "query.namespace") {
			t.Errorf("%s: two namespaces: %d %s", name, a.status, a.body)
		}
		if a := f.call(t, "POST", "/v1/context?namespace=default", `{"query":"tea"}`, key, body); a.status != 403 {
			t.Errorf("%s: another namespace in the query: %d", name, a.status)
		}
		if a := f.call(t, "POST", "/v1/context", `{"query":"tea","namespace":"default"}`, key, body); a.status != 403 {
			t.Errorf("%s: what is named is not what is meant: %d", name, a.status)
		}
		for path, asked := range map[string]string{
			"/mem0/v1/memories/": `{"messages":"Tea is at four.","user_id":"ada","infer":false`, "/mem0/v2/memories/": `{"filters":{"user_id":"ada"}`,
			"/mem0/v1/memories/search/": `{"query":"tea","user_id":"ada"`, "/mem0/v3/memories/search/": `{"query":"tea","filters":{"user_id":"ada"}`,
		} {
			for _, is := range []struct {
				query, project string
				status         int
			}{{"", "team", 200}, {"", "default", 403}, {"?project_id=default", "default", 403}, {"?project_id=team", "default", 422}} {
				if a := f.call(t, "POST", path+is.query, asked+`,"project_id":"`+is.project+`"}`, key, body); a.status != is.status {
					t.Errorf("%s: %s%s in the project %s: %d %s", name, path, is.query, is.project, a.status, a.body)
				}
			}
		}
	}
}
