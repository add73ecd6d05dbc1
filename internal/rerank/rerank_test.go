package rerank_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/rerank"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-9f8e7d6c5b4a"

// serve starts a service and returns its URL.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func newClient(t *testing.T, o rerank.Options) *rerank.Client {
	t.Helper()
	o.Backoff = time.Millisecond
	if o.Shape != rerank.TEI && o.Model == "" {
		o.Model = "m"
	}
	c, err := rerank.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestGoldens calls a documented fake of each shape and compares the requests and the decoded
// responses with goldens.
func TestGoldens(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) != len(rerank.Shapes()) {
		t.Fatalf("%d goldens, %v", len(files), err)
	}
	for _, name := range files {
		shape := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(shape, func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var sent bytes.Buffer
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				fmt.Fprintf(&sent, "%s %s\n", r.Method, r.URL.Path)
				for _, h := range []string{"Authorization", "Content-Type", "Accept"} {
					fmt.Fprintf(&sent, "%s: %s\n", h, r.Header.Get(h))
				}
				sent.WriteString("\n")
				_ = json.Indent(&sent, body, "", "  ")
				sent.WriteString("\n")
				w.Write(file(t, ar, "answer"))
			})
			o := rerank.Options{Shape: rerank.Shape(shape), URL: url, Model: "rerank-1", APIKey: "key"}
			texts := strings.Split(strings.TrimSpace(string(file(t, ar, "texts"))), "\n")
			scores, err := newClient(t, o).Rerank(t.Context(), texts[0], texts[1:])
			if err != nil {
				t.Fatal(err)
			}
			var read strings.Builder
			for i, s := range scores {
				fmt.Fprintf(&read, "%.4f %s\n", s, texts[i+1])
			}
			if *update {
				ar.Files = []txtar.File{
					ar.Files[0],
					{Name: "request", Data: sent.Bytes()},
					{Name: "answer", Data: file(t, ar, "answer")},
					{Name: "scores", Data: []byte(read.String())},
				}
				if err := os.WriteFile(name, txtar.Format(ar), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(string(file(t, ar, "request")), sent.String()); d != "" {
				t.Errorf("request (-want +got):\n%s", d)
			}
			if d := cmp.Diff(string(file(t, ar, "scores")), read.String()); d != "" {
				t.Errorf("scores (-want +got):\n%s", d)
			}
		})
	}
}

func file(t *testing.T, ar *txtar.Archive, name string) []byte {
	t.Helper()
	i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no file %s", name)
	}
	return ar.Files[i].Data
}

// judge answers in the shape of Jina: a text's score is 1 over its length.
func judge(w http.ResponseWriter, r *http.Request) int {
	var req struct{ Documents []string }
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return 0
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	var results []result
	for i, d := range slices.Backward(req.Documents) {
		results = append(results, result{i, 1 / float64(len(d))})
	}
	json.NewEncoder(w).Encode(map[string]any{"results": results})
	return len(req.Documents)
}

func TestBatches(t *testing.T) {
	var requests, most atomic.Int64
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if n := int64(judge(w, r)); n > most.Load() {
			most.Store(n)
		}
	})
	c := newClient(t, rerank.Options{Shape: rerank.Jina, URL: url, BatchSize: 3, MaxBytes: 16})
	texts := []string{"", " \n"}
	for i := range 20 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	texts = append(texts, strings.Repeat("é", 8)+"y", "xxxxxxxxxxxxxxxé")
	scores, err := c.Rerank(t.Context(), "q", texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range scores {
		want := 0.0
		switch n := len(texts[i]); {
		case i == len(texts)-1:
			want = 1. / 15 // the last character does not fit as a whole
		case i > 1:
			want = 1 / float64(min(n, 16))
		}
		if s != want {
			t.Errorf("text %d of %d bytes has %v, want %v", i, len(texts[i]), s, want)
		}
	}
	if requests.Load() != 8 || most.Load() != 3 {
		t.Errorf("%d requests with %d texts at most", requests.Load(), most.Load())
	}
}

func TestNothingToAsk(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the service was asked") })
	c := newClient(t, rerank.Options{Shape: rerank.Jina, URL: url, MaxDocuments: 2})
	if s, err := c.Rerank(t.Context(), "q", []string{" "}); err != nil || len(s) != 1 || s[0] != 0 {
		t.Errorf("a blank text: %v, %v", s, err)
	}
	if s, err := c.Rerank(t.Context(), "q", nil); err != nil || len(s) != 0 {
		t.Errorf("no texts: %v, %v", s, err)
	}
	if _, err := c.Rerank(t.Context(), " ", []string{"a"}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("no query: %v", err)
	}
	if _, err := c.Rerank(t.Context(), "q", make([]string, 3)); !errors.Is(err, ragctx.ErrTooLarge) {
		t.Errorf("too many texts: %v", err)
	}
}

