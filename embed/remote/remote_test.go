package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/remote"
)

func TestQueries(t *testing.T) {
	for _, shape := range remote.Shapes() {
		f := &fake{shape: shape, dim: 4}
		c, _ := start(t, f, remote.Options{QueryPrefix: "q: ", DocumentPrefix: "d: ", MaxBytes: 10})
		for text, sent := range map[string]string{"what": "q: what", "größer als alles": "q: größer a"} {
			v, err := c.EmbedQuery(t.Context(), text)
			if err != nil || !near(v, f.want(sent)) {
				t.Errorf("%s, %q: %v, %v", shape, text, v, err)
			}
		}
		if v, err := c.EmbedQuery(t.Context(), " \n"); v != nil || err != nil {
			t.Errorf("%s: a blank question: %v, %v", shape, v, err)
		}
		d, err := c.EmbedDocuments(t.Context(), []string{"what", ""})
		if err != nil || !near(d[0], f.want("d: what")) || d[1] != nil {
			t.Errorf("%s: %v, %v", shape, d, err)
		}
	}
}

// TestBreaker: questions to a service that is down are answered at once, and
// neither they nor documents are sent until it is time to look; then one is.
func TestBreaker(t *testing.T) {
	f := &fake{shape: remote.OpenAI, dim: 4}
	c, clock := start(t, f, remote.Options{Price: 0.5})
	ask := func() error { _, err := c.EmbedQuery(t.Context(), "what"); return err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	f.set(http.StatusServiceUnavailable)
	for c.Usage().State == "closed" {
		if err := ask(); !errors.Is(err, ragctx.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	sent := len(f.served())
	if sent != 6 {
		t.Errorf("%d requests before it is left alone, want 1 and 5", sent)
	}
	for range 50 {
		if err := ask(); !errors.Is(err, ragctx.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if _, err := c.EmbedDocuments(t.Context(), []string{"a"}); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Error(err)
	}
	u := c.Usage()
	if len(f.served()) != sent || u.Queries.NotAsked != 50 || u.Documents.NotAsked != 1 || u.State != "open" || u.AsksAgain == nil || !u.AsksAgain.After(clock.now()) {
		t.Errorf("served %d more, %+v", len(f.served())-sent, u)
	}
	clock.sleep(t.Context(), 5*time.Second)
	if err := ask(); err == nil {
		t.Error("it answers too early")
	}
	if n := len(f.served()) - sent; n != 1 {
		t.Errorf("%d requests to find out", n)
	}
	clock.sleep(t.Context(), 5*time.Second) // the second time it takes ten
	if err := ask(); len(f.served())-sent != 1 {
		t.Errorf("it was asked again too early: %v", err)
	}
	f.set(0)
	clock.sleep(t.Context(), 5*time.Second)
	if err := ask(); err != nil {
		t.Error(err)
	}
	if u = c.Usage(); u.State != "closed" || u.Queries.Texts != 2 || u.Queries.Tokens != 20 || u.Queries.Estimated != 0 || u.Cost != 1e-5 {
		t.Errorf("%+v", u)
	}
}

// TestQueryDeadline: a query waits at most its own timeout and half of the caller's time, and the
// error says which of them ended.
func TestQueryDeadline(t *testing.T) {
	f := &fake{shape: remote.TEI, dim: 4, hang: make(chan struct{})}
	defer close(f.hang)
	c, _ := start(t, f, remote.Options{QueryTimeout: 20 * time.Millisecond})
	if _, err := c.EmbedQuery(t.Context(), "a"); !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("its own: %v", err)
	}
	c, _ = start(t, f, remote.Options{QueryTimeout: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.EmbedQuery(ctx, "a"); !errors.Is(err, ragctx.ErrUnavailable) || ctx.Err() != nil {
		t.Errorf("half of the caller's: %v, %v", err, ctx.Err())
	}
	if u := c.Usage(); u.State != "closed" {
		t.Errorf("a caller in a hurry has it left alone: %+v", u)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := c.EmbedQuery(gone, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller is gone: %v", err)
	}
}

func TestSized(t *testing.T) {
	f := &fake{shape: remote.Ollama, dim: 5}
	c, _ := start(t, f, remote.Options{Model: "nomic", QueryPrefix: "q: "})
	id := c.Identity()
	if id.Name != "ollama/nomic" || id.Revision != "1" || id.Dimensions != 0 || !id.Normalized || id.QueryPrefix != "q: " {
		t.Errorf("%+v", id)
	}
	known, other := id, id
	known.Dimensions, other.Dimensions, other.Revision = 7, 9, "2"
	s, err := c.Sized(t.Context(), embed.Identity{}, other, known)
	if err != nil || s.Identity() != known || len(f.served()) > 0 {
		t.Errorf("%+v, %v, %d requests", s.Identity(), err, len(f.served()))
	}
	if s, err = c.Sized(t.Context(), other); err != nil || s.Identity().Dimensions != 5 {
		t.Fatalf("%v, %v", s, err)
	}
	if v, err := s.EmbedQuery(t.Context(), "x"); err != nil || len(v) != 5 {
		t.Errorf("%v, %v", v, err)
	}
	f.dim = 6 // another model under the same name
	if _, err := s.EmbedQuery(t.Context(), "y"); !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "6 components instead of 5") {
		t.Error(err)
	}
	if _, err := s.EmbedDocuments(t.Context(), []string{"y"}); !errors.Is(err, ragctx.ErrConflict) {
		t.Error(err)
	}
	f.set(http.StatusBadGateway)
	c, _ = start(t, f, remote.Options{})
	if _, err := c.Sized(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) || !strings.Contains(err.Error(), "determine the dimensions") {
		t.Error(err)
	}
}

// TestCalibrate: a service with vectors that share a component has a high noise floor.
func TestCalibrate(t *testing.T) {
	f := &fake{shape: remote.TEI, dim: 200}
	c, _ := start(t, f, remote.Options{QueryPrefix: "q: ", DocumentPrefix: "d: "})
	low, err := c.Calibrate(t.Context())
	if err != nil || low < 0.05 || low > 0.3 {
		t.Errorf("%v, %v", low, err)
	}
	sent := f.served()
	if len(sent) != 2 || !strings.HasPrefix(sent[0][0], "q: ") || !strings.HasPrefix(sent[1][0], "d: ") {
		t.Errorf("%q", sent)
	}
	f.common = 6
	high, err := c.Calibrate(t.Context())
	if err != nil || high < 0.5 || high > 0.9 {
		t.Errorf("%v, %v", high, err)
	}
	f.set(http.StatusBadGateway)
	if _, err := c.Calibrate(t.Context()); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Error(err)
	}
}

// TestTurnsPassIngests: calls with a few texts do not wait behind long ones.
func TestTurnsPassIngests(t *testing.T) {
	f := &fake{shape: remote.Ollama, dim: 3, hang: make(chan struct{}), hangs: func(texts []string) bool { return len(texts) > 4 }}
	c, _ := start(t, f, remote.Options{Parallel: 1})
	long := make(chan error, 1)
	go func() {
		_, err := c.EmbedDocuments(t.Context(), numbered(10))
		long <- err
	}()
	for len(f.served()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := c.EmbedDocuments(t.Context(), []string{"user: hello", "assistant: hello"}); err != nil {
		t.Error(err)
	}
	if _, err := c.EmbedQuery(t.Context(), "hello"); err != nil {
		t.Error(err)
	}
	close(f.hang)
	if err := <-long; err != nil {
		t.Error(err)
	}
}

// TestQuestionsWaitTheirTime: a question behind short calls that hang is back in its
// time, and the service is not blamed for the wait.
func TestQuestionsWaitTheirTime(t *testing.T) {
	f := &fake{shape: remote.Ollama, dim: 3, hang: make(chan struct{})}
	c, _ := start(t, f, remote.Options{Parallel: 1, QueryTimeout: 20 * time.Millisecond})
	short := make(chan error, 1)
	go func() {
		_, err := c.EmbedDocuments(t.Context(), []string{"user: hello"})
		short <- err
	}()
	for len(f.served()) == 0 {
		time.Sleep(time.Millisecond)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := c.EmbedQuery(t.Context(), "hello")
		answered <- err
	}()
	select {
	case err := <-answered:
		if !errors.Is(err, ragctx.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	case <-time.After(2 * time.Minute):
		t.Error("the question still waits")
	}
	if u := c.Usage(); u.State != "closed" || u.Queries.Requests != 0 || u.Queries.Failures != 0 {
		t.Errorf("%+v", u)
	}
	close(f.hang)
	if err := <-short; err != nil {
		t.Error(err)
	}
}

// TestTokensAreEstimated where the service does not count.
func TestTokensAreEstimated(t *testing.T) {
	f := &fake{shape: remote.OpenAI, dim: 2, silent: true}
	c, _ := start(t, f, remote.Options{})
	if _, err := c.EmbedDocuments(t.Context(), []string{"How do I roll back?", "Run it again."}); err != nil {
		t.Fatal(err)
	}
	if u := c.Usage().Documents; u.Tokens != 10 || u.Estimated != 10 || u.Texts != 2 || u.Requests != 1 {
		t.Errorf("%+v", u)
	}
}

func TestOptions(t *testing.T) {
	const local = "http://127.0.0.1:1"
	for _, tt := range []struct {
		field string
		o     remote.Options
	}{
		{"shape", remote.Options{Model: "m"}},
		{"shape", remote.Options{Shape: "voyage", Model: "m"}},
		{"model", remote.Options{Shape: remote.Ollama}},
		{"model", remote.Options{Shape: remote.TEI, URL: local}},
		{"model", remote.Options{Shape: remote.Ollama, Model: "\xff"}},
		{"revision", remote.Options{Shape: remote.Ollama, Model: "m", Revision: "\xff"}},
		{"query_prefix", remote.Options{Shape: remote.Ollama, Model: "m", QueryPrefix: strings.Repeat("x", 600)}},
		{"key", remote.Options{Shape: remote.OpenAI, Model: "m"}},
		{"key", remote.Options{Shape: remote.OpenAI, Model: "m", APIKey: secret + "\n"}},
		{"url", remote.Options{Shape: remote.TEI, Model: "m"}},
		{"url", remote.Options{Shape: remote.TEI, Model: "m", URL: "ftp://host/"}},
		{"url", remote.Options{Shape: remote.TEI, Model: "m", URL: "http://user:" + secret + "@127.0.0.1/"}},
		{"url", remote.Options{Shape: remote.TEI, Model: "m", URL: "http://embed.example.com", APIKey: secret}},
		{"dimensions", remote.Options{Shape: remote.Ollama, Model: "m", Dimensions: -1}},
		{"dimensions", remote.Options{Shape: remote.Ollama, Model: "m", Dimensions: remote.MaxDimensions + 1}},
		{"dimensions", remote.Options{Shape: remote.Ollama, Model: "m", Shorten: true}},
		{"noise_floor", remote.Options{Shape: remote.Ollama, Model: "m", Floor: 1}},
		{"price", remote.Options{Shape: remote.Ollama, Model: "m", Price: -1}},
		{"batch_size", remote.Options{Shape: remote.Ollama, Model: "m", BatchSize: -1}},
		{"batch_tokens", remote.Options{Shape: remote.Ollama, Model: "m", BatchTokens: -1}},
		{"parallel", remote.Options{Shape: remote.Ollama, Model: "m", Parallel: -1}},
		{"max_bytes", remote.Options{Shape: remote.Ollama, Model: "m", MaxBytes: -1}},
		{"timeout", remote.Options{Shape: remote.Ollama, Model: "m", Timeout: -1}},
		{"query_timeout", remote.Options{Shape: remote.Ollama, Model: "m", QueryTimeout: -1}},
	} {
		_, err := remote.New(tt.o)
		f, ok := errors.AsType[*ragctx.FieldError](err)
		if !ok || f.Field != tt.field || !errors.Is(err, ragctx.ErrInvalid) || strings.Contains(err.Error(), secret) {
			t.Errorf("%+v: %v, want an error about %s", tt.o, err, tt.field)
		}
	}
	c, err := remote.New(remote.Options{Shape: remote.OpenAI, Model: "m", APIKey: secret})
	if err != nil || c.String() != "openai at api.openai.com" {
		t.Errorf("%v, %v", c, err)
	}
	if c, err = remote.New(remote.Options{Shape: remote.Ollama, Model: "m"}); err != nil || c.String() != "ollama at 127.0.0.1:11434" {
		t.Errorf("%v, %v", c, err)
	}
}

// TestPath: a base URL gets the rest of the path, a whole one stays as it is.
func TestPath(t *testing.T) {
	for _, tt := range []struct {
		shape       remote.Shape
		given, want string
	}{
		{remote.OpenAI, "", "/v1/embeddings"},
		{remote.OpenAI, "/", "/v1/embeddings"},
		{remote.OpenAI, "/v1", "/v1/embeddings"},
		{remote.OpenAI, "/openai/v1/", "/openai/v1/embeddings"},
		{remote.OpenAI, "/openai/deployments/d?api-version=2024-10-21", "/openai/deployments/d/embeddings?api-version=2024-10-21"},
		{remote.OpenAI, "/openai/deployments/d/embeddings?api-version=1", "/openai/deployments/d/embeddings?api-version=1"},
		{remote.Ollama, "", "/api/embed"},
		{remote.Ollama, "/api", "/api/embed"},
		{remote.Ollama, "/ollama", "/ollama/api/embed"},
		{remote.Ollama, "/ollama/api/embed", "/ollama/api/embed"},
		{remote.TEI, "", "/embed"},
		{remote.TEI, "/models/a/", "/models/a/embed"},
		{remote.TEI, "/models/a/embed", "/models/a/embed"},
	} {
		f := &fake{shape: tt.shape, dim: 2}
		var asked string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.URL.String()
			f.ServeHTTP(w, r)
		}))
		c, _ := newClient(t, s.URL+tt.given, tt.shape, remote.Options{})
		if _, err := c.EmbedQuery(t.Context(), "a"); err != nil || asked != tt.want {
			t.Errorf("%s %q: asked %s, %v", tt.shape, tt.given, asked, err)
		}
		s.Close()
	}
}

// TestKeyStaysSecret: whatever the service says and whatever is printed or logged,
// nothing holds the key, or much of it, nor the URL's query, nor a text.
func TestKeyStaysSecret(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var printed []string
	for _, said := range []string{secret, "Bearer " + secret, "invalid key " + secret[:8] + "***", "***" + secret[6:]} {
		for _, status := range []int{400, 401, 429, 500} {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer "+secret {
					t.Errorf("authorized by %q", r.Header.Get("Authorization"))
				}
				w.WriteHeader(status)
				fmt.Fprintf(w, `{"error":{"message":%q}}`, said)
			}))
			c, _ := newClient(t, s.URL+"/v1?sig=s1gn4ture", remote.OpenAI, remote.Options{APIKey: secret, Logger: logger})
			_, err := c.EmbedDocuments(t.Context(), []string{"pr1vate"})
			_, qerr := c.EmbedQuery(t.Context(), "pr1vate")
			logger.Info("x", "client", c, "error", errors.Join(err, qerr))
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
				printed = append(printed, fmt.Sprintf(verb, c), fmt.Sprintf(verb, *c), fmt.Sprintf(verb, err), fmt.Sprintf(verb, qerr), fmt.Sprintf(verb, c.Usage()))
			}
			s.Close()
		}
	}
	for _, s := range append(printed, log.String()) {
		for _, part := range slices.Concat([]string{"s1gn", "pr1vate"}, parts(secret, 6)) {
			if strings.Contains(s, part) {
				t.Fatalf("%q tells %q", s, part)
			}
		}
	}
}

func parts(s string, n int) (out []string) {
	for i := range len(s) - n {
		out = append(out, s[i:i+n])
	}
	return out
}
