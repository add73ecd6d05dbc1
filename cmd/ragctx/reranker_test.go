package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestQueryAsksTheReranker goes the whole way from the environment to a service.
func TestQueryAsksTheReranker(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct{ Texts []string }
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || r.Header.Get("Authorization") != "Bearer k-1" {
			t.Errorf("%v, authorized by %q", err, r.Header.Get("Authorization"))
		}
		var answer []string
		for i, text := range req.Texts {
			score := .25
			if strings.Contains(text, "lions") {
				score = .75
			}
			answer = append(answer, fmt.Sprintf(`{"index":%d,"score":%g}`, i, score))
		}
		fmt.Fprintf(w, "[%s]", strings.Join(answer, ","))
	}))
	defer service.Close()
	t.Setenv("RAGCTX_RERANK_SHAPE", "tei")
	t.Setenv("RAGCTX_RERANK_URL", service.URL)
	t.Setenv("RAGCTX_RERANK_KEY", "k-1\n")
	home := t.TempDir()
	write(t, home+"/docs", map[string]string{
		"a.md": "# Zebras\n\nEverything about zebras: zebras and zebras.\n", "b.md": "# Cats\n\nWhat lions and zebras are to each other.\n",
	})
	r := ragctxIn(t.Context(), t, home, "", "query", "zebras", "--docs", home+"/docs", "--format", "text", "--explain")
	if r.code != exitOK {
		t.Fatalf("exit %d\n%s", r.code, r.stderr)
	}
	if lions, zebras := strings.Index(r.stdout, "lions"), strings.Index(r.stdout, "Everything"); lions < 0 || zebras < lions {
		t.Errorf("the answer is\n%s\n%s", r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "before_rerank 0.") || !strings.Contains(r.stderr, "rerank 0.75") || strings.Contains(r.stderr, "k-1") {
		t.Errorf("explained as\n%s", r.stderr)
	}
}
