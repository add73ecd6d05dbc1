package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/remote"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// service embeds by hashing for any client of OpenAI's API, while it is up. It rejects texts with the
// word poison.
type service struct {
	*httptest.Server

	hashing  embed.Embedder
	down     atomic.Bool
	requests atomic.Int64
}

func newService(t *testing.T, dim int) *service {
	t.Helper()
	s := &service{hashing: embed.NewHashing(dim)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	var req struct{ Input []string }
	switch err := json.NewDecoder(r.Body).Decode(&req); {
	case s.down.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case err != nil || slices.ContainsFunc(req.Input, func(t string) bool { return strings.Contains(t, "poison") }):
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	vectors, _ := s.hashing.EmbedDocuments(r.Context(), req.Input)
	var data []map[string]any
	for i, v := range vectors {
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]int{"prompt_tokens": 5 * len(data)}})
}

// byHand is a clock that only sleepers advance.
type byHand struct {
	mu sync.Mutex
	at time.Time
}

func (c *byHand) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *byHand) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	return ctx.Err()
}

func (s *service) client(t *testing.T, change ...func(*remote.Options)) (*remote.Client, *byHand) {
	t.Helper()
	c := &byHand{at: t0}
	o := remote.Options{Shape: remote.OpenAI, URL: s.URL, Model: "m", Now: c.now, Sleep: c.sleep, Price: 2, QueryTimeout: patience}
	for _, f := range change {
		f(&o)
	}
	e, err := remote.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, c
}

// TestServiceGoesDown: while the embedding service is down, every write is accepted and queries are
// answered by the keyword index at once; when it is back, missing vectors are made.
func TestServiceGoesDown(t *testing.T) {
	s := newService(t, 64)
	client, _ := s.client(t)
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir, Embedder: client})
	putMany(t, e, 0, 10)
	nearest(t, e, 7)
	ask := func(want ...string) {
		t.Helper()
		a, err := e.Context(t.Context(), query("which document is about topic7"))
		if err != nil || len(a.Items) == 0 || !slices.Equal(a.Degraded, want) {
			t.Fatalf("%d items, degraded %v, want %v; %v", len(a.Items), a.Degraded, want, err)
		}
	}
	ask()

	s.down.Store(true)
	putMany(t, e, 10, 20)
	turn := ragctx.Turn{ID: "t", SessionID: "s", Prompt: "What is topic7?", Response: "A secret."}
	if _, err := e.CompleteTurn(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	if info := e.Indexes().EmbedderInfo(); info.Service == nil || info.Service.State != "open" || info.Service.Documents.NotAsked == 0 {
		t.Fatalf("%+v", info.Service)
	}
	before := s.requests.Load()
	for i := range 20 {
		a, err := e.Context(t.Context(), query(fmt.Sprint("who wrote about topic", i)))
		if err != nil || len(a.Items) == 0 || !slices.Equal(a.Degraded, []string{"docs:vector", "memory:vector"}) {
			t.Fatalf("%d: %d items, degraded %v, %v", i, len(a.Items), a.Degraded, err)
		}
	}
	if n := s.requests.Load() - before; n != 0 {
		t.Errorf("a service that is down was asked %d times", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}

	// The number of dimensions is known from the directory.
	client, _ = s.client(t)
	e = openWith(t, engine.Options{Dir: dir, Embedder: client})
	if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "late", Text: "Written after a restart."}, ""); err != nil {
		t.Fatal(err)
	}
	e.Close()

	s.down.Store(false)
	client, clock := s.client(t)
	e = openWith(t, engine.Options{Dir: dir, Embedder: client})
	defer e.Close()
	for _, i := range []int{3, 10, 19} {
		nearest(t, e, i)
	}
	ask()
	info := e.Indexes().EmbedderInfo()
	if info.Name != "openai/m" || info.Dimensions != 64 || info.Service.State != "closed" || info.Service.Cost <= 0 {
		t.Errorf("%+v, %+v", info, info.Service)
	}
	if u := info.Service.Documents; u.Texts < 12 || u.Tokens != 5*u.Texts || u.Failures != 0 {
		t.Errorf("%+v", u)
	}
	if c, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{}); err != nil || !c.Sound() || c.Embedder.Service == nil {
		t.Errorf("%+v, %v", c, err)
	}
	if clock.now() != t0 {
		t.Errorf("it slept until %v", clock.now())
	}
}

// TestPoisonedText: a text that the service refuses is accepted, costs no other its
// vector, and is not sent again and again.
func TestPoisonedText(t *testing.T) {
	s := newService(t, 64)
	client, _ := s.client(t)
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir, Embedder: client})
	putMany(t, e, 0, 5)
	s.down.Store(true) // so that all of them are embedded in one batch later
	putMany(t, e, 5, 10)
	put := func(id, text string) {
		t.Helper()
		if _, err := e.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: id, Text: text}, ""); err != nil {
			t.Fatal(err)
		}
	}
	put("p", "The poison is in here.")
	putMany(t, e, 10, 15)
	e.Close()
	s.down.Store(false)
	for range 2 { // the second time nothing is missing any more
		client, _ = s.client(t)
		e = openWith(t, engine.Options{Dir: dir, Embedder: client})
		for _, i := range []int{4, 5, 9, 10, 14} {
			nearest(t, e, i)
		}
		a, err := e.Context(t.Context(), query("poison"))
		if err != nil || len(a.Items) == 0 || a.Items[0].ID != "p@1#0" {
			t.Errorf("%+v, %v", a.Items, err)
		}
		if c, err := e.Admin().Doctor(t.Context(), engine.DoctorOptions{}); err != nil || !c.Sound() {
			t.Errorf("%+v, %v", c, err)
		}
		e.Close()
	}
	if n := client.Usage().Documents.Requests; n != 0 {
		t.Errorf("%d requests after everything had been asked for", n)
	}
}

