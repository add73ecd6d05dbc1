package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/providers/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const folder = "testdata/docs"

// TestInProcess: a session of an engine in the program asks the folder.
func TestInProcess(t *testing.T) {
	for _, c := range []struct{ question, want string }{
		{"authentication flow", `<context source="docs:login.md" type="Resource" id="`},
		{"zebras", "nothing found: "},
	} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"-folder", folder, c.question}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: %s", c.question, out.String())
		}
	}
	if err := run(t.Context(), []string{"-folder", "nowhere", "x"}, io.Discard); err == nil {
		t.Error("a folder that there is not")
	}
}

// TestServed: the program answers an engine elsewhere, in the sessions that added it.
func TestServed(t *testing.T) {
	const secret = "a secret of the two alone"
	t.Setenv("DOCS_SECRET", secret)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-listen", "127.0.0.1:0", "-folder", folder}, w) }()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := remote.New(remote.Options{Name: "folder", URL: strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "serving ")), Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	eng, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), SessionProviders: []resolve.Registered{{Provider: p, Timeout: p.Patience()}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if _, err := eng.Sessions().UseProvider(t.Context(), engine.SessionKey{SessionID: "s1"}, "folder"); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]string{"s1": "login.md flow.md", "s2": ""} {
		a, err := eng.Context(t.Context(), ragctx.NewQuery("authentication flow").WithSessionID(session))
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, it := range a.Items {
			ids = append(ids, it.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("session %s: %q, want %q (%s)", session, got, want, a.Note)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestQuery: types, caps and depths of a question count.
func TestQuery(t *testing.T) {
	d := Docs{fstest.MapFS{
		"a.md": {Data: []byte("zebras and lions")}, "b.txt": {Data: []byte("zebras " + strings.Repeat("é", 3000))},
		"c.go": {Data: []byte("zebras")}, "d.md": {Data: []byte("\xffzebras")}, "e.md": {Data: make([]byte, maxFileBytes+1)},
	}}
	q := ragctx.NewQuery("zebras, lions")
	for _, c := range []struct {
		name string
		q    ragctx.ContextQuery
		want []string
	}{
		{"all", q, []string{"a.md", "b.txt"}},
		{"one", q.WithMaxResults(1), []string{"a.md"}},
		{"memories", q.WithTypes(ragctx.TypeMemory), nil},
		{"no words", ragctx.NewQuery("a ? b"), nil},
	} {
		r, err := d.Query(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range r.Items {
			got = append(got, it.ID)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for depth, want := range map[ragctx.ContextDepth]int{ragctx.DepthAbstract: 500, ragctx.DepthOverview: 2000, ragctx.DepthFull: 3007} {
		r, err := d.Query(t.Context(), q.WithDepth(depth))
		if err != nil || len([]rune(r.Items[1].Content)) != want {
			t.Errorf("%s: %d characters, %v", depth, len([]rune(r.Items[1].Content)), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Query(ctx, q); err == nil {
		t.Error("a question that nobody waits for is answered")
	}
}
