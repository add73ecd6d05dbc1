package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	mcpserver "github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// versions are those of a client with sessions and of one without.
var versions = []string{"2025-11-25", "2026-07-28"}

// TestGrants gives each call what the key of its request may do.
func TestGrants(t *testing.T) {
	eng := open(t)
	for _, user := range []string{"ada", "bob"} {
		if _, _, err := eng.Memories().Put(t.Context(), ragctx.Memory{ID: user + "1", UserID: user, Type: ragctx.MemorySemantic, Content: user + " likes zebras", Importance: .5}); err != nil {
			t.Fatal(err)
		}
	}
	url := keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), map[string]access.Grant{
		"reader": {Key: "r", Role: access.Read}, "ada": {Key: "a", Role: access.Write, User: "ada"}, "nobody": {Key: "n"},
	})
	for _, version := range versions {
		reader, ada := overHTTP(t, url, version, with{"X-Grant": "reader"}), overHTTP(t, url, version, with{"X-Grant": "ada"})
		for session, want := range map[*mcp.ClientSession]int{reader: 7, ada: 10} {
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != want {
				t.Errorf("%s: %d tools, want %d, %v", version, len(list.Tools), want, err)
			}
		}
		if _, err := reader.CallTool(t.Context(), &mcp.CallToolParams{Name: "memory_add", Arguments: map[string]any{"content": "x"}}); err == nil {
			t.Errorf("%s: a reader writes", version)
		}
		if got := call[memories](t, ada, "memory_search", map[string]any{"query": "who likes zebras?"}); len(got.Memories) != 1 || got.Memories[0].ID != "ada1" {
			t.Errorf("%s: ada's key finds %+v", version, got)
		}
		if got := failure(t, ada, "memory_search", map[string]any{"query": "zebras", "user_id": "bob"}); !strings.HasPrefix(got, "denied: ") {
			t.Errorf("%s: ada's key asks for bob: %s", version, got)
		}
		if got := failure(t, ada, "fetch", map[string]any{"id": "bob1"}); !strings.HasPrefix(got, "not_found: ") {
			t.Errorf("%s: ada's key fetches bob's memory: %s", version, got)
		}
		if _, err := ada.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ragctx://memory/bob1"}); err == nil {
			t.Errorf("%s: ada's key reads bob's memory", version)
		}
		if nobody, err := tryConnect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: with{"X-Grant": "nobody"}}}, version); err == nil {
			if got := failure(t, nobody, "search", map[string]any{"query": "zebras"}); !strings.HasPrefix(got, "denied: ") {
				t.Errorf("%s: no role searches: %s", version, got)
			}
			nobody.Close()
		}
	}
}

// TestSessionOfAnotherKey is of no use, nor is one whose key may do less by now.
func TestSessionOfAnotherKey(t *testing.T) {
	grants := map[string]access.Grant{"one": {Key: "1", Role: access.Write}, "two": {Key: "2", Role: access.Admin}, "less": {Key: "1", Role: access.Read}}
	url := keyed(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{}), grants)
	id := begin(t, url, "one")
	for _, c := range []struct {
		key, method string
		status      int
	}{
		{"one", "POST", 200}, {"two", "POST", 403}, {"", "POST", 403}, {"two", "GET", 403}, {"two", "DELETE", 403}, {"one", "DELETE", 204}, {"one", "POST", 404},
	} {
		if status, body := send(t, c.method, url, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, with{"X-Grant": c.key, "Mcp-Session-Id": id}); status != c.status {
			t.Errorf("%s with key %q: %d %s, want %d", c.method, c.key, status, body, c.status)
		}
	}
	id = begin(t, url, "one")
	add := `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"memory_add","arguments":{"content":"x"}}}`
	if _, body := send(t, "POST", url, add, with{"X-Grant": "less", "Mcp-Session-Id": id}); !strings.Contains(body, "denied: ") {
		t.Errorf("a key that may only read by now: %s", body)
	}
	send(t, "DELETE", url, "", with{"X-Grant": "one", "Mcp-Session-Id": id})
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// begin begins a session and returns its id.
func begin(t *testing.T, url, key string) string {
	t.Helper()
	req := request(t, "POST", url, initialize, with{"X-Grant": key})
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	id := res.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %s", res.Status)
	}
	send(t, "POST", url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, with{"X-Grant": key, "Mcp-Session-Id": id})
	return id
}

