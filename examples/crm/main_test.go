package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/providers/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const accounts = "testdata/accounts.json"

// TestInProcess: the program shows the account of who asks, and of nobody else.
func TestInProcess(t *testing.T) {
	for _, c := range []struct{ user, want string }{
		{"ann", `"company":"Heron Ltd"`}, {"ben", `"owes":"120.00"`}, {"eve", ""}, {"", ""},
	} {
		var out bytes.Buffer
		if err := run(t.Context(), []string{"-accounts", accounts, "-user", c.user, "Can I add another seat?"}, &out); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s is shown %s", c.user, got)
		}
	}
}

// TestMistakes: without its accounts or a question the program says what it needs.
func TestMistakes(t *testing.T) {
	for want, args := range map[string][]string{
		"-accounts": {"Can I add another seat?"}, "no question": {"-accounts", accounts},
	} {
		if err := run(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestServed: a ragctx server asks the provider's program, and puts the account before
// what it found itself.
func TestServed(t *testing.T) {
	const secret = "a secret of the two alone"
	program := httptest.NewServer(remote.Handler(Snapshot{fileCRM(accounts)}, secret))
	defer program.Close()
	p, err := remote.New(remote.Options{Name: "crm", URL: program.URL, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	eng, err := engine.Open(t.Context(), engine.Options{
		Dir: t.TempDir(), Providers: []resolve.Registered{{Provider: p, Required: true, Timeout: p.Patience()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	if _, err := eng.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "seats.md", Text: "# Seats\n\nAnother seat costs 10 a month.\n"}, ""); err != nil {
		t.Fatal(err)
	}
	url, stop := serveAPI(t, eng)
	defer stop()
	client := api.NewClient(url)
	defer client.Close()
	q := ragctx.NewQuery("What does another seat cost?")
	q.UserID = "ann"
	a, err := client.Context(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	account, seats := strings.Index(a.XML, "Heron Ltd"), strings.Index(a.XML, "costs 10")
	if account < 0 || seats < account || !strings.HasPrefix(a.XML, `<context source="crm:account-17" type="Resource" id="`) {
		t.Errorf("the answer is\n%s", a.XML)
	}
	program.Close()
	if a, err = client.Context(t.Context(), q); err != nil || !strings.Contains(a.XML, "costs 10") || len(a.Degraded) != 1 || a.Degraded[0] != "crm" {
		t.Errorf("without the program: %v, degraded %q\n%s", err, a.Degraded, a.XML)
	}
}

// serveAPI serves an engine as "ragctx serve" does.
func serveAPI(t *testing.T, eng *engine.Engine) (url string, stop func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- api.New(eng, api.Options{}).Serve(ctx, ln) }()
	return "http://" + ln.Addr().String(), func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestListen: the program ends when it is told to.
func TestListen(t *testing.T) {
	t.Setenv("CRM_SECRET", "")
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(ctx, []string{"-listen", "127.0.0.1:0", "-accounts", accounts}, w) }()
	line := make([]byte, 100)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(string(line[:n]), "serving "))
	p, err := remote.New(remote.Options{Name: "crm", URL: url})
	if err != nil {
		t.Fatal(err)
	}
	q := ragctx.NewQuery("q")
	q.UserID = "ben"
	if res, err := p.Query(t.Context(), q); err != nil || len(res.Items) != 1 || res.Items[0].ID != "account-18" {
		t.Errorf("%+v, %v", res, err)
	}
	p.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// brokenCRM is one that is down.
type brokenCRM struct{}

func (brokenCRM) AccountForUser(context.Context, string) (*Account, error) {
	return nil, errors.New("down")
}

func TestBrokenCRM(t *testing.T) {
	q := ragctx.NewQuery("q")
	q.UserID = "ann"
	if res, err := (Snapshot{brokenCRM{}}).Query(t.Context(), q); err == nil || len(res.Items) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}
