package otlp

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx/internal/trace"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var began = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

func record() trace.Record {
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	return trace.Record{
		Operation: "context", Namespace: "default", RequestID: "r-1", Items: 3, Began: began, Ended: at(9),
		Intervals: []trace.Interval{
			{Stage: trace.Embed, Began: at(1), Ended: at(2)},
			{Stage: trace.Keyword, Began: at(2), Ended: at(5)},
			{Stage: trace.Engine, Began: at(0), Ended: at(9)},
		},
	}
}

func options(url string) Options {
	var n byte
	var mu sync.Mutex
	next := func() byte {
		mu.Lock()
		defer mu.Unlock()
		n++
		return n
	}
	return Options{
		URL: url, Key: "k", Version: "0.1.0", Log: slog.New(slog.DiscardHandler),
		NewTraceID: func() [16]byte { return [16]byte{15: next()} }, NewSpanID: func() [8]byte { return [8]byte{7: next()} },
	}
}

// TestRequest compares a request with a golden file, which the collector's decoder was seen to read
// (ptrace.JSONUnmarshaler of go.opentelemetry.io/collector/pdata 1.71.0).
func TestRequest(t *testing.T) {
	var got bytes.Buffer
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/base/v1/traces" || r.Header.Get("Authorization") != "Bearer k" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		_ = json.Indent(&got, body, "", "  ")
	}))
	defer s.Close()
	e, err := New(options(s.URL + "/base/"))
	if err != nil {
		t.Fatal(err)
	}
	failed := record()
	failed.Err, failed.Degraded = errors.New("secret words of the query"), []string{"vector"}
	failed.Parent = trace.Parent{TraceID: strings.Repeat("a", 32), SpanID: strings.Repeat("b", 16), Sampled: true}
	unsampled := record()
	unsampled.Parent = trace.Parent{TraceID: strings.Repeat("c", 32), SpanID: strings.Repeat("d", 16)}
	e.Add(record())
	e.Add(unsampled)
	e.Add(failed)
	e.Close() // sends what waits
	if *update {
		if err := os.WriteFile("testdata/request.json", got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/request.json")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Error(d)
	}
}

// TestHangingCollector adds more traces than the queue holds while the collector hangs. No call waits, and Close
// ends.
func TestHangingCollector(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer s.Close()
	defer close(release)
	e, err := New(options(s.URL))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for range 10 * queued {
		e.Add(record())
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("adding took %v", took)
	}
	if e.dropped.Load() == 0 {
		t.Error("nothing was dropped")
	}
	start = time.Now()
	e.Close()
	if took := time.Since(start); took > 4*closeWithin {
		t.Errorf("closing took %v", took)
	}
}

func TestMistakes(t *testing.T) {
	for url, want := range map[string]string{"localhost:4318": "is not a URL", "http://collector.example.com": "https", "https://a:b@c.example": "user"} {
		if _, err := New(options(url)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
