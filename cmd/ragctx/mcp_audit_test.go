package main

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx/api"
	mcpserver "github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// withKey sends an API key with each request.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAgentsAreAudited: what agents change over HTTP is in the audit log with who did it,
// and what they erase goes from it, but nothing that they could not erase.
func TestAgentsAreAudited(t *testing.T) {
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), PauseJobs: true})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	made, err := eng.Keys().Create(t.Context(), access.Key{Name: "agent", Role: access.Write, Namespaces: []string{"team"}})
	if err != nil {
		t.Fatal(err)
	}
	agents := mcpserver.New(mcpserver.Local(eng), mcpserver.Options{Changed: auditAgents(eng)})
	defer agents.Close()
	server := api.New(eng, api.Options{MCP: agents.Handler()})
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: "http://" + ln.Addr().String() + "/mcp", HTTPClient: &http.Client{Transport: withKey(made.Text)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	var want []store.AuditEntry // the newest first
	change := func(tool string, args map[string]any, target string, status int) {
		t.Helper()
		res, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil || res.IsError == (status == 200) {
			t.Fatalf("%s %v: %+v, %v", tool, args, res, err)
		}
		namespace, _ := args["namespace"].(string)
		want = append([]store.AuditEntry{{Key: made.ID, KeyName: made.Name, Operation: "mcp:" + tool, Namespace: namespace, Target: target, Status: status}}, want...)
	}
	check := func() {
		t.Helper()
		got, err := eng.Admin().AuditLog(access.With(t.Context(), access.Grant{Role: access.Admin}), store.AuditFilter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if got[i].Request == "" || got[i].At.IsZero() {
				t.Errorf("entry %+v", got[i])
			}
			got[i].Seq, got[i].Request, got[i].At = 0, "", time.Time{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}

	change("memory_add", map[string]any{"namespace": "team", "id": "tea", "content": "The contents are tea."}, "tea", 200)
	change("memory_add", map[string]any{"namespace": "team", "id": "adas", "content": "The contents are Ada's.", "user_id": "ada"}, "adas", 200)
	change("ingest", map[string]any{"namespace": "team", "id": "a.md", "text": "# The contents\n"}, "a.md", 200)
	change("ingest", map[string]any{"namespace": "team", "id": "b.md"}, "b.md", 422)
	change("ingest", map[string]any{"namespace": "other", "id": "c.md", "text": "# C\n"}, "c.md", 403)
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "tea", "namespace": "team"}}); err != nil {
		t.Fatal(err) // changes nothing, and is not noted
	}
	check()
	change("memory_forget", map[string]any{"namespace": "team", "id": "adas", "erase": true, "user_id": "bob"}, "adas", 404)
	change("memory_forget", map[string]any{"namespace": "team", "id": "tea"}, "tea", 200)
	check()
	change("memory_forget", map[string]any{"namespace": "team", "id": "tea", "erase": true}, "tea", 200)
	for i := range want {
		want[i].Target = strings.ReplaceAll(want[i].Target, "tea", "")
	}
	check()
}