func request(t *testing.T, method, url, body string, headers with) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	return req
}

// send sends a message as it is, and returns the status and the whole answer.
func send(t *testing.T, method, url, body string, headers with) (int, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(request(t, method, url, body, headers))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return res.StatusCode, string(b)
}

// TestBatchesAreRefused: what limits requests would count one as a single call.
func TestBatchesAreRefused(t *testing.T) {
	eng := open(t)
	url := keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), map[string]access.Grant{"one": {Key: "1", Role: access.Write}})
	id := begin(t, url, "one")
	add := `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"memory_add","arguments":{"content":"Zebras."}}}`
	batch := " \r\n\t[" + fmt.Sprintf(add, 2) + "," + fmt.Sprintf(add, 3) + "]"
	for _, version := range []string{"2025-03-26", "2025-06-18", "2026-07-28"} {
		status, body := send(t, "POST", url, batch, with{"X-Grant": "one", "Mcp-Session-Id": id, "Mcp-Protocol-Version": version})
		if status != http.StatusBadRequest || !strings.Contains(body, `"code":-32600`) || !strings.Contains(body, "in a request of its own") {
			t.Errorf("%s: %d %s", version, status, body)
		}
	}
	if status, body := send(t, "POST", url, "\n "+fmt.Sprintf(add, 4), with{"X-Grant": "one", "Mcp-Session-Id": id}); status != http.StatusOK || !strings.Contains(body, "created") {
		t.Errorf("one message after white space: %d %s", status, body)
	}
	found, _, err := eng.Memories().List(t.Context(), "", store.MemoryFilter{Limit: 10})
	if err != nil || len(found) != 1 {
		t.Errorf("%d memories, %v", len(found), err)
	}
}

// slowly is an engine whose searches wait.
type slowly struct {
	mcpserver.Engine

	begun, end chan struct{}
}

func (s slowly) Search(ctx context.Context, q ragctx.ContextQuery) (engine.SearchResult, error) {
	if q.Query == "slow" {
		s.begun <- struct{}{}
		<-s.end
	}
	return s.Engine.Search(ctx, q)
}

