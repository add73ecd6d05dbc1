package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/providers/remote"
)

// serving runs a server of the data directory d in this process. It returns a function that ends it, and returns
// its output.
func serving(t *testing.T) (end func() string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	var out strings.Builder
	go func() {
		ended <- run(ctx, []string{"serve", "--data", "d", "--addr", "127.0.0.1:0"}, strings.NewReader(""), &out, io.Discard)
	}()
	for end := time.Now().Add(patience); engine.OwnerOf("d").Address == "" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	return func() string {
		t.Helper()
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("the server ended with %d: %s", code, out.String())
		}
		return out.String()
	}
}

// TestWebhooks serves with a webhook in the settings file. The receiver gets a signed event of a memory, and the
// position is stored when the server ends.
func TestWebhooks(t *testing.T) {
	dir := t.TempDir()
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := remote.Verify("hush", r.Header.Get(remote.SignatureHeader), body, time.Now()); err != nil {
			t.Error(err)
		}
		got <- string(body)
	}))
	defer receiver.Close()
	t.Setenv("HOOK_SECRET", "hush")
	hook := func(more string) string {
		return `[{"name": "audit", "url": "` + receiver.URL + `", "types": ["memory_stored"], "secret_env": "HOOK_SECRET"` + more + `}]`
	}
	for list, want := range map[string]string{
		hook(""): "webhook 1: url: is not on the public Internet; set allow_private",
		hook(`, "allow_private": true, "types": ["x"]`): "is not an event type",
		hook(`, "colour": "red"`):                       "unknown field",
		`[{"name": "a", "url": "ftp:"}]`:                "is not a URL",
		`{}`:                                            "is not a JSON list",
	} {
		t.Setenv("RAGCTX_WEBHOOKS", list)
		if r := ragctxIn(t.Context(), t, dir, "", "serve", "--data", "d", "--addr", "127.0.0.1:0"); r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", list, r)
		}
	}
	t.Setenv("RAGCTX_WEBHOOKS", hook(`, "allow_private": true`))
	end := serving(t)
	var stderr strings.Builder
	if code := run(t.Context(), []string{"remember", "Ann likes tea.", "--data", "d"}, strings.NewReader(""), io.Discard, &stderr); code != 0 {
		t.Fatal(stderr.String())
	}
	select {
	case body := <-got:
		if !strings.Contains(body, `"type":"memory_stored"`) || !strings.Contains(body, `"memory_id":`) {
			t.Error(body)
		}
	case <-time.After(patience):
		t.Fatal("no event came")
	}
	if out := end(); !strings.Contains(out, "webhook audit: http://127.0.0.1") {
		t.Error(out)
	}
	if b, err := os.ReadFile("d/" + webhooksFile); err != nil || !strings.Contains(string(b), `"complete":true`) {
		t.Errorf("%s, %v", b, err)
	}
}

// TestTraces serves with a collector of traces. A query of a caller that samples is a part of the caller's trace,
// with a span for each stage.
func TestTraces(t *testing.T) {
	dir := t.TempDir()
	type span struct{ TraceID, SpanID, ParentSpanID, Name string }
	got := make(chan []span, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var in struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/traces" {
			t.Error(r.URL, err)
		}
		got <- in.ResourceSpans[0].ScopeSpans[0].Spans
	}))
	defer collector.Close()
	t.Setenv("RAGCTX_OTLP_URL", "collector:4318")
	if r := ragctxIn(t.Context(), t, dir, "", "serve", "--data", "d"); r.code != exitUsage || !strings.Contains(r.stderr, "RAGCTX_OTLP_URL: is not a URL") {
		t.Errorf("%+v", r)
	}
	t.Setenv("RAGCTX_OTLP_URL", collector.URL)
	end := serving(t)
	for _, flags := range []string{"00", "01"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+engine.OwnerOf("d").Address+"/v1/context", strings.NewReader(`{"query": "zebras"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-"+flags)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	out := end() // sends the traces
	spans := <-got
	stages := map[string]bool{}
	for i, s := range spans {
		if s.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || i > 0 && s.ParentSpanID != spans[0].SpanID {
			t.Errorf("%+v", s)
		}
		stages[s.Name] = true
	}
	if spans[0].Name != "context" || spans[0].ParentSpanID != "00f067aa0ba902b7" || !stages["assemble"] || len(got) > 0 {
		t.Errorf("%+v", spans)
	}
	if !strings.Contains(out, "traces: http://127.0.0.1") || strings.Contains(out, "zebras") {
		t.Error(out)
	}
}