func TestScales(t *testing.T) {
	for _, tt := range []struct {
		shape  rerank.Shape
		scale  rerank.Scale
		answer string
		want   string
	}{
		{rerank.Jina, "", `{"results":[{"index":0,"relevance_score":1.0004},{"index":1,"relevance_score":-0.0004}]}`, "[1 0]"},
		{rerank.Jina, "", `{"results":[{"index":0,"relevance_score":7.5},{"index":1,"relevance_score":0.1}]}`, "text 0 has the score 7.5, which is not on the scale unit"},
		{rerank.Jina, rerank.Cosine, `{"results":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":-0.25}]}`, "[0 0.5]"},
		{rerank.Jina, rerank.Cosine, `{"results":[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":-2}]}`, "not on the scale cosine"},
		{rerank.Jina, rerank.Logit, `{"results":[{"index":1,"relevance_score":-1e300},{"index":0,"relevance_score":0}]}`, "[0.5 0]"},
		{rerank.TEI, rerank.Logit, `[{"index":1,"score":800},{"index":0,"score":0}]`, "[0.5 1]"},
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if raw := bytes.Contains(body, []byte(`"raw_scores":true`)); raw != (tt.shape == rerank.TEI) {
				t.Errorf("%s was sent %s", tt.shape, body)
			}
			io.WriteString(w, tt.answer)
		})
		c := newClient(t, rerank.Options{Shape: tt.shape, Scores: tt.scale, URL: url})
		scores, err := c.Rerank(t.Context(), "q", []string{"a", "b"})
		if got := fmt.Sprint(scores, err); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.shape, tt.scale, got, tt.want)
		}
	}
}

func TestHostileAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"no JSON":        {"<html>", "does not have the shape of cohere"},
		"other shape":    {`[{"index":0,"score":0.5}]`, "does not have the shape of cohere"},
		"nothing":        {"", "does not have the shape"},
		"two values":     {`{"results":[]} {}`, "does not have the shape"},
		"null":           {"null", "0 results for 2 texts"},
		"empty object":   {"{}", "0 results for 2 texts"},
		"too few":        {`{"results":[{"index":0,"relevance_score":0.5}]}`, "1 results for 2 texts"},
		"too many":       {`{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":1},{"index":1,"relevance_score":1}]}`, "3 results for 2 texts"},
		"repeated":       {`{"results":[{"index":1,"relevance_score":1},{"index":1,"relevance_score":1}]}`, "text 1 has two results"},
		"out of range":   {`{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}`, "about text 2, but there are 2"},
		"negative":       {`{"results":[{"index":-1,"relevance_score":1},{"index":0,"relevance_score":1}]}`, "about text -1"},
		"no index":       {`{"results":[{"relevance_score":1},{"index":0,"relevance_score":1}]}`, "result 0 has no index"},
		"null score":     {`{"results":[{"index":1,"relevance_score":null},{"index":0,"relevance_score":1}]}`, "result 0 has no score"},
		"other score":    {`{"results":[{"index":1,"score":1},{"index":0,"score":1}]}`, "result 0 has no score"},
		"text for score": {`{"results":[{"index":1,"relevance_score":"NaN"},{"index":0,"relevance_score":1}]}`, "relevance_score is not of type float64"},
		"NaN":            {`{"results":[{"index":1,"relevance_score":NaN},{"index":0,"relevance_score":1}]}`, "invalid character"},
		"beyond floats":  {`{"results":[{"index":1,"relevance_score":1e999},{"index":0,"relevance_score":1}]}`, "relevance_score is not of type float64"},
		"half an index":  {`{"results":[{"index":0.5,"relevance_score":1},{"index":0,"relevance_score":1}]}`, "index is not of type int"},
		"huge":           {`{"results":[` + strings.Repeat(" ", 5<<20), "has more than 4194304 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				asked.Add(1)
				io.WriteString(w, tt.answer)
			})
			c := newClient(t, rerank.Options{Shape: rerank.Cohere, URL: url})
			scores, err := c.Rerank(t.Context(), "q", []string{"a", "b"})
			if scores != nil || err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 300 {
				t.Errorf("%v, %v; want %s", scores, err, tt.want)
			}
			if asked.Load() != 1 {
				t.Errorf("asked %d times", asked.Load())
			}
		})
	}
}

