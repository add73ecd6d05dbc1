package mcp_test

import (
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
	mcpserver "github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
)

// TestAgentAndSessionAreWalls does by ids what a configured agent, or conversation, is not
// to do with memories of another one of the same user.
func TestAgentAndSessionAreWalls(t *testing.T) {
	eng := open(t)
	remember := func(id, agent, session string) {
		t.Helper()
		m := ragctx.Memory{ID: id, UserID: "ada", AgentID: agent, SessionID: session, Type: ragctx.MemorySemantic, Content: "zebras of " + agent + session, Importance: .5}
		if _, _, err := eng.Memories().Put(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for _, who := range []string{"mine", "theirs"} {
		remember("agent-"+who, who, "")
		remember("session-"+who, "", who)
	}
	remember("agent-gone", "theirs", "")
	remember("session-gone", "", "theirs")
	for _, id := range []string{"agent-gone", "session-gone"} {
		if err := eng.Memories().Delete(t.Context(), "", id, "ada", false); err != nil {
			t.Fatal(err)
		}
	}
	for name, s := range map[string]*mcp.ClientSession{
		"agent":   stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{Scope: mcpserver.Scope{UserID: "ada", AgentID: "mine"}})),
		"session": overHTTP(t, keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), nil), versions[0], with{mcpserver.UserHeader: "ada", mcpserver.SessionHeader: "mine"}),
	} {
		t.Run(name, func(t *testing.T) {
			own, others, gone := name+"-mine", name+"-theirs", name+"-gone"
			read := func(id string) error {
				_, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ragctx://memory/" + id})
				return err
			}
			if got := textOf(raw(t, s, "fetch", map[string]any{"id": own})); !strings.Contains(got, "zebras of mine") {
				t.Error(got)
			}
			if got := raw(t, s, "memory_history", map[string]any{"id": own}); got.IsError || read(own) != nil {
				t.Error(textOf(got), read(own))
			}
			for _, id := range []string{others, gone, "no-such"} {
				for _, tool := range []string{"fetch", "memory_history"} {
					if got := failure(t, s, tool, map[string]any{"id": id}); !strings.HasPrefix(got, "not_found: ") {
						t.Errorf("%s of %s: %s", tool, id, got)
					}
				}
				for _, erase := range []bool{false, true} {
					if got := call[struct{ Status string }](t, s, "memory_forget", map[string]any{"id": id, "erase": erase}); got.Status != "not_found" {
						t.Errorf("%s was %s", id, got.Status)
					}
				}
				if read(id) == nil {
					t.Errorf("%s was read as a resource", id)
				}
			}
			for _, id := range []string{others, gone} {
				if got := failure(t, s, "memory_add", map[string]any{"id": id, "content": "lions"}); !strings.HasPrefix(got, "conflict: ") {
					t.Errorf("the id %s was taken: %s", id, got)
				}
				if h, err := eng.Memories().History(t.Context(), "", id, engine.Viewer{User: "ada"}); err != nil || h[0].Content != "zebras of theirs" {
					t.Errorf("%s: %+v, %v", id, h, err)
				}
			}
			for _, id := range []string{own, name + "-new"} {
				if got := raw(t, s, "memory_add", map[string]any{"id": id, "content": "lions"}); got.IsError {
					t.Error(textOf(got))
				}
				if got := call[struct{ Status string }](t, s, "memory_forget", map[string]any{"id": id, "erase": true}); got.Status != "erased" {
					t.Errorf("%s was %s", id, got.Status)
				}
			}
		})
	}
}

// TestScopeIsAWall asks for what is beyond the configured scope by ids, which no argument
// of a scope guards.
func TestScopeIsAWall(t *testing.T) {
	eng := open(t)
	for _, user := range []string{"", "ada", "bob"} {
		k := engine.ProcedureKey{Namespace: "work", Name: "trick", ProcedureOwner: ragctx.ProcedureOwner{UserID: user}}
		if _, err := eng.Procedures().PutDraft(t.Context(), k, ragctx.ProcedureBody{Trigger: "a trick", Steps: []string{"the trick of " + user}}); err != nil {
			t.Fatal(err)
		}
		if _, err := eng.Procedures().Publish(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		m := ragctx.Memory{ID: "m" + user, Namespace: "work", UserID: user, Type: ragctx.MemorySemantic, Content: "zebras of " + user, Importance: .5}
		if _, _, err := eng.Memories().Put(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	jobs := make(map[string]string)
	for _, namespace := range []string{"work", "home"} {
		j, err := eng.Documents().Ingest(t.Context(), engine.IngestOptions{Namespace: namespace, Paths: []string{t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		jobs[namespace] = j.ID
	}
	scope := mcpserver.Scope{Namespace: "work", UserID: "ada"}
	byHeaders := with{mcpserver.NamespaceHeader: "work", mcpserver.UserHeader: "ada"}
	for name, s := range map[string]*mcp.ClientSession{
		"stdio":   stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{Scope: scope})),
		"headers": overHTTP(t, keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), nil), versions[0], byHeaders),
	} {
		t.Run(name, func(t *testing.T) {
			for id, text := range map[string]string{"procedure:trick": "trick of", "procedure:trick/ada": "trick of ada", "m": "zebras", "mada": "zebras of ada"} {
				if got := textOf(raw(t, s, "fetch", map[string]any{"id": id})); !strings.Contains(got, text) {
					t.Errorf("%s: %s", id, got)
				}
			}
			for _, id := range []string{"procedure:trick/bob", "procedure:trick@1/bob", "mbob"} {
				if got := failure(t, s, "fetch", map[string]any{"id": id}); !strings.HasPrefix(got, "not_found: ") {
					t.Errorf("%s: %s", id, got)
				}
			}
			if got := textOf(raw(t, s, "job_status", map[string]any{"id": jobs["work"]})); !strings.Contains(got, jobs["work"]) {
				t.Error(got)
			}
			if got := failure(t, s, "job_status", map[string]any{"id": jobs["home"]}); !strings.HasPrefix(got, "not_found: ") {
				t.Error(got)
			}
			// Documents belong to no user; who acts for one may store them all the same.
			if got := raw(t, s, "ingest", map[string]any{"id": name + ".md", "text": "# Zebras\n"}); got.IsError {
				t.Error(textOf(got))
			}
		})
	}
}
