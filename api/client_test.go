package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

func TestClient(t *testing.T) {
	f := start(t, Options{})
	ctx, c := t.Context(), f.client
	if err := c.Healthz(ctx); err != nil {
		t.Fatal(err)
	}
	put, err := c.PutDocument(ctx, "n", ragctx.Document{ExternalID: "ports.md", Text: "# Ports\n\nStaging listens on 8443.", Source: "file:ports.md"}, "/r")
	if err != nil || put.Status != store.Created || put.Version != 1 {
		t.Fatalf("put: %+v, %v", put, err)
	}
	q := ragctx.NewQuery("staging port")
	q.Namespace = "n"
	a, err := c.Context(ctx, q)
	if err != nil || len(a.Items) != 1 || !strings.Contains(a.XML, "8443") || a.TotalTokens == 0 || len(a.Providers) != 3 {
		t.Errorf("context: %+v, %v", a, err)
	}
	if a, err := c.Context(ctx, q.WithTypes(ragctx.TypeMemory)); err != nil || len(a.Items) != 0 || a.Note == "" {
		t.Errorf("context of memories only: %+v, %v", a, err)
	}
	turn, err := c.CompleteTurn(ctx, ragctx.Turn{ID: "t1", Namespace: "n", SessionID: "s", Messages: []ragctx.Message{
		ragctx.TextMessage(ragctx.RoleUser, "Which tea does Ada like?"),
		{Role: ragctx.RoleAssistant, Content: ragctx.Content{{Type: ragctx.BlockText, Text: "Ada likes oolong."}, {Type: ragctx.BlockToolUse, ID: "1", Name: "x", Input: []byte(`{"a":1}`)}}},
	}})
	if err != nil || turn.Status != store.Created || turn.MemoryID == "" {
		t.Errorf("turn: %+v, %v", turn, err)
	}
	q.Query = "tea oolong"
	found, err := c.Search(ctx, q)
	if err != nil || len(found.Items) == 0 || found.Items[0].Type != ragctx.TypeMemory {
		t.Errorf("search: %+v, %v", found, err)
	}
	m, status, err := c.Remember(ctx, ragctx.Memory{ID: "m", Namespace: "n", Content: "Ada is in Paris", Type: ragctx.MemorySemantic})
	if err != nil || status != store.Created || m.Importance != 0 || m.Type != ragctx.MemorySemantic {
		t.Errorf("remember: %+v, %s, %v", m, status, err)
	}
	for _, want := range []store.Status{store.Replaced, store.Unchanged} {
		m := ragctx.Memory{ID: "m", Namespace: "n", Content: "Ada is in Rome", Occurred: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		if _, status, err = c.Remember(ctx, m); err != nil || status != want {
			t.Errorf("remember again: %s, %v", status, err)
		}
	}
}

// TestOwnChunks: documents have chunks of the sizes that they are sent with, and
// the state that their file was read in.
func TestOwnChunks(t *testing.T) {
	f := start(t, Options{})
	d := ragctx.Document{ExternalID: "one.txt", Text: strings.Repeat("Some words make a sentence. ", 100), Chunk: ragctx.ChunkSizes{TargetChars: 1400}}
	one, err := f.client.PutDocument(t.Context(), "", d, "")
	if err != nil || one.Chunks != 2 {
		t.Errorf("one document: %+v, %v", one, err)
	}
	line := BulkLine{ID: "two.txt", Text: d.Text, Chunk: SizesOf(d.Chunk), Root: "/r", Stat: "as it was"}
	j, err := f.client.PutDocuments(t.Context(), "", func(yield func(BulkLine, error) bool) { yield(line, nil) })
	if err != nil {
		t.Fatal(err)
	}
	if j, err = f.engine.Jobs().Await(t.Context(), j.ID); err != nil || j.Chunks != 2 {
		t.Errorf("by a job: %+v, %v", j, err)
	}
	list, err := f.client.ListDocuments(t.Context(), "", store.ListOptions{Root: "/r"})
	if err != nil || len(list) != 1 || list[0].Stat != "as it was" {
		t.Errorf("list: %+v, %v", list, err)
	}
}

func TestClientErrors(t *testing.T) {
	f := start(t, Options{})
	ctx, c := t.Context(), f.client
	q := ragctx.NewQuery("x").WithMaxTokens(-1)
	_, err := c.Context(ctx, q)
	if !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "body.max_tokens is -1; use 1 to 10000000") {
		t.Errorf("invalid: %v", err)
	}
	if p, ok := errors.AsType[*Problem](err); !ok || p.RequestID == "" {
		t.Errorf("no problem in %v", err)
	}
	if _, err := c.Document(ctx, "", "none", 0); !errors.Is(err, ragctx.ErrNotFound) {
		t.Errorf("not found: %v", err)
	}
	if _, err := c.PutDocument(ctx, "", ragctx.Document{ExternalID: "a", Text: "a\xffb"}, ""); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("text that is not UTF-8: %v", err)
	}
	if _, _, err := c.Remember(ctx, ragctx.Memory{Content: "a\xffb"}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("memory that is not UTF-8: %v", err)
	}
	if _, _, err := c.Remember(ctx, ragctx.Memory{Content: `the escape \ufffd and \\ufffd and the character ` + "\ufffd"}); err != nil {
		t.Errorf("text about U+FFFD: %v", err)
	}
	for field, l := range map[string]BulkLine{
		"id": {ID: "\xff", Text: "x"}, "delete": {Delete: "\xff"}, "text": {ID: "a", Text: "\xff"}, "title": {ID: "a", Text: "x", Title: "\xff"},
		"tags": {ID: "a", Text: "x", Tags: []string{"\xff"}}, "metadata": {ID: "a", Text: "x", Metadata: Metadata{"\xff": 1}},
	} {
		if _, err := c.PutDocuments(ctx, "", lines(l)); !errors.Is(err, ragctx.ErrInvalid) || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("a line whose %s is not UTF-8: %v", field, err)
		}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if err := c.Healthz(gone); !errors.Is(err, context.Canceled) || errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("canceled: %v", err)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if err := c.Healthz(ctx); !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), f.url) {
		t.Errorf("server gone: %v", err)
	}
	// Enough to be written while nobody is there to read it.
	_, err = c.PutDocuments(ctx, "", lines(BulkLine{ID: "a", Text: strings.Repeat("x", 1<<20)}, BulkLine{ID: "b", Text: "x"}))
	if !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), f.url) {
		t.Errorf("server gone before many documents: %v", err)
	}
}