// TestCallsPerKey has a key with more slow calls than it has places, which keep only its
// own calls waiting.
func TestCallsPerKey(t *testing.T) {
	const most = 2
	eng := slowly{mcpserver.Local(open(t)), make(chan struct{}, 10), make(chan struct{})}
	url := keyed(t, mcpserver.New(eng, mcpserver.Options{MaxCalls: 2 * most, MaxCallsPerKey: most}), map[string]access.Grant{
		"one": {Key: "1", Role: access.Read}, "two": {Key: "2", Role: access.Read},
	})
	one, two := overHTTP(t, url, versions[1], with{"X-Grant": "one"}), overHTTP(t, url, versions[1], with{"X-Grant": "two"})
	var calls sync.WaitGroup
	for range 3 * most {
		calls.Go(func() {
			_, err := one.CallTool(context.WithoutCancel(t.Context()), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "slow"}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	for range most {
		<-eng.begun
	}
	raw(t, two, "search", map[string]any{"query": "zebras"}) // the other key's is answered
	if n := len(eng.begun); n > 0 {
		t.Errorf("%d more calls of the key began", n)
	}
	close(eng.end)
	calls.Wait()
}

// TestSessionLimits bounds sessions in all and for each key; one that ends makes room, by
// itself when it is silent.
func TestSessionLimits(t *testing.T) {
	grants := map[string]access.Grant{"one": {Key: "1", Role: access.Read}, "two": {Key: "2", Role: access.Write}, "three": {Key: "3", Role: access.Read}}
	serve := func(idle time.Duration) (url string, refused func(key string) bool) {
		url = keyed(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{MaxSessions: 3, MaxSessionsPerKey: 2, SessionIdle: idle}), grants)
		return url, func(key string) bool {
			_, body := send(t, "POST", url, initialize, with{"X-Grant": key})
			return strings.Contains(body, "the limits are 3 and 2")
		}
	}
	url, refused := serve(time.Hour)
	first := begin(t, url, "one")
	begin(t, url, "one")
	if !refused("one") {
		t.Error("a key has more than its sessions")
	}
	begin(t, url, "two")
	if !refused("three") {
		t.Error("there are more than all sessions")
	}
	send(t, "DELETE", url, "", with{"X-Grant": "one", "Mcp-Session-Id": first})
	begin(t, url, "three")

	url, refused = serve(20 * time.Millisecond)
	begin(t, url, "one")
	begin(t, url, "one")
	for end := time.Now().Add(2 * time.Minute); refused("one"); time.Sleep(20 * time.Millisecond) { // until those that are silent have ended
		if time.Now().After(end) {
			t.Fatal("sessions that are silent do not end")
		}
	}
}

// TestHeadersFixTheScope: what the configuration of a client says, its model cannot change.
func TestHeadersFixTheScope(t *testing.T) {
	eng := open(t)
	put(t, eng, "work", "a.md", "# Zebras at work\n")
	put(t, eng, "home", "b.md", "# Zebras at home\n")
	for _, version := range versions {
		s := overHTTP(t, keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), nil), version, with{mcpserver.NamespaceHeader: "work"})
		if got := call[results](t, s, "search", map[string]any{"query": "zebras"}); len(got.Results) != 1 || got.Results[0].ID != "a.md" {
			t.Errorf("%+v", got)
		}
		if got := failure(t, s, "search", map[string]any{"query": "zebras", "namespace": "home"}); !strings.Contains(got, `the configuration fixes it to "work"`) {
			t.Error(got)
		}
		res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ragctx://document/a.md"})
		if err != nil || !strings.Contains(res.Contents[0].Text, "at work") {
			t.Errorf("%+v, %v", res, err)
		}
	}
}

// TestMounted answers behind a whole server, refuses other origins, and does not hold it
// up when it ends with a session open.
func TestMounted(t *testing.T) {
	eng := open(t)
	put(t, eng, "", "a.md", "# Zebras\n")
	agents := mcpserver.New(mcpserver.Local(eng), mcpserver.Options{})
	srv := api.New(eng, api.Options{MCP: agents.Handler()})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String() + "/mcp"
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ctx, ln) }()
	for _, version := range versions {
		s := overHTTP(t, url, version, nil) // listens for what the server has to say, too
		if got := call[results](t, s, "search", map[string]any{"query": "zebras"}); len(got.Results) != 1 {
			t.Errorf("%+v", got)
		}
	}
	if status, body := send(t, "POST", url, initialize, with{"Origin": "https://evil.example"}); status != 403 {
		t.Errorf("another origin: %d %s", status, body)
	}
	if status, body := send(t, "PUT", url, initialize, nil); status != 405 {
		t.Errorf("another method: %d %s", status, body)
	}
	stop()
	if err := errors.Join(<-served, agents.Close()); err != nil {
		t.Error(err)
	}
}

