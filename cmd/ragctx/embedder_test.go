package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ragctx/ragctx/embed"
)

// TestEmbeddingService goes the whole way from settings to a service: a directory of
// the built-in embedder is changed to it, fed and asked with it, and changed back.
func TestEmbeddingService(t *testing.T) {
	hashing := embed.NewHashing(32)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil || req.Model != "m" || r.URL.Path != "/api/embed" || r.Header.Get("Authorization") != "Bearer k-1" {
			t.Errorf("%v, %s, model %q, authorized by %q", err, r.URL.Path, req.Model, r.Header.Get("Authorization"))
		}
		vectors, _ := hashing.EmbedDocuments(r.Context(), req.Input)
		json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors, "prompt_eval_count": 1000})
	}))
	defer service.Close()
	home := t.TempDir()
	write(t, home, map[string]string{
		"docs/a.md": "# Zebras\n\nEverything about zebras.\n", "docs/b.md": "# Cats\n\nWhat lions are.\n", "key": "k-1\n",
		"config/ragctx/config.json": `{"embed_price": "2.5"}`,
	})
	run := func(args ...string) result {
		t.Helper()
		r := ragctxIn(t.Context(), t, home, "", args...)
		if r.code != exitOK || strings.Contains(r.stdout+r.stderr, "k-1") {
			t.Fatalf("%v: exit %d\n%s", args, r.code, r.stderr)
		}
		return r
	}
	run("ingest", home+"/docs")
	t.Setenv("RAGCTX_EMBED_KEY_FILE", home+"/key")
	remote := []string{"reembed", "remote", "--embed-shape", "ollama", "--embed-model", "m", "--embed-url", service.URL}
	// One request finds out how many dimensions there are, two how unlike unrelated
	// texts are.
	if r := run(remote...); !strings.Contains(r.stdout, "embedded 2 chunks by remote") || !strings.Contains(r.stderr, "4000 tokens, cost 0.0100") || !strings.Contains(r.stderr, "embed_noise_floor 0.") {
		t.Errorf("%s\n%s", r.stdout, r.stderr)
	}
	if r := ragctxIn(t.Context(), t, home, "", remote...); r.code != exitFailed || !strings.Contains(r.stderr, "already") {
		t.Errorf("again: exit %d\n%s", r.code, r.stderr)
	}
	t.Setenv("RAGCTX_EMBED_SHAPE", "ollama")
	t.Setenv("RAGCTX_EMBED_MODEL", "m")
	t.Setenv("RAGCTX_EMBED_URL", service.URL)
	write(t, home, map[string]string{"docs/c.md": "# Birds\n\nWhat ostriches are.\n"})
	if r := run("ingest", home+"/docs"); !strings.Contains(r.stderr, "1 text") {
		t.Errorf("ingest says\n%s", r.stderr)
	}
	if r := run("query", "ostriches", "--explain"); strings.Contains(r.stderr, "without:") || !strings.Contains(r.stdout, "ostriches") {
		t.Errorf("%s\n%s", r.stdout, r.stderr)
	}
	if r := run("doctor"); !strings.Contains(r.stdout, "embedder: ollama/m, revision 1, 32 dimensions") || !strings.Contains(r.stdout, "it is asked") {
		t.Errorf("doctor says\n%s", r.stdout)
	}
	if r := run("reembed", "hashing"); !strings.Contains(r.stdout, "embedded 3 chunks by hashing") {
		t.Error(r.stdout)
	}
	if r := ragctxIn(t.Context(), t, home, "", "query", "lions"); r.code != exitFailed || !strings.Contains(r.stderr, "ragctx reembed") {
		t.Errorf("exit %d\n%s", r.code, r.stderr)
	}
	t.Setenv("RAGCTX_EMBED_SHAPE", "")
	t.Setenv("RAGCTX_EMBED_MODEL", "")
	t.Setenv("RAGCTX_EMBED_URL", "")
	if r := run("query", "lions", "--explain"); strings.Contains(r.stderr, "without:") {
		t.Error(r.stderr)
	}
}