// TestOtherService: a directory rejects another model, revision, prefix or number of dimensions, and
// an embedder whose dimensions cannot be determined.
func TestOtherService(t *testing.T) {
	s := newService(t, 64)
	dir := t.TempDir()
	client, _ := s.client(t)
	openWith(t, engine.Options{Dir: dir, Embedder: client}).Close()
	for name, change := range map[string]func(*remote.Options){
		"model":      func(o *remote.Options) { o.Model = "other" },
		"revision":   func(o *remote.Options) { o.Revision = "2" },
		"dimensions": func(o *remote.Options) { o.Dimensions = 128 },
		"prefix":     func(o *remote.Options) { o.DocumentPrefix = "passage: " },
		"limit":      func(o *remote.Options) { o.MaxBytes = 100 },
	} {
		other, _ := s.client(t, change)
		_, err := engine.Open(t.Context(), engine.Options{Dir: dir, Embedder: other})
		if !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "ragctx reembed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := engine.Open(t.Context(), engine.Options{Dir: dir}); !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "openai/m@1/64") {
		t.Errorf("no service: %v", err)
	}
	s.down.Store(true)
	client, _ = s.client(t)
	if _, err := engine.Open(t.Context(), engine.Options{Dir: t.TempDir(), Embedder: client}); !errors.Is(err, ragctx.ErrUnavailable) {
		t.Errorf("a new directory without a service: %v", err)
	}
	client, _ = s.client(t, func(o *remote.Options) { o.Dimensions = 64 })
	openWith(t, engine.Options{Dir: t.TempDir(), Embedder: client}).Close()
}

// TestReembedByService goes from the built-in embedder to a service that is down
// for a while, through a restart, and back.
func TestReembedByService(t *testing.T) {
	s := newService(t, 64)
	dir := t.TempDir()
	builtin := embed.NewHashing(0)
	e := openWith(t, engine.Options{Dir: dir, Embedder: builtin})
	putMany(t, e, 0, 300)
	if _, err := e.Indexes().EmbedderNamed(engine.RemoteName); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("no service is set: %v", err)
	}
	e.Close()
	s.down.Store(true)
	dims := func(o *remote.Options) { o.Dimensions = 64 }
	client, _ := s.client(t, dims)
	e = openWith(t, engine.Options{Dir: dir, Embedder: client, Reembed: true})
	jobs, err := e.Jobs().List(t.Context(), store.JobFilter{Kind: engine.JobReembed})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	for end := time.Now().Add(patience); client.Usage().Documents.Requests == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the service is not asked")
		}
	}
	nearest(t, e, 7) // in the old space
	e.Close()

	s.down.Store(false)
	client, _ = s.client(t) // finds out what the job wants
	e = openWith(t, engine.Options{Dir: dir, Embedder: client})
	if j, err := e.Jobs().Await(t.Context(), jobs[0].ID); err != nil || j.State != store.JobDone {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	nearest(t, e, 299)
	if id := e.Indexes().Embedder(); id.Name != "openai/m" || id.Dimensions != 64 {
		t.Errorf("it is embedded by %s", id)
	}
	if with, err := e.Indexes().EmbedderNamed(engine.RemoteName); err != nil || with.Identity() != e.Indexes().Embedder() {
		t.Errorf("%v, %v", with, err)
	}
	j, err := e.Indexes().Reembed(t.Context(), builtin)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = e.Jobs().Await(t.Context(), j.ID); err != nil || j.State != store.JobDone {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	e.Close()
	e = openWith(t, engine.Options{Dir: dir})
	defer e.Close()
	nearest(t, e, 150)
	if info := e.Indexes().EmbedderInfo(); info.Name != builtin.Identity().Name || info.Service != nil || info.Next != nil {
		t.Errorf("%+v", info)
	}
}

// TestReembedWaitsForTheService: an outage in the middle fails no job and costs
// nothing that was embedded.
func TestReembedWaitsForTheService(t *testing.T) {
	g := &gated{Embedder: embed.NewHashing(64)}
	flaky := &outage{gated: g}
	dir := t.TempDir()
	e := openWith(t, engine.Options{Dir: dir, Embedder: embed.NewHashing(0)})
	putMany(t, e, 0, 300)
	e.Close()
	e = openWith(t, engine.Options{Dir: dir, Embedder: flaky, Reembed: true})
	defer e.Close()
	jobs, err := e.Jobs().List(t.Context(), store.JobFilter{Kind: engine.JobReembed})
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v, %v", jobs, err)
	}
	if j, err := e.Jobs().Await(t.Context(), jobs[0].ID); err != nil || j.State != store.JobDone {
		t.Fatalf("job ended as %+v, %v", j, err)
	}
	nearest(t, e, 299)
	if n := g.texts.Load(); n != 300 {
		t.Errorf("300 texts were embedded %d times", n)
	}
}

// outage is an embedder that is unavailable the second time it is asked.
type outage struct {
	*gated

	calls atomic.Int64
}

func (o *outage) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	if o.calls.Add(1) == 2 {
		return nil, fmt.Errorf("%w: on purpose", ragctx.ErrUnavailable)
	}
	return o.gated.EmbedDocuments(ctx, texts)
}
