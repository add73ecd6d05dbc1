package mcp_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	mcpserver "github.com/ragctx/ragctx/api/mcp"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T) *engine.Engine {
	t.Helper()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), ProviderTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func put(t *testing.T, eng *engine.Engine, namespace, id, text string) {
	t.Helper()
	if _, err := eng.Documents().Put(t.Context(), namespace, ragctx.Document{ExternalID: id, Text: text}, ""); err != nil {
		t.Fatal(err)
	}
}

// stdio connects a client to a server over pipes.
func stdio(t *testing.T, s *mcpserver.Server) *mcp.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		defer toClient.Close()
		ended <- s.ServeStdio(context.WithoutCancel(t.Context()), fromClient, toClient)
	}()
	session := connect(t, &mcp.IOTransport{Reader: fromServer, Writer: toServer}, "")
	t.Cleanup(func() {
		session.Close()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return session
}

func connect(t *testing.T, transport mcp.Transport, version string) *mcp.ClientSession {
	t.Helper()
	session, err := tryConnect(t, transport, version)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func tryConnect(t *testing.T, transport mcp.Transport, version string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
}

// keyed stands for what comes before the handler: it gives each request the grant that
// the header X-Grant names.
func keyed(t *testing.T, s *mcpserver.Server, grants map[string]access.Grant) string {
	t.Helper()
	h := s.Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g, ok := grants[r.Header.Get("X-Grant")]; ok {
			r = r.WithContext(access.With(r.Context(), g))
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		srv.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return srv.URL
}

// with sends headers with each request.
type with map[string]string

func (h with) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func overHTTP(t *testing.T, url, version string, headers with) *mcp.ClientSession {
	t.Helper()
	client := &http.Client{Transport: headers}
	session := connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: client}, version)
	t.Cleanup(func() { session.Close(); http.DefaultTransport.(*http.Transport).CloseIdleConnections() })
	return session
}

// call calls a tool and decodes its answer; one that is an error fails the test.
func call[Out any](t *testing.T, session *mcp.ClientSession, name string, args map[string]any) Out {
	t.Helper()
	res := raw(t, session, name, args)
	if res.IsError {
		t.Fatalf("%s: %s", name, textOf(res))
	}
	var out Out
	b, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func raw(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return res
}

func textOf(res *mcp.CallToolResult) string {
	if len(res.Content) != 1 {
		return "not one content"
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// failure calls a tool that has to answer with an error.
func failure(t *testing.T, session *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	res := raw(t, session, name, args)
	if !res.IsError {
		t.Fatalf("%s with %v is no error: %s", name, args, textOf(res))
	}
	return textOf(res)
}

type results struct {
	Results []struct{ ID, Path, Title, URL, Content string }
	Next    string `json:"next_cursor"`
}

type memories struct {
	Memories []struct{ ID, Content string }
	Next     string `json:"next_cursor"`
}

type fetched struct {
	ID, Title, Text, URL string
	Metadata             map[string]any
	Next                 string `json:"next_cursor"`
}

// transports are the ways in which a client can be connected.
var transports = []struct {
	name    string
	connect func(t *testing.T, s *mcpserver.Server) *mcp.ClientSession
}{
	{"stdio", stdio},
	{"http with sessions", func(t *testing.T, s *mcpserver.Server) *mcp.ClientSession {
		return overHTTP(t, keyed(t, s, nil), "2025-11-25", nil)
	}},
	{"http without sessions", func(t *testing.T, s *mcpserver.Server) *mcp.ClientSession {
		return overHTTP(t, keyed(t, s, nil), "", nil)
	}},
}

func TestTools(t *testing.T) {
	for _, by := range transports {
		t.Run(by.name, func(t *testing.T) {
			eng := open(t)
			testTools(t, by.connect(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{})))
		})
	}
}

func testTools(t *testing.T, s *mcp.ClientSession) {
	put := call[struct {
		ID, Status string
		Version    int
	}](t, s, "ingest", map[string]any{"id": "docs/zebra #1.md", "text": "# Zebras\n\nZebras are <striped> & live in savannas.\n", "source": "https://zoo.example/zebra"})
	if put.Status != "created" || put.Version != 1 {
		t.Errorf("ingest: %+v", put)
	}
	call[any](t, s, "ingest", map[string]any{"id": "src/lion.go", "text": "package zoo\n\n// Roar makes the lion roar at night.\nfunc Roar() {}\n"})

	found := call[results](t, s, "search", map[string]any{"query": "where do zebras live?"})
	if len(found.Results) == 0 || found.Results[0].ID != "docs/zebra #1.md" || found.Results[0].Title != "Zebras" || found.Results[0].URL != "https://zoo.example/zebra" {
		t.Fatalf("search: %+v", found)
	}
	whole := call[fetched](t, s, "fetch", map[string]any{"id": found.Results[0].ID})
	if !strings.Contains(whole.Text, "<striped> & live") || whole.ID != found.Results[0].ID || whole.Metadata["type"] != "document" || whole.Next != "" {
		t.Errorf("fetch: %+v", whole)
	}

	code := call[results](t, s, "codesearch", map[string]any{"query": "lion roar", "path": "src/"})
	if len(code.Results) != 1 || code.Results[0].Path != "src/lion.go" || !strings.Contains(code.Results[0].Content, "func Roar") {
		t.Errorf("codesearch: %+v", code)
	}
	cited := call[fetched](t, s, "fetch", map[string]any{"id": code.Results[0].ID})
	if cited.Metadata["type"] != "passage" || !strings.Contains(cited.Text, "Roar") {
		t.Errorf("fetch of a passage: %+v", cited)
	}

	m := call[struct{ ID, Status string }](t, s, "memory_add", map[string]any{"content": "Ada prefers zebras over lions.", "user_id": "ada"})
	if m.Status != "created" || m.ID == "" {
		t.Errorf("memory_add: %+v", m)
	}
	mine := call[memories](t, s, "memory_search", map[string]any{"query": "which animal does Ada prefer?", "user_id": "ada"})
	if len(mine.Memories) != 1 || mine.Memories[0].ID != m.ID {
		t.Errorf("memory_search: %+v", mine)
	}
	if others := call[memories](t, s, "memory_search", map[string]any{"query": "which animal does Ada prefer?", "user_id": "bob"}); len(others.Memories) != 0 {
		t.Errorf("bob sees %+v", others)
	}
	about := map[string]any{"query": "zebras", "user_id": "ada"}
	a := call[struct{ Context string }](t, s, "context", about)
	if !strings.Contains(a.Context, "&lt;striped&gt; &amp; live") || !strings.Contains(a.Context, "prefers zebras") {
		t.Errorf("context: %+v", a)
	}
	var shown struct {
		Passages []struct {
			ID   string `xml:"id,attr"`
			Text string `xml:",chardata"`
		} `xml:"context"`
	}
	if err := xml.Unmarshal([]byte("<c>"+a.Context+"</c>"), &shown); err != nil || len(shown.Passages) < 2 {
		t.Fatalf("%d passages, %v: %s", len(shown.Passages), err, a.Context)
	}
	for _, p := range shown.Passages {
		if got := call[fetched](t, s, "fetch", map[string]any{"id": p.ID, "user_id": "ada"}); !strings.HasSuffix(strings.TrimSpace(p.Text), strings.TrimSpace(got.Text)) {
			t.Errorf("%s opens %q, and is %q", p.ID, got.Text, p.Text)
		}
	}
	about["citations"] = false
	if a := call[struct{ Context string }](t, s, "context", about); strings.Contains(a.Context, " id=") || !strings.HasPrefix(a.Context, "<context source=") {
		t.Errorf("without citations: %s", a.Context)
	}

	if got := failure(t, s, "memory_history", map[string]any{"id": m.ID, "user_id": "bob"}); got != `not_found: memory "`+m.ID+`": not found` {
		t.Errorf("bob reads the history: %s", got)
	}
	if f := call[struct{ Status string }](t, s, "memory_forget", map[string]any{"id": m.ID, "user_id": "bob"}); f.Status != "not_found" {
		t.Errorf("bob forgets: %+v", f)
	}
	if f := call[struct{ Status string }](t, s, "memory_forget", map[string]any{"id": m.ID, "user_id": "ada"}); f.Status != "forgotten" {
		t.Errorf("ada forgets: %+v", f)
	}
	h := call[struct{ Changes []struct{ Op string } }](t, s, "memory_history", map[string]any{"id": m.ID, "user_id": "ada"})
	if len(h.Changes) != 2 {
		t.Errorf("memory_history: %+v", h)
	}
	if mine := call[memories](t, s, "memory_search", map[string]any{"query": "which animal does Ada prefer?", "user_id": "ada"}); len(mine.Memories) != 0 {
		t.Errorf("what was forgotten is found: %+v", mine)
	}

	if jobs := call[struct{ Jobs []any }](t, s, "job_status", nil); len(jobs.Jobs) != 0 {
		t.Errorf("job_status: %+v", jobs)
	}
	if got := failure(t, s, "job_status", map[string]any{"id": "nobody"}); !strings.HasPrefix(got, "not_found") {
		t.Errorf("job_status: %s", got)
	}
}

// TestOpenAIShapes holds what clients of OpenAI expect: these keys and no others, as one
// text of JSON and as structure.
func TestOpenAIShapes(t *testing.T) {
	eng := open(t)
	put(t, eng, "", "a.md", "# Alpha\n\nAll about alpha.\n")
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	for name, args := range map[string]map[string]any{"search": {"query": "alpha"}, "fetch": {"id": "a.md"}} {
		res := raw(t, s, name, args)
		var text any
		if err := json.Unmarshal([]byte(textOf(res)), &text); err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(res.StructuredContent)
		again, _ := json.Marshal(text)
		if string(b) != string(again) {
			t.Errorf("%s: structure and text differ:\n%s\n%s", name, b, again)
		}
		want := `{"results":[{"id":"a.md","title":"Alpha","url":"ragctx://document/a.md"}]}`
		if name == "search" && string(b) != want {
			t.Errorf("search answers %s, want %s", b, want)
		}
		if f := call[map[string]any](t, s, name, args); name == "fetch" && (len(f) != 5 || f["id"] != "a.md" || f["title"] != "Alpha" || f["text"] == "" || f["url"] == "" || f["metadata"] == nil) {
			t.Errorf("fetch answers %v", f)
		}
	}
}

// TestToolsAnswer: each tool that is listed has annotations and answers.
func TestToolsAnswer(t *testing.T) {
	eng := open(t)
	put(t, eng, "", "a.md", "# Alpha\n\nAll about alpha.\n")
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := call[struct{ ID string }](t, s, "memory_add", map[string]any{"content": "alpha is first"})
	args := map[string]map[string]any{
		"context": {"query": "alpha"}, "search": {"query": "alpha"}, "fetch": {"id": "a.md"}, "codesearch": {"query": "alpha"},
		"memory_search": {"query": "alpha"}, "memory_add": {"content": "beta is second"}, "memory_forget": {"id": "none"},
		"memory_history": {"id": m.ID}, "ingest": {"id": "b.md", "text": "beta"}, "job_status": {},
	}
	if len(list.Tools) != len(args) {
		t.Errorf("%d tools are listed, %d tested", len(list.Tools), len(args))
	}
	for _, tool := range list.Tools {
		for _, at := range []string{"", "empty"} {
			given := maps.Clone(args[tool.Name])
			if at != "" {
				given["namespace"] = at
			}
			if res := raw(t, s, tool.Name, given); res.IsError {
				if at == "" {
					t.Errorf("%s: %s", tool.Name, textOf(res))
				}
			} else if _, ok := res.StructuredContent.(map[string]any); !ok {
				t.Errorf("%s has no structured content", tool.Name)
			}
		}
		if tool.Annotations == nil || tool.Annotations.Title == "" || tool.Annotations.OpenWorldHint == nil || tool.Annotations.DestructiveHint == nil {
			t.Errorf("%s has no annotations", tool.Name)
		}
	}
}

func TestPages(t *testing.T) {
	eng := open(t)
	ids := make(map[string]bool)
	for name := range strings.FieldsSeq("a b c d e f g") {
		put(t, eng, "", name+".md", "# Zebra "+name+"\n\nZebras of kind "+name+" are striped.\n")
		ids[name+".md"] = true
	}
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	for _, tool := range []string{"search", "codesearch"} {
		seen, pages, cursor := make(map[string]bool), 0, ""
		for {
			args := map[string]any{"query": "zebras", "limit": 3}
			if cursor != "" {
				args["cursor"] = cursor
			}
			page := call[results](t, s, tool, args)
			for _, r := range page.Results {
				if id := r.Path + r.Title; seen[id] {
					t.Errorf("%s shows %s twice", tool, id)
				} else {
					seen[id] = true
				}
			}
			pages++
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(seen) != len(ids) || pages != 3 {
			t.Errorf("%s shows %d of %d on %d pages", tool, len(seen), len(ids), pages)
		}
	}
	page := call[results](t, s, "search", map[string]any{"query": "zebras", "limit": 3})
	if got := failure(t, s, "search", map[string]any{"query": "lions", "limit": 3, "cursor": page.Next}); !strings.Contains(got, "cursor: belongs to other arguments") {
		t.Errorf("a cursor of another question: %s", got)
	}
	if got := failure(t, s, "search", map[string]any{"query": "zebras", "cursor": "x"}); !strings.Contains(got, "cursor: is not a cursor") {
		t.Errorf("no cursor: %s", got)
	}
}

func count(t *testing.T, text string) int {
	t.Helper()
	c, err := tokens.New(ragctx.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	return c.Count(text)
}

// TestMaxTokens holds that no answer, as text or as structure, has more tokens than asked
// for, and that what does not fit is reached by the next page.
func TestMaxTokens(t *testing.T) {
	eng := open(t)
	var long strings.Builder
	for i := range 400 {
		long.WriteString("Zebra number " + strings.Repeat("縞馬 ", i%7) + `says "<hello>" & \ waves.` + "\n\n")
	}
	put(t, eng, "", "long.md", long.String())
	for name := range strings.FieldsSeq("a b c d e f g h") {
		put(t, eng, "", name+".md", "# Zebra "+name+"\n\n"+strings.Repeat("Zebras of kind "+name+" are striped. ", 30))
	}
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	check := func(name string, limit int, args map[string]any) *mcp.CallToolResult {
		t.Helper()
		args["max_tokens"] = limit
		res := raw(t, s, name, args)
		if res.IsError {
			if !strings.Contains(textOf(res), "max_tokens") {
				t.Errorf("%s within %d: %s", name, limit, textOf(res))
			}
			return res
		}
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(res.StructuredContent); err != nil {
			t.Fatal(err)
		}
		// The order of keys is lost here; it moves the count by a few tokens at most.
		if n, m := count(t, textOf(res)), count(t, b.String()); n > limit || m > limit+8 {
			t.Errorf("%s within %d has %d and %d tokens", name, limit, n, m)
		}
		return res
	}
	for _, limit := range []int{200, 400, 1000, 5000} {
		for _, name := range []string{"context", "search", "codesearch"} {
			check(name, limit, map[string]any{"query": "striped zebras"})
		}
		var text strings.Builder
		args := map[string]any{"id": "long.md"}
		for {
			res := check("fetch", limit, args)
			b, _ := json.Marshal(res.StructuredContent)
			var page fetched
			if err := json.Unmarshal(b, &page); err != nil || page.Text == "" {
				t.Fatalf("fetch: %s, %v", textOf(res), err)
			}
			text.WriteString(page.Text)
			if page.Next == "" {
				break
			}
			args["cursor"] = page.Next
		}
		if text.String() != long.String() {
			t.Errorf("the pages of %d tokens are not the text: %d of %d bytes", limit, text.Len(), long.Len())
		}
	}
}

// TestFetchKeepsItsVersion reads on in the version that it began with.
func TestFetchKeepsItsVersion(t *testing.T) {
	eng := open(t)
	old := strings.Repeat("The old text goes on and on.\n", 300)
	put(t, eng, "", "a.md", old)
	s := stdio(t, mcpserver.New(mcpserver.Local(eng), mcpserver.Options{}))
	first := call[fetched](t, s, "fetch", map[string]any{"id": "a.md", "max_tokens": 1500})
	put(t, eng, "", "a.md", "new")
	second := call[fetched](t, s, "fetch", map[string]any{"id": "a.md", "max_tokens": 100000, "cursor": first.Next})
	if first.Text+second.Text != old {
		t.Errorf("%d and %d bytes of %d", len(first.Text), len(second.Text), len(old))
	}
}

// TestBadArguments names the argument, the limit and the remedy, as the answer of a tool.
func TestBadArguments(t *testing.T) {
	s := stdio(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{}))
	for _, c := range []struct {
		tool, want string
		args       map[string]any
	}{
		{"search", "invalid: query: is required", nil},
		{"search", "invalid: query: is empty", map[string]any{"query": ""}},
		{"search", "invalid: query: is a number; send a text", map[string]any{"query": 7}},
		{"search", "invalid: query: has 16385 characters; the limit is 16384", map[string]any{"query": strings.Repeat("x", 16385)}},
		{"search", "invalid: limit: is 0; use 1 to 100", map[string]any{"query": "x", "limit": 0}},
		{"search", "invalid: limit: is a number with a fraction; send a whole number", map[string]any{"query": "x", "limit": 1.5}},
		{"search", "invalid: max_tokens: is 3; use 200 to 200000", map[string]any{"query": "x", "max_tokens": 3}},
		{"search", "invalid: nonsense: is not an argument of this tool; use ", map[string]any{"query": "x", "nonsense": 1}},
		{"search", "invalid: user_id: has 513 characters", map[string]any{"query": "x", "user_id": strings.Repeat("x", 513)}},
		{"search", "invalid: query: has a NUL byte", map[string]any{"query": "a\x00b"}},
		{"context", "invalid: types[0]: is \"lion\"; use one of resource memory skill", map[string]any{"query": "x", "types": []string{"lion"}}},
		{"context", "invalid: types: is a text; send a list of texts", map[string]any{"query": "x", "types": "memory"}},
		{"memory_add", "invalid: importance: is 2; use 0 to 1", map[string]any{"content": "x", "importance": 2}},
		{"memory_add", "invalid: memory_type: is \"odd\"; use one of semantic episodic procedural working", map[string]any{"content": "x", "memory_type": "odd"}},
		{"memory_forget", "invalid: erase: is a text; send true or false", map[string]any{"id": "x", "erase": "yes"}},
		{"ingest", "invalid: id: is missing", map[string]any{"text": "x"}},
		{"ingest", "invalid: text: is missing", map[string]any{"id": "x"}},
		{"ingest", "invalid: paths: is not an argument", map[string]any{"paths": []string{"/etc"}}},
		{"ingest", "invalid: metadata: is a text; send an object", map[string]any{"id": "x", "text": "y", "metadata": "z"}},
		{"fetch", "not_found: id \"nobody@1#7\"", map[string]any{"id": "nobody@1#7"}},
	} {
		if got := failure(t, s, c.tool, c.args); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
	// Models write null for what they leave out.
	call[results](t, s, "search", map[string]any{"query": "x", "limit": nil, "cursor": nil})
}

var update = flag.Bool("update", false, "rewrite golden files")

// maxToolsBytes limits the JSON of the answer to tools/list.
const maxToolsBytes = 12_000

// TestToolsGolden keeps what models are told, and shows every change of it.
func TestToolsGolden(t *testing.T) {
	s := stdio(t, mcpserver.New(mcpserver.Local(open(t)), mcpserver.Options{Ingest: func(context.Context, string, []string) (engine.Job, error) { return engine.Job{}, nil }}))
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(list.Tools, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/tools.json"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o750), os.WriteFile(golden, append(got, '\n'), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("tools/list has changed (-want +got); look at it, then run with -update:\n%s", diff)
	}
	for _, tool := range list.Tools {
		for name, p := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
			p := p.(map[string]any)
			bounds := map[string][]string{"string": {"maxLength", "enum"}, "integer": {"maximum"}, "number": {"maximum"}, "array": {"maxItems"}}[p["type"].(string)]
			if len(bounds) > 0 && !slices.ContainsFunc(bounds, func(b string) bool { return p[b] != nil }) {
				t.Errorf("%s of %s has no bound", name, tool.Name)
			}
		}
	}
	// A model pays for this before it has done anything.
	short, _ := json.Marshal(list)
	if n := len(short); n > maxToolsBytes {
		t.Errorf("the answer to tools/list has %d bytes, more than %d", n, maxToolsBytes)
	} else {
		t.Logf("the answer to tools/list has %d bytes, %d tokens", n, count(t, string(short)))
	}
}
