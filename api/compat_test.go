package api

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestCompatSwitch serves each shape alone, and none.
func TestCompatSwitch(t *testing.T) {
	paths := map[string]string{"mem0": "/mem0/v1/ping", "openai": "/v1/models", "rerank": "/v2/rerank"}
	for _, setting := range append(Shapes(), "false", "true", " MEM0 , openai") {
		on, err := ParseShapes(setting)
		if err != nil {
			t.Fatal(err)
		}
		s := New(nil, Options{Compat: on})
		for name, path := range paths {
			if _, served := s.api.OpenAPI().Paths[path]; served != slices.Contains(on, name) {
				t.Errorf("with %q, %s is served: %v", setting, path, served)
			}
		}
		if _, served := s.api.OpenAPI().Paths["/v1/embeddings"]; !served {
			t.Errorf("with %q there are no embeddings, which ragctx's own client calls", setting)
		}
	}
	if _, err := ParseShapes("mem0,cohere"); err == nil || !strings.Contains(err.Error(), "openai") {
		t.Errorf("an unknown shape: %v", err)
	}
}

// TestForeignErrors reads errors as the clients do: mem0's detail, OpenAI's error, Cohere's message.
func TestForeignErrors(t *testing.T) {
	f := start(t, Options{})
	f.call(t, "POST", "/v1/vector_stores", `{"name":"a"}`)
	for _, c := range []struct{ method, path, body, param, says string }{
		{"GET", "/v1/vector_stores/vs_none", "", "", `no vector store "vs_none"`},
		{"POST", "/v1/vector_stores", `{"name":"a","expires_after":{"anchor":"last_active_at","days":1}}`, "expires_after", "is not a field"},
		{"POST", "/v1/vector_stores", `{"metadata":{"openai":"a"}}`, "metadata.openai", "no possible key"},
		{"POST", "/v1/vector_stores", `{"file_ids":["file-none"]}`, "file_ids[0]", "upload it"},
		{"GET", "/v1/vector_stores?limit=0", "", "limit", "is 0"},
		{"GET", "/v1/vector_stores?after=vs_none", "", "after", "not in the list"},
		{"GET", "/v1/models/gpt", "", "", "static"},
		{"POST", "/v1/rerank", `{"query":"a","documents":[]}`, "documents", "1"},
		{"POST", "/v2/rerank", `{"query":"a","documents":["` + strings.Repeat("a", 2<<20) + `b"]}`, "documents[0]", "limit"},
		{"GET", "/mem0/v1/memories", "", "user_id", "at least one"},
		{"POST", "/v1/embeddings", `{"input":"a","dimensions":7}`, "dimensions", "dimensions"},
		{"POST", "/v1/embeddings", `{"input":"a","model":"gpt"}`, "model", "gpt"},
		{"POST", "/v1/chat/completions", `{}`, "", "chat completions are not served; see docs/compatibility.md"},
		{"POST", "/v1/responses", `{}`, "", "responses are not served"},
		{"GET", "/v1/assistants?limit=1", "", "", "assistants are not served"},
		{"POST", "/v1/uploads/u/parts", "", "", "uploads in parts are not served"},
		{"POST", "/mem0/v1/feedback/", `{}`, "", "feedback messages are not served"},
		{"POST", "/mem0/v1/exports/get/", `{}`, "", "exports are not served"},
		{"GET", "/mem0/v9/none/", "", "", "no such route"},
	} {
		a := f.call(t, c.method, c.path, c.body)
		var got struct {
			Detail, Message string
			Error           struct {
				Message, Type, Code string
				Param               *string
			}
		}
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status < 400 {
			t.Fatalf("%s %s: %d, %v: %s", c.method, c.path, a.status, err, a.body)
		}
		param := ""
		if got.Error.Param != nil {
			param = *got.Error.Param
		}
		if got.Detail != got.Message || got.Message != got.Error.Message || got.Error.Code == "" || param != c.param || !strings.Contains(got.Detail, c.says) {
			t.Errorf("%s %s: %.700s", c.method, c.path, a.body)
		}
	}
}
