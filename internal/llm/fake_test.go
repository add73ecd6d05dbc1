package llm_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-9f8e7d6c5b4a"

// fake is a service that answers as its script says.
type fake struct {
	script func(w http.ResponseWriter, n int, body map[string]any)

	mu     sync.Mutex
	bodies []map[string]any
	paths  []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	raw, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(raw, &body)
	f.mu.Lock()
	f.bodies, f.paths = append(f.bodies, body), append(f.paths, r.URL.Path)
	n := len(f.bodies)
	f.mu.Unlock()
	f.script(w, n, body)
}

func (f *fake) served() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bodies
}

// says returns a script that answers with one body.
func says(body string) func(http.ResponseWriter, int, map[string]any) {
	return func(w http.ResponseWriter, _ int, _ map[string]any) { io.WriteString(w, body) }
}

// fine is an answer of 10 and 5 tokens.
const fine = `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hello."},"finish_reason":"stop"}],
	"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`

// clock moves by sleeping only.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return ctx.Err()
}

// newClient returns a client of a fake service and the clock that it goes by.
func newClient(t *testing.T, f *fake, o llm.Options) (*llm.Client, *clock) {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c := &clock{now: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)}
	o.URL, o.Now, o.Sleep = s.URL+o.URL, c.Now, c.Sleep
	if o.Model == "" {
		o.Model = "m"
	}
	client, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, c
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: ragctx.RoleUser, Text: text}}}
}