// TestHostileHTTP sends what no client would: each is an error of the caller, and the next
// one is served.
func TestHostileHTTP(t *testing.T) {
	url := keyed(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{}), nil)
	id := begin(t, url, "")
	long := strings.Repeat("x", 9<<20)
	for name, c := range map[string]struct {
		body    string
		headers with
	}{
		"empty":              {"", nil},
		"no JSON":            {"{", nil},
		"an array":           {"[]", nil},
		"unknown method":     {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, nil},
		"too long":           {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + long + `"}}`, nil},
		"deep":               {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat("[", 1<<20) + `}`, nil},
		"another type":       {initialize, with{"Content-Type": "text/plain"}},
		"unknown session":    {initialize, with{"Mcp-Session-Id": "x"}},
		"strange version":    {initialize, with{"Mcp-Protocol-Version": "1999-01-01"}},
		"a later version":    {initialize, with{"Mcp-Protocol-Version": "9999-01-01"}},
		"accepts no streams": {initialize, with{"Accept": "text/html"}},
	} {
		headers := with{"Mcp-Session-Id": id}
		maps.Copy(headers, c.headers)
		status, body := send(t, "POST", url, c.body, headers)
		if status >= 500 || status < 400 && !strings.Contains(body, `"error"`) {
			t.Errorf("%s: %d %.200s", name, status, body)
		}
	}
	for name, params := range map[string]string{
		"no such tool":        `{"name":"no_such","arguments":{}}`,
		"arguments no object": `{"name":"search","arguments":[1]}`,
		"twice":               `{"name":"search","arguments":{"query":"a","query":7}}`,
		"another case":        `{"name":"search","arguments":{"QUERY":"a"}}`,
		"bad UTF-8":           `{"name":"search","arguments":{"query":"` + "\xff\xfe" + `","limit":"x"}}`,
		"no number":           `{"name":"search","arguments":{"query":"a","limit":1e999}}`,
		"deep metadata":       `{"name":"ingest","arguments":{"id":"a","text":"b","metadata":{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}}}`,
		"a forged cursor":     `{"name":"search","arguments":{"query":"a","cursor":"` + strings.Repeat("A", 200) + `"}}`,
	} {
		status, body := send(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, with{"Mcp-Session-Id": id})
		if status >= 500 || status == 200 && !strings.Contains(body, `"error"`) && !strings.Contains(body, `"isError":true`) {
			t.Errorf("%s: %d %.300s", name, status, body)
		}
	}
	if status, body := send(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, with{"Mcp-Session-Id": id}); status != 200 || !strings.Contains(body, `"result":{}`) {
		t.Errorf("afterwards: %d %s", status, body)
	}
	send(t, "DELETE", url, "", with{"Mcp-Session-Id": id})
}

// slow is an engine whose searches end with their calls.
type slow struct {
	mcpserver.Engine

	begun, ended chan struct{}
}

func (s slow) Search(ctx context.Context, _ ragctx.ContextQuery) (engine.SearchResult, error) {
	s.begun <- struct{}{}
	<-ctx.Done()
	s.ended <- struct{}{}
	return engine.SearchResult{}, ctx.Err()
}

// TestCancelled ends a call that its caller gives up, however it is connected.
func TestCancelled(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			e := slow{mcpserver.Local(open(t)), make(chan struct{}, 1), make(chan struct{}, 1)}
			s := by.connect(t, mcpserver.New(e, mcpserver.Options{}))
			ctx, cancel := context.WithCancel(t.Context())
			given := make(chan error, 1)
			go func() {
				_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "x"}})
				given <- err
			}()
			<-e.begun
			cancel()
			<-e.ended
			if err := <-given; err == nil {
				t.Error("a call that was given up has an answer")
			}
		})
	}
}

// broken is an engine that panics.
type broken struct{ mcpserver.Engine }

func (broken) Search(context.Context, ragctx.ContextQuery) (engine.SearchResult, error) {
	panic("broken")
}

// TestPanic is one call's.
func TestPanic(t *testing.T) {
	s := stdio(t, mcpserver.New(broken{mcpserver.Local(open(t))}, mcpserver.Options{MaxCalls: 1}))
	for range 3 {
		if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "search", Arguments: map[string]any{"query": "x"}}); err == nil || strings.Contains(err.Error(), "broken") {
			t.Errorf("a panic: %v", err)
		}
	}
	call[struct{ Jobs []any }](t, s, "job_status", nil)
}

