package api

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/index"
)

func TestRanking(t *testing.T) {
	f := start(t, Options{})
	if r := into[index.Ranking](t, f.call(t, "GET", "/v1/rankings/memories?namespace=n", ""), 200); r != (index.Ranking{}) {
		t.Errorf("at first: %+v", r)
	}
	want := index.Ranking{VectorWeight: 0.2, TimeWeight: -1, Conversation: index.ConversationWeights{User: -1}}
	body := `{"vector_weight":0.2,"time_weight":-1,"dialogue":{"user":-1},"keyword":{"grams":-1}}`
	want.Keyword.Grams = -1
	if r := into[index.Ranking](t, f.call(t, "PUT", "/v1/rankings/memories?namespace=n", body), 200); r != want {
		t.Errorf("put: %+v", r)
	}
	for path, want := range map[string]index.Ranking{
		"/v1/rankings/memories?namespace=n": want, "/v1/rankings/documents?namespace=n": {}, "/v1/rankings/memories": {},
	} {
		if r := into[index.Ranking](t, f.call(t, "GET", path, ""), 200); r != want {
			t.Errorf("%s: %+v, want %+v", path, r, want)
		}
	}
	for body, says := range map[string]string{
		`{"vector_weight":101}`: "vector_weight", `{"dialogue":{"users":1}}`: "users", `{"method":"magic"}`: "method", `[]`: "object",
	} {
		if p := f.call(t, "PUT", "/v1/rankings/documents", body).problem(t); p.Status != 422 && p.Status != 400 || !strings.Contains(f.call(t, "PUT", "/v1/rankings/documents", body).body, says) {
			t.Errorf("%s: %+v", body, p)
		}
	}
	if a := f.call(t, "GET", "/v1/rankings/skills", ""); a.status < 400 || a.status >= 500 {
		t.Errorf("a kind that there is not: %d %s", a.status, a.body)
	}
}
