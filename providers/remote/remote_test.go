package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/providers/remote"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "0123456789abcdef0123456789abcdef"

// noon is when everything happens.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// service is a fake provider with configured answers.
type service struct {
	*httptest.Server

	asked  atomic.Int64
	bodies chan []byte
	header http.Header
}

func serve(t *testing.T, status int, answer string) *service {
	t.Helper()
	s := &service{bodies: make(chan []byte, 100)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		s.header = r.Header.Clone()
		s.bodies <- body
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			io.WriteString(w, answer)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func options(url string) remote.Options {
	return remote.Options{
		Name: "crm", URL: url, Now: func() time.Time { return noon }, NewID: func() string { return "r1" },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

func newProvider(t *testing.T, o remote.Options) *remote.Provider {
	t.Helper()
	p, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func items(r ragctx.ContextResult) (ids []string) {
	for _, it := range r.Items {
		ids = append(ids, it.ID)
	}
	return ids
}

// TestQuestion: the whole query goes out, signed, and what comes back are items.
func TestQuestion(t *testing.T) {
	s := serve(t, http.StatusOK, `{"items":[{"id":"a-17","context_type":"Resource","content":"Gold since 2024","token_count":9000,
		"relevance":1.5,"source":"crm:a-17","metadata":{"tier":"gold","a3s.context.priority":1},"required":true,"priority":1,"occurred":"2026-02-01T00:00:00Z"}],
		"total_tokens":9000,"provider":"memory","unknown":{}}`)
	o := options(s.URL)
	o.Secret = secret
	p := newProvider(t, o)
	got, err := p.Query(t.Context(), ragctx.NewQuery("who is this?").WithSessionID("s1"))
	if err != nil {
		t.Fatal(err)
	}
	want := ragctx.ContextResult{Provider: "crm", Items: []ragctx.ContextItem{{
		ID: "a-17", Type: ragctx.TypeResource, Content: "Gold since 2024", Relevance: 1, Source: "crm:a-17",
		Metadata: map[string]any{"tier": "gold", "a3s.context.priority": 1.}, Occurred: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC),
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
	body := <-s.bodies
	if err := remote.Verify(secret, s.header.Get(remote.SignatureHeader), body, noon); err != nil {
		t.Errorf("signature: %v", err)
	}
	var q map[string]any
	if err := json.Unmarshal(body, &q); err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"event": "query", "provider": "crm", "request_id": "r1",
		"deadline": "2026-03-01T12:00:02Z",
	} {
		if q[field] != want {
			t.Errorf("%s is %v, want %s", field, q[field], want)
		}
	}
	query, _ := q["query"].(map[string]any)
	for field, want := range map[string]any{
		"query": "who is this?", "max_results": 10., "max_tokens": 4000.,
		"session_id": "s1", "depth": "overview",
	} {
		if query[field] != want {
			t.Errorf("query.%s is %v, want %v", field, query[field], want)
		}
	}
}

// TestAnswers: an invalid item does not affect the others, and an invalid answer is a failure that
// reveals nothing about the service to callers.
func TestAnswers(t *testing.T) {
	good := `{"id":"good","content":"c"}`
	long := strings.Repeat("x", 600)
	for _, c := range []struct {
		name, answer string
		status       int
		want         []string
		note         string // a part of it
		fails        bool
	}{
		{name: "nothing", answer: `{"items":[]}`},
		{name: "no content", status: http.StatusNoContent},
		{name: "note", answer: `{"items":[],"note":"no account"}`, note: "no account"},
		{name: "one", answer: `{"items":[` + good + `]}`, want: []string{"good"}},
		{
			name: "no id", answer: `{"items":[{"content":"c"},` + good + `]}`, want: []string{"good"},
			note: "1 of its items are invalid and left out: items[0] has no id",
		},
		{name: "long id", answer: `{"items":[{"id":"` + long + `","content":"c"},` + good + `]}`, want: []string{"good"}, note: "items[0]"},
		{name: "no content of it", answer: `{"items":[{"id":"x","content":" "},` + good + `]}`, want: []string{"good"}, note: "no content"},
		{name: "NUL", answer: `{"items":[{"id":"x","content":"a\u0000b"},` + good + `]}`, want: []string{"good"}, note: "NUL"},
		{
			name: "types", answer: `{"items":[{"id":7,"content":"c"},null,[],"x",` + good + `]}`, want: []string{"good"},
			note: "4 of its items",
		},
		{
			name: "other type", answer: `{"items":[{"id":"x","content":"c","context_type":"Memory"},` + good + `]}`,
			want: []string{"good"}, note: "context_type",
		},
		{name: "alias", answer: `{"items":[{"id":"x","content":"c","context_type":"Custom"}]}`, want: []string{"x"}},
		{
			name: "unknown type", answer: `{"items":[{"id":"x","content":"c","context_type":"Order"},` + good + `]}`,
			want: []string{"good"}, note: "context_type",
		},
		{name: "depth", answer: `{"items":[{"id":"x","content":"c","depth":"deep"},` + good + `]}`, want: []string{"good"}, note: "depth"},
		{name: "metadata", answer: `{"items":[{"id":"x","content":"c","metadata":{"k":"` + strings.Repeat("x",
			17<<10) + `"}},` + good + `]}`, want: []string{"good"}, note: "metadata"},
		{
			name: "time", answer: `{"items":[{"id":"x","content":"c","occurred":"yesterday"},` + good + `]}`,
			want: []string{"good"}, note: "wrong type",
		},
		{name: "too many", answer: `{"items":[` + strings.TrimSuffix(strings.Repeat(good+",", 200), ",") + `]}`, want: fill(100, "good")},
		{name: "no list", answer: `{}`, fails: true},
		{name: "a list", answer: `[` + good + `]`, fails: true},
		{name: "two values", answer: `{"items":[]}{"items":[]}`, fails: true},
		{name: "deep", answer: `{"items":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, fails: true},
		{name: "text", answer: "secret stack trace", fails: true},
		{name: "failure", status: http.StatusInternalServerError, answer: `{"error":"secret stack trace"}`, fails: true},
		{name: "refusal", status: http.StatusUnauthorized, answer: `{"error":"secret stack trace"}`, fails: true},
		{name: "redirect", status: http.StatusFound, fails: true},
		{name: "too long", answer: `{"items":[],"note":"` + strings.Repeat("x", 5<<20) + `"}`, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.status == 0 {
				c.status = http.StatusOK
			}
			p := newProvider(t, options(serve(t, c.status, c.answer).URL))
			got, err := p.Query(t.Context(), ragctx.NewQuery("q"))
			if (err != nil) != c.fails {
				t.Fatalf("error %v", err)
			}
			if err != nil && (!errors.Is(err, ragctx.ErrUnavailable) || strings.Contains(err.Error(), "secret") ||
				errors.Is(err, ragctx.ErrInvalid)) {
				t.Errorf("error %v", err)
			}
			if d := cmp.Diff(c.want, items(got)); d != "" {
				t.Errorf("items (-want +got):\n%s", d)
			}
			if !strings.Contains(got.Note, c.note) || len(got.Note) > 600 {
				t.Errorf("note %q, want %q in it", got.Note, c.note)
			}
		})
	}
}

func fill(n int, s string) (out []string) {
	for range n {
		out = append(out, s)
	}
	return out
}

// TestFilter: a provider that knows nothing of filters gets round none.
func TestFilter(t *testing.T) {
	p := newProvider(t, options(serve(t, http.StatusOK, `{"items":[
		{"id":"a","content":"a","source":"crm:eu/a","metadata":{"tier":"gold","seats":7,"tags":["x","y"]},"occurred":"2026-01-02T00:00:00Z"},
		{"id":"b","content":"b","source":"crm:us/b","metadata":{"tier":"silver","tags":"x"}}]}`).URL))
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name string
		f    ragctx.Filter
		want []string
	}{
		{"none", ragctx.Filter{}, []string{"a", "b"}},
		{"metadata", ragctx.Filter{Metadata: map[string]string{"tier": "gold", "seats": "7"}}, []string{"a"}},
		{"no such metadata", ragctx.Filter{Metadata: map[string]string{"region": ""}}, nil},
		{"tags", ragctx.Filter{Tags: []string{"y", "x"}}, []string{"a"}},
		{"sources", ragctx.Filter{Sources: []string{"crm:us/*"}}, []string{"b"}},
		{"source", ragctx.Filter{Sources: []string{"crm:us"}}, nil},
		{"after", ragctx.Filter{OccurredAfter: day(2)}, []string{"a"}},
		{"before", ragctx.Filter{OccurredBefore: day(2)}, nil},
	} {
		q := ragctx.NewQuery("q")
		q.Filter = c.f
		got, err := p.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, items(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// TestConcerns: questions go only where they can be answered.
func TestConcerns(t *testing.T) {
	o := options("http://127.0.0.1:1")
	o.Types, o.Namespaces = []ragctx.ContextType{ragctx.TypeSkill, ragctx.TypeMemory}, []string{"team"}
	p := newProvider(t, o)
	q := ragctx.ContextQuery{Query: "q", Namespace: "team"}.WithDefaults()
	other := q
	other.Namespace = "else"
	for _, c := range []struct {
		name string
		q    ragctx.ContextQuery
		want bool
	}{
		{"any type", q, true},
		{"its type", q.WithTypes(ragctx.TypeMemory), true},
		{"another type", q.WithTypes(ragctx.TypeResource), false},
		{"another namespace", other, false},
	} {
		if got := p.Concerns(c.q); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestBreaker: a service that is down is left alone, and asked again later.
func TestBreaker(t *testing.T) {
	s := serve(t, http.StatusServiceUnavailable, "")
	o := options(s.URL)
	o.Retries, o.Breaker = -1, httpclient.BreakerOptions{After: 2, CoolDown: time.Minute}
	now := noon
	o.Now = func() time.Time { return now }
	p := newProvider(t, o)
	for range 5 {
		if _, err := p.Query(t.Context(), ragctx.NewQuery("q")); !errors.Is(err, ragctx.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if st, until := p.Breaker(); st != httpclient.Open || !until.Equal(noon.Add(time.Minute)) || s.asked.Load() != 2 {
		t.Errorf("%s until %v after %d requests", st, until, s.asked.Load())
	}
	now = now.Add(time.Minute)
	p.Query(t.Context(), ragctx.NewQuery("q"))
	if s.asked.Load() != 3 {
		t.Errorf("%d requests", s.asked.Load())
	}
}

// TestTimeout: a late answer is the service's failure, which its breaker counts; a canceled query
// is not.
func TestTimeout(t *testing.T) {
	hang := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-hang:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(hang)
	o := options(s.URL)
	o.Retries, o.Timeout, o.Breaker = -1, time.Millisecond, httpclient.BreakerOptions{After: 1, CoolDown: time.Minute}
	p := newProvider(t, o)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Query(gone, ragctx.NewQuery("q")); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if st, _ := p.Breaker(); st != httpclient.Closed {
		t.Errorf("breaker %s after a caller that went away", st)
	}
	if _, err := p.Query(t.Context(), ragctx.NewQuery("q")); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if st, _ := p.Breaker(); st != httpclient.Open {
		t.Errorf("breaker %s after a timeout", st)
	}
}

// TestCache: an answer is used again for the same question, for as long as is allowed.
func TestCache(t *testing.T) {
	s := serve(t, http.StatusOK, `{"items":[{"id":"a","content":"c"}]}`)
	o := options(s.URL)
	now := noon
	o.Now, o.CacheTTL = func() time.Time { return now }, time.Minute
	p := newProvider(t, o)
	q := ragctx.NewQuery("q")
	user := q
	user.UserID = "ann"
	past := q
	past.Now = noon.Add(-time.Hour)
	for i, c := range []struct {
		q     ragctx.ContextQuery
		later time.Duration
		want  int64
	}{
		{q, 0, 1},
		{q, 59 * time.Second, 1},
		{user, 0, 2},
		{past, 0, 3},
		{q, time.Second, 4}, // a minute after the first
		{user, 0, 4},
		{q.WithMaxResults(3), 0, 5},
	} {
		now = now.Add(c.later)
		if c.q.Now.IsZero() {
			c.q.Now = now
		}
		got, err := p.Query(t.Context(), c.q)
		if err != nil || len(got.Items) != 1 || s.asked.Load() != c.want {
			t.Errorf("question %d: %v, %v; asked %d times, want %d", i, items(got), err, s.asked.Load(), c.want)
		}
		if len(got.Items) == 1 {
			got.Items[0].Content = "changed by the caller"
		}
	}
	again := q
	again.Now = now
	if got, err := p.Query(t.Context(), again); err != nil || got.Items[0].Content != "c" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTurn: completed turns are delivered in both forms.
func TestTurn(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent} {
		s := serve(t, status, "")
		o := options("http://127.0.0.1:1")
		o.TurnURL, o.Secret = s.URL, secret
		p, err := remote.NewObserver(o)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		turn := ragctx.Turn{ID: "t1", Namespace: "default", SessionID: "s1", Messages: []ragctx.Message{
			ragctx.TextMessage(ragctx.RoleUser, "hello"), ragctx.TextMessage(ragctx.RoleAssistant, "wait"),
			ragctx.TextMessage(ragctx.RoleAssistant, "hi"),
		}}
		if err := p.OnTurnComplete(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
		body := <-s.bodies
		if err := remote.Verify(secret, s.header.Get(remote.SignatureHeader), body, noon); err != nil {
			t.Error(err)
		}
		var got remote.TurnNote
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		want := remote.TurnNote{
			Event: "turn", Provider: "crm", RequestID: "r1", SessionID: "s1", TurnID: "t1", Namespace: "default",
			Prompt: "hello", Response: "hi", Messages: turn.Messages,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	s := serve(t, http.StatusInternalServerError, "")
	o := options("http://127.0.0.1:1")
	o.TurnURL, o.Namespaces = s.URL, []string{"team"}
	p, err := remote.NewObserver(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.OnTurnComplete(t.Context(), ragctx.Turn{Namespace: "else", Prompt: "p"}); err != nil || s.asked.Load() != 0 {
		t.Errorf("a turn of another namespace: %v after %d requests", err, s.asked.Load())
	}
	if err := p.OnTurnComplete(t.Context(), ragctx.Turn{Namespace: "team", Prompt: "p"}); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*remote.Options)
	}{
		{"name", func(o *remote.Options) { o.Name = "" }},
		{"name", func(o *remote.Options) { o.Name = "CRM" }},
		{"name", func(o *remote.Options) { o.Name = ".." }},
		{"name", func(o *remote.Options) { o.Name = strings.Repeat("a", 65) }},
		{"url", func(o *remote.Options) { o.URL = "" }},
		{"url", func(o *remote.Options) { o.URL = "ftp://example.com" }},
		{"url", func(o *remote.Options) { o.URL = "http://user:pass@example.com" }},
		{"turn_url", func(o *remote.Options) { o.TurnURL = "turns" }},
		{"types", func(o *remote.Options) { o.Types = []ragctx.ContextType{"order"} }},
		{"timeout", func(o *remote.Options) { o.Timeout = -1 }},
		{"timeout", func(o *remote.Options) { o.Timeout = time.Hour }},
		{"cache_ttl", func(o *remote.Options) { o.CacheTTL = 25 * time.Hour }},
		{"secret", func(o *remote.Options) { o.Secret = "hunter2" }},
		{"max_items", func(o *remote.Options) { o.MaxItems = 1001 }},
		{"max_bytes", func(o *remote.Options) { o.MaxBytes = -1 }},
	} {
		o := options("http://127.0.0.1:1")
		c.change(&o)
		_, err := remote.New(o)
		f, ok := errors.AsType[*ragctx.FieldError](err)
		if !ok || f.Field != c.field || strings.Contains(f.Problem, "hunter2") || strings.Contains(f.Problem, "pass@") {
			t.Errorf("%s: %v", c.field, err)
		}
	}
}

// goProvider is a provider in Go that a handler serves.
type goProvider struct {
	asked ragctx.ContextQuery
	turn  ragctx.Turn
	err   error
}

func (*goProvider) Name() string { return "go" }

func (p *goProvider) Query(ctx context.Context, q ragctx.ContextQuery) (r ragctx.ContextResult, err error) {
	if _, ok := ctx.Deadline(); !ok {
		return r, fmt.Errorf("no deadline")
	}
	p.asked = q
	if p.err == nil {
		r.Add(ragctx.ContextItem{ID: "1", Content: "one", Relevance: 0.5})
	}
	return r, p.err
}

func (p *goProvider) OnTurnComplete(_ context.Context, t ragctx.Turn) error {
	p.turn = t
	return p.err
}

// TestHandler: the client and the handler work together, and unsigned requests are refused.
func TestHandler(t *testing.T) {
	g := &goProvider{}
	s := httptest.NewServer(remote.Handler(g, secret))
	defer s.Close()
	o := remote.Options{Name: "crm", URL: s.URL, TurnURL: s.URL, Secret: secret, Retries: -1}
	p, err := remote.NewObserver(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	q := ragctx.ContextQuery{Query: "q", Filter: ragctx.Filter{Sources: []string{"crm"}}, Params: map[string]any{"k": "v"}}.WithDefaults()
	got, err := p.Query(t.Context(), q)
	if err != nil || cmp.Diff([]string{"1"}, items(got)) != "" || got.Items[0].Source != "crm" {
		t.Errorf("%v, %v", got, err)
	}
	if g.asked.Query != "q" || g.asked.Params["k"] != "v" || g.asked.MaxResults != 10 {
		t.Errorf("asked %+v", g.asked)
	}
	turn := ragctx.Turn{ID: "t", Namespace: "n", SessionID: "s", Prompt: "p", Response: "r"}
	if err := p.OnTurnComplete(t.Context(), turn); err != nil || g.turn.ID != "t" || g.turn.Prompt != "p" ||
		g.turn.Response != "r" || len(g.turn.Messages) != 2 {
		t.Errorf("%v, told %+v", err, g.turn)
	}
	g.err = errors.New("broken")
	if _, err := p.Query(t.Context(), q); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	if err := p.OnTurnComplete(t.Context(), turn); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	sign := func(body string) string { return remote.Sign(secret, []byte(body), time.Now()) }
	for _, c := range []struct {
		name, method, body, signature string
		want                          int
	}{
		{"method", http.MethodGet, "", "", http.StatusMethodNotAllowed},
		{"no signature", http.MethodPost, "{}", "", http.StatusUnauthorized},
		{"another body", http.MethodPost, "{}", sign("[]"), http.StatusUnauthorized},
		{"an old signature", http.MethodPost, "{}", remote.Sign(secret, []byte("{}"), time.Now().Add(-time.Hour)), http.StatusUnauthorized},
		{"no JSON", http.MethodPost, "x", sign("x"), http.StatusBadRequest},
		{"no event", http.MethodPost, "{}", sign("{}"), http.StatusUnprocessableEntity},
		{
			"a wrong question", http.MethodPost, `{"event":"query","query":{"depth":"deep"}}`,
			sign(`{"event":"query","query":{"depth":"deep"}}`), http.StatusUnprocessableEntity,
		},
		{
			"a wrong turn", http.MethodPost, `{"event":"turn","prompt":1}`, sign(`{"event":"turn","prompt":1}`),
			http.StatusUnprocessableEntity,
		},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, s.URL, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(remote.SignatureHeader, c.signature)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s: status %d, want %d", c.name, resp.StatusCode, c.want)
		}
	}
}

// TestPassesForNobodyElse: an item cannot claim the source of another provider.
func TestPassesForNobodyElse(t *testing.T) {
	p := newProvider(t, options(serve(t, 200, `{"note":"a\u009bb\u202ec\u2066d\u2028e\u0007f", "items":[
		{"id":"1","content":"1","source":"memory"},{"id":"2","content":"2","source":"file:a.md"},{"id":"3","content":"3"},
		{"id":"4","content":"4","source":"crm:x"},{"id":"5","content":"5","source":"crm"},{"id":"6","content":"6","source":"crmx:y"}]}`).URL))
	got, err := p.Query(t.Context(), ragctx.NewQuery("q"))
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, it := range got.Items {
		sources = append(sources, it.Source)
	}
	if diff := cmp.Diff([]string{"crm:memory", "crm:file:a.md", "crm", "crm:x", "crm", "crm:crmx:y"}, sources); diff != "" {
		t.Error(diff)
	}
	if got.Note != "a b c d e f" {
		t.Errorf("note %q", got.Note)
	}
}