func TestResourcesAndPrompt(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			eng := open(t)
			ids := []string{"docs/zebra #1?.md", "https://zoo.example/a?b=c#d", "ü/縞馬 100%.md", "..", "a+b&c"}
			for _, id := range ids {
				put(t, eng, "", id, "# Text of "+id+"\n")
			}
			s := by.connect(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
			found := call[results](t, s, "search", map[string]any{"query": "text of", "limit": 20})
			var seen []string
			for _, r := range found.Results {
				res, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URL})
				if err != nil {
					t.Errorf("%s: %v", r.URL, err)
					continue
				}
				if got := res.Contents[0].Text; got != "# Text of "+r.ID+"\n" {
					t.Errorf("%s is %q", r.URL, got)
				}
				seen = append(seen, r.ID)
			}
			slices.Sort(seen)
			if slices.Sort(ids); !slices.Equal(ids, seen) {
				t.Errorf("found %q", seen)
			}
			for _, uri := range []string{"ragctx://document/none", "ragctx://memory/none", "ragctx://document/", "ragctx://document/%zz", "ragctx://lion/x", "file:///etc/passwd"} {
				if _, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
					t.Errorf("%s is read", uri)
				}
			}
			p, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "answer_with_context", Arguments: map[string]string{"question": "what is the text of a+b&c?"}})
			if err != nil || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "Text of a+b&amp;c") {
				t.Errorf("%+v, %v", p, err)
			}
			for _, args := range []map[string]string{nil, {"question": "x", "max_tokens": "lots"}} {
				if _, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "answer_with_context", Arguments: args}); err == nil {
					t.Errorf("a prompt of %v", args)
				}
			}
			c, err := s.Complete(t.Context(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: "ragctx://document/{id}"},
				Argument: mcp.CompleteParamsArgument{Name: "id", Value: "docs%2F"},
			})
			if err != nil || len(c.Completion.Values) != 1 || c.Completion.Values[0] != "docs%2Fzebra%20%231%3F.md" {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

// TestFixedScope takes arguments away that could only repeat what is configured.
func TestFixedScope(t *testing.T) {
	s := stdio(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{Scope: mcpserver.Scope{Namespace: "work", UserID: "ada"}}))
	if got := failure(t, s, "search", map[string]any{"query": "x", "user_id": "ben"}); got != "invalid: user_id: is fixed by the operator; leave it out" {
		t.Errorf("an argument that is configured: %s", got)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		b, _ := json.Marshal(tool.InputSchema)
		if strings.Contains(string(b), `"namespace"`) || strings.Contains(string(b), `"user_id"`) {
			t.Errorf("%s asks for what is fixed", tool.Name)
		}
	}
}

// TestScopeByHeaderIsWithinTheKey: what a request configures narrows its key, and opens nothing.
func TestScopeByHeaderIsWithinTheKey(t *testing.T) {
	eng := open(t)
	put(t, eng, "secret", "s.md", "# Zebras\n\nThe secret zebra password is hunter2.\n")
	if _, _, err := eng.Memories().Put(t.Context(), ragctx.Memory{ID: "all", Namespace: "mine", Content: "Zebras belong to nobody."}); err != nil {
		t.Fatal(err)
	}
	url := keyed(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}), map[string]access.Grant{
		"ada": {Key: "ada", Role: access.Write, Namespaces: []string{"mine"}, User: "ada"},
		"w":   {Key: "w", Role: access.Write, Namespaces: []string{"mine"}},
	})
	for _, version := range versions {
		s := overHTTP(t, url, version, with{"X-Grant": "ada", mcpserver.NamespaceHeader: "secret"})
		for tool, args := range map[string]map[string]any{
			"fetch": {"id": "s.md"}, "context": {"query": "secret zebra password"}, "search": {"query": "zebra"},
			"ingest": {"id": "evil.md", "text": "# evil\n"}, "memory_add": {"content": "planted"},
		} {
			if got := textOf(raw(t, s, tool, args)); !strings.HasPrefix(got, "denied: ") {
				t.Errorf("%s %s: %s", version, tool, got)
			}
		}
		s = overHTTP(t, url, version, with{"X-Grant": "w", mcpserver.UserHeader: "ada"})
		if got := raw(t, s, "memory_forget", map[string]any{"id": "all", "erase": true}); !got.IsError {
			t.Errorf("%s: a memory of nobody is erased for a fixed user: %s", version, textOf(got))
		}
	}
}