func TestClientOfAnotherServer(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("<html>"))
	}))
	defer other.Close()
	c := NewClient(other.URL + "/")
	defer c.Close()
	if err := c.Healthz(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("redirected: %v", err)
	}
	if _, err := c.Search(t.Context(), ragctx.NewQuery("x")); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("not JSON: %v", err)
	}
}

// TestQueriesAreSentWhole: a query that the client sends is the one that the server reads.
func TestQueriesAreSentWhole(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	q := ragctx.ContextQuery{
		Query: "q", ContextTypes: []ragctx.ContextType{ragctx.TypeMemory}, Depth: ragctx.DepthFull, MaxResults: 3, MaxTokens: 500,
		Namespace: "n", UserID: "u", AgentID: "a", SessionID: "s", AsOf: at, Now: at.Add(time.Hour),
		Filter:    ragctx.Filter{Tags: []string{"t"}, Metadata: map[string]string{"k": "v"}, Sources: []string{"file:*"}, OccurredAfter: at, OccurredBefore: at},
		Tokenizer: "chars4", Format: "text", Preset: "compact", Queries: []string{"r"}, Messages: []ragctx.Message{{Role: ragctx.RoleUser, Content: ragctx.Text("m")}},
		Exclude: []string{"x"}, Shown: []string{"y"}, MinRelevance: new(.3), Diversity: .2, Blocks: true, StableTokens: 40, Citations: new(false), Spotlight: true,
		Explain: true, Exact: true, Highlight: true, Params: map[string]any{"p": true},
	}
	for f, v := range reflect.ValueOf(q).Fields() {
		if f.IsExported() && v.IsZero() {
			t.Errorf("%s is not set here", f.Name)
		}
	}
	body, err := json.Marshal(contextRequestOf(q))
	if err != nil {
		t.Fatal(err)
	}
	var r contextRequest
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	got, err := r.query()
	if diff := cmp.Diff(q, got, cmpopts.IgnoreUnexported(ragctx.ContextQuery{})); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
