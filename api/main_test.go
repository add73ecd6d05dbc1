package api

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/logtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a server on a real socket with a real engine.
type fixture struct {
	*Server

	eng    *engine.Engine
	dir    string
	url    string
	client *Client
	log    *logtest.Buffer
	stop   func() error // tells the server to stop and waits until it has
}

func start(t *testing.T, o Options, before ...func(*Server)) *fixture {
	t.Helper()
	f := startPaused(t, o, before...)
	f.eng.Jobs().Start()
	return f
}

// startPaused leaves the engine's jobs alone.
func startPaused(t *testing.T, o Options, before ...func(*Server)) *fixture {
	t.Helper()
	return startWith(t, engine.Options{PauseJobs: true}, o, before...)
}

// startWith starts a server for an engine with options, in a directory of its own.
func startWith(t *testing.T, eo engine.Options, o Options, before ...func(*Server)) *fixture {
	t.Helper()
	eo.Dir, eo.ProviderTimeout = t.TempDir(), cmp.Or(eo.ProviderTimeout, time.Minute)
	eng, err := engine.Open(t.Context(), eo)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{eng: eng, dir: eo.Dir, log: new(logtest.Buffer)}
	o.Log = slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f.Server = New(eng, o)
	for _, b := range before {
		b(f.Server)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.url = "http://" + ln.Addr().String()
	f.client = NewClient(f.url)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx, ln) }()
	f.stop = sync.OnceValue(func() error {
		cancel()
		return <-served
	})
	t.Cleanup(func() {
		f.client.Close()
		http.DefaultClient.CloseIdleConnections()
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// answer is what a request led to.
type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a request as it is; the header lines are "Name: value".
func (f *fixture) call(t *testing.T, method, target, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+target, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// problem checks that an answer is a well-formed problem and returns it.
func (a answer) problem(t *testing.T) Problem {
	t.Helper()
	var full foreignProblem
	p, into := &full.Problem, any(&full.Problem)
	other := a.header.Get("Content-Type") == jsonType // in the form of other APIs
	if other {
		into = &full
	}
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("status %d: not a problem: %v: %s", a.status, err, a.body)
	}
	if ct := a.header.Get("Content-Type"); !other && ct != problemType || other && (full.Error.Code != p.Code || full.Error.Message != p.Detail) {
		t.Errorf("Content-Type = %q: %s", ct, a.body)
	}
	if p.Status != a.status || p.Title == "" || p.Detail == "" || p.Code == "" || p.Type != "urn:ragctx:error:"+p.Code {
		t.Errorf("incomplete problem: %s", a.body)
	}
	if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("request_id %q, header %q", p.RequestID, a.header.Get("X-Request-Id"))
	}
	return *p
}

// into decodes a good answer.
func into[T any](t *testing.T, a answer, status int) T {
	t.Helper()
	var v T
	if a.status != status {
		t.Fatalf("status %d, want %d: %s", a.status, status, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return v
}