// TestRetries: a request is repeated when that may help, and not otherwise.
func TestRetries(t *testing.T) {
	for name, tt := range map[string]struct {
		fail  func(w http.ResponseWriter)
		tries int64
		kind  error
	}{
		"overloaded":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusTooManyRequests) }, 3, ragctx.ErrUnavailable},
		"broken":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, 3, ragctx.ErrUnavailable},
		"cut off":     {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 3, ragctx.ErrUnavailable},
		"half":        {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); io.WriteString(w, "{") }, 3, ragctx.ErrUnavailable},
		"bad request": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnprocessableEntity) }, 1, ragctx.ErrInvalid},
		"no such":     {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotImplemented) }, 1, ragctx.ErrUnavailable},
		"denied":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, 1, ragctx.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			var fine atomic.Bool
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) < 3 || !fine.Load() {
					tt.fail(w)
					return
				}
				judge(w, r)
			})
			c := newClient(t, rerank.Options{Shape: rerank.Jina, URL: url})
			if _, err := c.Rerank(t.Context(), "q", []string{"a"}); !errors.Is(err, tt.kind) || asked.Load() != tt.tries {
				t.Errorf("asked %d times, %v; want %d times, %v", asked.Load(), err, tt.tries, tt.kind)
			}
			asked.Store(0)
			fine.Store(true)
			if _, err := c.Rerank(t.Context(), "q", []string{"a"}); (err == nil) != (tt.tries == 3) {
				t.Errorf("a service that recovers: %v", err)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	var asked atomic.Int64
	after := "1"
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		judge(w, r)
	})
	o := rerank.Options{Shape: rerank.Jina, URL: url}
	start := time.Now()
	if _, err := newClient(t, o).Rerank(t.Context(), "q", []string{"a"}); err != nil || time.Since(start) < time.Second {
		t.Errorf("%v after %v, asked to wait 1 s", err, time.Since(start))
	}
	for _, after = range []string{"3600", "99999999999999999999", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)} {
		asked.Store(0)
		start := time.Now()
		_, err := newClient(t, o).Rerank(t.Context(), "q", []string{"a"})
		if after == "99999999999999999999" { // no number of seconds: as if it were not there
			if err != nil {
				t.Errorf("%s: %v", after, err)
			}
			continue
		}
		if !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "no time is left") || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %v after %v", after, err, time.Since(start))
		}
	}
}

