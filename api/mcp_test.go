package api

import (
	"net/http"
	"strings"
	"testing"
)

// TestMCPErrors: what the protocol's handler refuses as plain text is a problem like all
// others, and what it answers in JSON or as a stream passes as it is.
func TestMCPErrors(t *testing.T) {
	f := start(t, Options{MCP: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet:
			http.Error(w, "Bad Request: GET requires an Mcp-Session-Id header", http.StatusBadRequest)
		case http.MethodDelete:
			http.Error(w, strings.Repeat("é", maxPlainError), http.StatusNotFound)
		case http.MethodPost:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			w.Write([]byte(`{"jsonrpc":"2.0"}`))
			w.(http.Flusher).Flush()
		}
	})})
	if a := f.call(t, "GET", "/mcp", ""); a.status != 400 || a.problem(t).Code != "invalid" || !strings.Contains(a.problem(t).Detail, "Mcp-Session-Id") {
		t.Errorf("GET: %d %s", a.status, a.body)
	}
	if a := f.call(t, "DELETE", "/mcp", ""); a.status != 404 || a.problem(t).Code != "not_found" || len(a.body) > 2*maxPlainError {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	if a := f.call(t, "POST", "/mcp", "{}"); a.status != 400 || a.body != `{"jsonrpc":"2.0"}` || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("POST: %d %s", a.status, a.body)
	}
}