func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"results":[`)
		w.(http.Flusher).Flush()
		<-release
	})
	defer close(release)
	c := newClient(t, rerank.Options{Shape: rerank.Jina, URL: url, Timeout: 20 * time.Millisecond})
	if _, err := c.Rerank(t.Context(), "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("own deadline: %v", err)
	}
	c = newClient(t, rerank.Options{Shape: rerank.Jina, URL: url})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Rerank(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller's deadline: %v", err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") })
	for _, status := range []int{301, 302, 303, 307, 308} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere+"/x?key=y", status) })
		c := newClient(t, rerank.Options{Shape: rerank.TEI, URL: url, APIKey: secret})
		_, err := c.Rerank(t.Context(), "q", []string{"a"})
		if err == nil || !strings.Contains(err.Error(), "redirects to "+strings.TrimPrefix(elsewhere, "http://")+",") {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// TestKeyStaysSecret: whatever the service says and whatever is printed, nothing
// holds the key, or much of it.
func TestKeyStaysSecret(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	var printed []string
	note := func(c *rerank.Client, err error) {
		logger.Info("x", "client", c, "error", err)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
			printed = append(printed, fmt.Sprintf(verb, c), fmt.Sprintf(verb, err))
		}
	}
	for _, said := range []string{secret, "Bearer " + secret, "invalid key " + secret[:8] + "***", "***" + secret[6:], "fine"} {
		for _, form := range []string{`{"message":%q}`, `{"detail":%q}`, `{"error":%q}`, `{"error":{"message":%q}}`, `{"detail":[%q]}`, `%s`} {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+secret {
					t.Errorf("authorized by %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, form, said)
			})
			c := newClient(t, rerank.Options{Shape: rerank.Cohere, URL: url, APIKey: secret})
			_, err := c.Rerank(t.Context(), "q", []string{"a"})
			note(c, err)
			if strings.Contains(form, ":%q") && said == "fine" && !strings.Contains(err.Error(), "status 401: fine") {
				t.Errorf("the service's message is lost: %v", err)
			}
		}
	}
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nAuthorization Bearer " + secret + "\r\n\r\n", // a malformed header is quoted
		secret + "\r\n\r\n", // so is a response that is not HTTP
		"HTTP/1.1 302 Found\r\nLocation: https://" + secret + "/\r\n\r\n",
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, err = io.WriteString(conn, answer)
			}
			if err = errors.Join(err, conn.Close()); err != nil {
				t.Error(err)
			}
		})
		c := newClient(t, rerank.Options{Shape: rerank.Cohere, URL: url, APIKey: secret})
		_, err := c.Rerank(t.Context(), "q", []string{"a"})
		note(c, err)
	}
	c := newClient(t, rerank.Options{Shape: rerank.Cohere, URL: "http://127.0.0.1:1", APIKey: secret})
	_, err := c.Rerank(t.Context(), "q", []string{"a"})
	note(c, err)
	for _, s := range append(printed, log.String()) {
		for i := range len(secret) - 6 {
			if part := secret[i : i+6]; strings.Contains(s, part) || strings.Contains(s, fmt.Sprintf("%x", part)) {
				t.Fatalf("%q tells %q of the key", s, part)
			}
		}
	}
}

func TestOptions(t *testing.T) {
	const local = "http://127.0.0.1:1"
	for _, tt := range []struct {
		field string
		o     rerank.Options
	}{
		{"shape", rerank.Options{}},
		{"shape", rerank.Options{Shape: "voyage", URL: local}},
		{"scores", rerank.Options{Shape: rerank.TEI, URL: local, Scores: "stars"}},
		{"model", rerank.Options{Shape: rerank.Jina, URL: local}},
		{"model", rerank.Options{Shape: rerank.Jina, URL: local, Model: "\xff"}},
		{"key", rerank.Options{Shape: rerank.Cohere, Model: "m"}},
		{"key", rerank.Options{Shape: rerank.TEI, URL: local, APIKey: secret + "\n"}},
		{"url", rerank.Options{Shape: rerank.TEI}},
		{"url", rerank.Options{Shape: rerank.TEI, URL: "127.0.0.1:80"}},
		{"url", rerank.Options{Shape: rerank.TEI, URL: "ftp://host/"}},
		{"url", rerank.Options{Shape: rerank.TEI, URL: "http://user:" + secret + "@127.0.0.1/"}},
		{"url", rerank.Options{Shape: rerank.TEI, URL: "http://127.0.0.1:" + secret}},
		{"url", rerank.Options{Shape: rerank.TEI, URL: "http://rerank.example.com", APIKey: secret}},
		{"timeout", rerank.Options{Shape: rerank.TEI, URL: local, Timeout: -1}},
		{"max_documents", rerank.Options{Shape: rerank.TEI, URL: local, MaxDocuments: -1}},
		{"max_bytes", rerank.Options{Shape: rerank.TEI, URL: local, MaxBytes: -1}},
		{"batch_size", rerank.Options{Shape: rerank.TEI, URL: local, BatchSize: -1}},
		{"backoff", rerank.Options{Shape: rerank.TEI, URL: local, Backoff: -1}},
	} {
		_, err := rerank.New(tt.o)
		f, ok := errors.AsType[*ragctx.FieldError](err)
		if !ok || f.Field != tt.field || !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%+v: %v, want an error about %s", tt.o, err, tt.field)
			continue
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%v tells the secret", err)
		}
	}
	for want, o := range map[string]rerank.Options{
		"cohere at api.cohere.com":  {Shape: rerank.Cohere, Model: "m", APIKey: secret},
		"jina at api.jina.ai":       {Shape: rerank.Jina, Model: "m", APIKey: secret},
		"tei at 127.0.0.1:8080":     {Shape: rerank.TEI, URL: "http://127.0.0.1:8080", APIKey: secret},
		"tei at tei":                {Shape: rerank.TEI, URL: "http://tei", APIKey: secret},
		"tei at [::1]:1":            {Shape: rerank.TEI, URL: "http://[::1]:1/x", APIKey: secret},
		"tei at 10.1.2.3":           {Shape: rerank.TEI, URL: "http://10.1.2.3", APIKey: secret},
		"tei at tei.ml.svc":         {Shape: rerank.TEI, URL: "http://tei.ml.svc", APIKey: secret},
		"tei at rerank.example.com": {Shape: rerank.TEI, URL: "http://rerank.example.com"},
		"jina at r.example.com":     {Shape: rerank.Jina, Model: "m", URL: "https://r.example.com/v1/rerank", APIKey: secret},
	} {
		c, err := rerank.New(o)
		if err != nil || c.String() != want {
			t.Errorf("%v, %v; want %s", c, err, want)
		}
	}
}

// TestPath: a path that is given is kept.
func TestPath(t *testing.T) {
	for given, want := range map[string]string{"": "/rerank", "/": "/rerank", "/models/a/rerank?v=1": "/models/a/rerank?v=1"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.String() != want {
				t.Errorf("%q: asked %s", given, r.URL)
			}
			io.WriteString(w, `[{"index":0,"score":0.5}]`)
		})
		if _, err := newClient(t, rerank.Options{Shape: rerank.TEI, URL: url + given}).Rerank(t.Context(), "q", []string{"a"}); err != nil {
			t.Errorf("%q: %v", given, err)
		}
	}
}
