package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/tokens"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var t0 = time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)

// clock is set by hand and moves a millisecond at each reading.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time  { return time.UnixMilli(c.at.Add(1)).UTC() }
func (c *clock) set(t time.Time) { c.at.Store(t.UnixMilli()) }
func newClock() *clock           { c := new(clock); c.set(t0); return c }
func sequence() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("id-%d", n.Add(1)) }
}
func query(s string) ragctx.ContextQuery { return ragctx.NewQuery(s) }

type fixture struct {
	*engine.Engine

	t     *testing.T
	clock *clock
	opts  engine.Options
}

func open(t *testing.T, change ...func(*engine.Options)) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: newClock()}
	f.opts = engine.Options{Dir: t.TempDir(), Now: f.clock.now, NewID: sequence(), ProviderTimeout: patience}
	for _, c := range change {
		c(&f.opts)
	}
	f.reopen()
	t.Cleanup(func() { f.Close() })
	return f
}

// spelling is for tests of missing results: its embedder finds no similarity between texts without a
// common word part.
func spelling(o *engine.Options) { o.Embedder = embed.NewHashing(0) }

// patience is how long a test waits for an event before it fails. Processors may be slow or busy.
const patience = 3 * time.Minute

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func (f *fixture) reopen() {
	f.t.Helper()
	if f.Engine != nil {
		if err := f.Close(); err != nil {
			f.t.Fatal(err)
		}
	}
	var err error
	if f.Engine, err = engine.Open(f.t.Context(), f.opts); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) put(id, text string) store.Put {
	f.t.Helper()
	p, err := f.Documents().Put(f.t.Context(), "", ragctx.Document{ExternalID: id, Text: text}, "")
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// putMany puts documents with 1,500 chunks in all, enough for the keyword leg to
// have files.
func (f *fixture) putMany(prefix, word string) {
	f.t.Helper()
	for d := range 15 {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, "## Part\n\nThe %s number w%d lives in the north.\n\n", word, 100*d+i)
		}
		f.put(fmt.Sprintf("%s-%d.md", prefix, d), b.String())
	}
}

func (f *fixture) turn(t ragctx.Turn) engine.TurnResult {
	f.t.Helper()
	r, err := f.CompleteTurn(f.t.Context(), t)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// ask returns the answer to a query. It asks again while an index is being built.
func (f *fixture) ask(q ragctx.ContextQuery) (a resolve.Answer) {
	f.t.Helper()
	eventually(f.t, "an answer without a degraded part", func() bool {
		a = f.askOnce(q)
		return whole(a)
	})
	return a
}

// whole reports whether an answer lacks nothing but the vectors of procedures, for which some processors
// never have the time.
func whole(a resolve.Answer) bool {
	return !slices.ContainsFunc(a.Degraded, func(part string) bool { return part != "skills:vector" })
}

// askOnce returns the answer to a query, which may be degraded.
func (f *fixture) askOnce(q ragctx.ContextQuery) resolve.Answer {
	f.t.Helper()
	a, err := f.Context(f.t.Context(), q)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// searched returns the items of a search. It searches again while an index is being built.
func searched(t *testing.T, e *engine.Engine, q ragctx.ContextQuery) []ragctx.ContextItem {
	t.Helper()
	var res engine.SearchResult
	eventually(t, "a list without a degraded part", func() bool {
		var err error
		if res, err = e.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		return len(res.Degraded) == 0
	})
	return res.Items
}

func (f *fixture) found(q ragctx.ContextQuery) (ids []string) {
	f.t.Helper()
	for _, it := range f.ask(q).Items {
		ids = append(ids, it.ID)
	}
	slices.Sort(ids)
	return ids
}

func TestDocumentsAndMemoriesInOneAnswer(t *testing.T) {
	f := open(t)
	f.put("runbook.md", "# Rollback\n\nTo roll back heron, run `deploy undo heron` and watch the dashboards.\n")
	f.put("menu.md", "# Lunch\n\nThere is soup on Fridays.\n")
	f.turn(ragctx.Turn{SessionID: "s1", UserID: "", Prompt: "What is heron?", Response: "Heron is our staging cluster."})
	a := f.ask(query("how do I roll back heron?"))
	if !strings.Contains(a.XML, "deploy undo heron") || !strings.Contains(a.XML, "staging cluster") {
		t.Errorf("the answer lacks the document or the memory:\n%s", a.XML)
	}
	if !strings.Contains(a.XML, `<context source="docs:runbook.md" type="Resource" id="runbook.md@1#0" title="Rollback" lines="1-3">`) {
		t.Errorf("the document's source is not shown:\n%s", a.XML)
	}
	if !strings.Contains(a.XML, `<context source="memory" type="Memory" id="id-`) {
		t.Errorf("the memory's source is not shown:\n%s", a.XML)
	}
	if strings.Contains(a.XML, "soup") {
		t.Errorf("what has nothing to do with the question is shown:\n%s", a.XML)
	}
	counter, err := tokens.New(ragctx.DefaultTokenizer)
	if err != nil {
		t.Fatal(err)
	}
	if got := counter.Count(a.XML); got != a.TotalTokens || got > 4000 {
		t.Errorf("%d tokens reported, %d counted", a.TotalTokens, got)
	}
}

func TestEmptyDirectoryAnswersWithANote(t *testing.T) {
	f := open(t)
	a := f.ask(query("anything"))
	if len(a.Items) != 0 || a.XML != "" || a.Note == "" || len(a.Providers) != 3 {
		t.Errorf("%+v", a)
	}
}

func TestEverythingSurvivesReopening(t *testing.T) {
	f := open(t)
	for i := range 30 {
		f.put(fmt.Sprintf("doc-%d", i), fmt.Sprintf("The walrus number %d lives in the north.", i))
	}
	f.put("doc-3", "The penguin lives in the south.")
	if err := f.Documents().Delete(t.Context(), "", "doc-4"); err != nil {
		t.Fatal(err)
	}
	f.turn(ragctx.Turn{ID: "turn-1", SessionID: "s", Prompt: "I like the walrus."})
	f.settle() // what is learnt moves the statistics
	q := query("walrus").WithMaxResults(100)
	before := f.ask(q)
	f.reopen()
	after := f.ask(q)
	for i := range before.Providers {
		before.Providers[i].TookMS, after.Providers[i].TookMS = 0, 0
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("the answer changed by reopening:\n%s", d)
	}
	for _, it := range after.Items {
		if strings.HasPrefix(it.ID, "doc-3@1") || strings.HasPrefix(it.ID, "doc-4@") {
			t.Errorf("%s was found after it was replaced or deleted", it.ID)
		}
	}
}

func TestLostIndexIsMadeAgain(t *testing.T) {
	f := open(t)
	f.putMany("doc", "walrus")
	want := f.found(query("walrus w77"))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(f.opts.Dir, "index")); err != nil {
		t.Fatal(err)
	}
	f.Engine = nil
	f.reopen()
	if got := f.found(query("walrus w77")); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("found %v, before %v", got, want)
	}
}

func TestAsOf(t *testing.T) {
	f := open(t)
	f.put("policy", "Vacation is 20 days.")
	f.clock.set(t0.AddDate(0, 1, 0))
	f.put("policy", "Vacation is 25 days.")
	f.clock.set(t0.AddDate(0, 2, 0))
	if err := f.Documents().Delete(t.Context(), "", "policy"); err != nil {
		t.Fatal(err)
	}
	for months, want := range map[int]string{0: "", 1: "policy@1#0", 2: "policy@2#0", 3: ""} {
		q := query("vacation days")
		q.AsOf = t0.AddDate(0, months, -1)
		if got := strings.Join(f.found(q), " "); got != want {
			t.Errorf("as of month %d: %q, want %q", months, got, want)
		}
	}
	if got := f.found(query("vacation")); len(got) != 0 {
		t.Errorf("now: %v", got)
	}
}

func TestNamespacesAndUsersAreWalls(t *testing.T) {
	f := open(t)
	for _, ns := range []string{"one", "two"} {
		if _, err := f.Documents().Put(t.Context(), ns, ragctx.Document{ExternalID: "d", Text: "The secret of " + ns}, ""); err != nil {
			t.Fatal(err)
		}
		for _, u := range []string{"", "ada", "bob"} {
			f.turn(ragctx.Turn{ID: ns + u, Namespace: ns, UserID: u, SessionID: "s" + u, Prompt: "The secret of " + u})
		}
	}
	for _, c := range []struct {
		ns, user, session string
		want              []string
	}{
		{"one", "", "", []string{"d@1#0", "one"}},
		{"two", "ada", "", []string{"d@1#0", "two", "twoada"}},
		{"two", "bob", "sbob", []string{"d@1#0", "twobob"}},
		{"two", "eve", "", []string{"d@1#0", "two"}},
		{"three", "ada", "", nil},
	} {
		q := query("secret")
		q.Namespace, q.UserID, q.Filter.SessionID = c.ns, c.user, c.session
		if got := f.found(q); !slices.Equal(got, c.want) {
			t.Errorf("%+v: found %v", c, got)
		}
	}
	if names, err := f.Admin().NamespaceNames(t.Context()); err != nil || !slices.Equal(names, []string{"one", "two"}) {
		t.Errorf("asking made a namespace: %v, %v", names, err)
	}
}

func TestFilters(t *testing.T) {
	f := open(t)
	for i := range 40 {
		_, err := f.Documents().Put(t.Context(), "", ragctx.Document{
			ExternalID: fmt.Sprintf("d%02d", i), Text: fmt.Sprintf("A walrus, number %d.", i), Tags: []string{fmt.Sprint("t", i%20)},
			Metadata: map[string]any{"n": i, "odd": i%2 == 1}, Occurred: t0.AddDate(0, 0, i),
		}, "")
		if err != nil {
			t.Fatal(err)
		}
	}
	q := query("walrus")
	q.Filter.Tags = []string{"t7"}
	if got := f.found(q); !slices.Equal(got, []string{"d07@1#0", "d27@1#0"}) {
		t.Errorf("by tag: %v", got)
	}
	q.Filter = ragctx.Filter{Metadata: map[string]string{"n": "31", "odd": "true"}}
	if got := f.found(q); !slices.Equal(got, []string{"d31@1#0"}) {
		t.Errorf("by metadata: %v", got)
	}
	q.Filter = ragctx.Filter{OccurredAfter: t0.AddDate(0, 0, 38)}
	if got := f.found(q); !slices.Equal(got, []string{"d38@1#0", "d39@1#0"}) {
		t.Errorf("by time: %v", got)
	}
}

func TestTypesAndExclude(t *testing.T) {
	f := open(t)
	f.put("d", "walrus document")
	f.turn(ragctx.Turn{ID: "m", SessionID: "s", Prompt: "walrus memory"})
	if got := f.found(query("walrus").WithTypes(ragctx.TypeMemory)); !slices.Equal(got, []string{"m"}) {
		t.Errorf("memories: %v", got)
	}
	if got := f.found(query("walrus").WithTypes(ragctx.TypeResource)); !slices.Equal(got, []string{"d@1#0"}) {
		t.Errorf("resources: %v", got)
	}
	if got := f.found(query("walrus").WithTypes(ragctx.TypeSkill)); len(got) != 0 {
		t.Errorf("skills: %v", got)
	}
	q := query("walrus")
	q.Exclude = []string{"m"}
	if got := f.found(q); !slices.Equal(got, []string{"d@1#0"}) {
		t.Errorf("without m: %v", got)
	}
}

func TestRecallWithoutAQuery(t *testing.T) {
	f := open(t)
	for i, imp := range []float64{.1, .9, .5} {
		if _, _, err := f.Memories().Put(t.Context(), ragctx.Memory{ID: fmt.Sprint("m", i), Content: fmt.Sprint("note ", i), Importance: imp}); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, it := range f.ask(query("").WithMaxResults(2)).Items {
		ids = append(ids, it.ID)
	}
	if !slices.Equal(ids, []string{"m1", "m2"}) {
		t.Errorf("recalled %v", ids)
	}
}

func TestExplain(t *testing.T) {
	f := open(t)
	f.turn(ragctx.Turn{ID: "m", SessionID: "s", Prompt: "walrus"})
	q := query("walrus")
	q.Explain = true
	it := f.ask(q).Items[0]
	for _, s := range []string{"keyword", "vector", "importance_recency"} {
		if it.Signals[s] <= 0 {
			t.Errorf("signal %s is %v", s, it.Signals[s])
		}
	}
}

func TestSearch(t *testing.T) {
	f := open(t)
	f.put("d", "walrus document")
	f.turn(ragctx.Turn{ID: "m", SessionID: "s", Prompt: "walrus memory"})
	r, err := f.Search(t.Context(), query("walrus document"))
	if err != nil || len(r.Items) != 2 || r.Items[0].ID != "d@1#0" || r.Items[0].Provider != "docs" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := f.Search(t.Context(), query("")); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("an empty search: %v", err)
	}
	q := query("walrus")
	q.Tokenizer = "none"
	if _, err := f.Search(t.Context(), q); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a search with an unknown tokenizer: %v", err)
	}
	q.Tokenizer, q.Format = "", "none"
	if _, err := f.Search(t.Context(), q); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("a search with an unknown format: %v", err)
	}
}

func TestCitation(t *testing.T) {
	f := open(t)
	f.put("a#b@c", "first version")
	f.put("a#b@c", "second version")
	u, err := f.Documents().Passage(t.Context(), "", "a#b@c@1#0")
	if err != nil || u.Text != "first version" {
		t.Errorf("%+v, %v", u, err)
	}
	for id, want := range map[string]error{"a#b@c@1#5": ragctx.ErrNotFound, "nope@1#0": ragctx.ErrNotFound, "x": ragctx.ErrInvalid} {
		if _, err := f.Documents().Passage(t.Context(), "", id); !errors.Is(err, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestOneProcessAtATime(t *testing.T) {
	f := open(t)
	if err := f.Node().Announce("127.0.0.1:1234", ""); err != nil {
		t.Fatal(err)
	}
	_, err := engine.Open(t.Context(), f.opts)
	var locked *engine.LockedError
	if !errors.As(err, &locked) || locked.Owner.Address != "127.0.0.1:1234" || locked.Owner.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	f.reopen()
	if _, err := engine.Open(t.Context(), f.opts); !errors.As(err, &locked) || locked.Owner.Address != "" {
		t.Errorf("after reopening: %v", err)
	}
}

// TestLockFileIsRemoved: removing the lock file lets no second process in, if the system can lock a
// directory.
func TestLockFileIsRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	f := open(t)
	name := filepath.Join(f.opts.Dir, store.LockName)
	for range 2 {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		var locked *engine.LockedError
		if _, err := engine.Open(t.Context(), f.opts); !errors.As(err, &locked) || locked.Owner.PID != 0 {
			t.Errorf("the lock file is gone: %v", err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil { // another file of that name
			t.Fatal(err)
		}
	}
	f.reopen()
}

// broken is an embedder that fails, or returns nonsense.
type broken struct {
	embed.Embedder
	vector []float32
	err    error
}

func (b broken) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{b.vector}, len(texts)), b.err
}

func (b broken) EmbedQuery(context.Context, string) ([]float32, error) { return b.vector, b.err }

func TestBrokenEmbedderCostsOnlyItsSignal(t *testing.T) {
	for name, b := range map[string]broken{
		"fails":           {err: errors.New("no")},
		"wrong dimension": {vector: []float32{1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			b.Embedder = embed.NewHashing(0)
			f := open(t, func(o *engine.Options) { o.Embedder = b })
			f.put("d", "walrus")
			a := f.askOnce(query("walrus"))
			if len(a.Items) != 1 {
				t.Fatalf("found %d items", len(a.Items))
			}
			if b.err != nil && !slices.Contains(a.Degraded, "docs:vector") {
				t.Errorf("degraded %v", a.Degraded)
			}
		})
	}
}

// listener is a provider that hears about turns.
type listener struct {
	mu    sync.Mutex
	turns []string
}

func (*listener) Name() string { return "listener" }

func (*listener) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	return ragctx.ContextResult{}, nil
}

func (l *listener) OnTurnComplete(_ context.Context, t ragctx.Turn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turns = append(l.turns, t.ID)
	if t.ID == "boom" {
		panic("on purpose")
	}
	return nil
}

func TestObserversHearSuccessfulTurnsInOrder(t *testing.T) {
	l := new(listener)
	f := open(t, func(o *engine.Options) {
		o.Providers = []resolve.Registered{{Provider: l}}
	})
	heard := f.listen(t.Context())
	no := false
	for _, turn := range []ragctx.Turn{
		{ID: "1", SessionID: "s", Prompt: "x"},
		{ID: "boom", SessionID: "s", Prompt: "x"},
		{ID: "failed", SessionID: "s", Prompt: "x", Success: &no},
		{ID: "alone", Prompt: "x"},
		{ID: "1", SessionID: "s", Prompt: "x"},
		{ID: "2", SessionID: "s", Prompt: "x"},
	} {
		f.turn(turn)
	}
	events := heard()
	if !slices.Equal(l.turns, []string{"1", "boom", "2"}) {
		t.Errorf("heard of %v", l.turns)
	}
	if len(events) != 5 || events[0].Type != ragctx.EventMemoryStored {
		t.Errorf("events %v", events)
	}
}

// stuck is a provider that waits for its context on every turn.
type stuck struct{ listener }

func (*stuck) OnTurnComplete(ctx context.Context, _ ragctx.Turn) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestCloseDoesNotWaitForAStuckProvider(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Providers = []resolve.Registered{{Provider: new(stuck)}} })
	f.turn(ragctx.Turn{SessionID: "s", Prompt: "x"})
	done := make(chan struct{})
	go func() { f.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("Close hangs")
	}
}

func TestAReplacedDocumentIsNeverGone(t *testing.T) {
	f := open(t)
	f.put("d", "stableword version 0")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for i := range 150 {
			if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: "d", Text: fmt.Sprint("stableword version ", i+1)}, ""); err != nil {
				t.Error(err)
			}
		}
	})
	for asked := 0; ; asked++ {
		select {
		case <-stop:
			wg.Wait()
			if asked == 0 {
				t.Error("nothing was asked meanwhile")
			}
			return
		default:
		}
		a, err := f.Context(t.Context(), query("stableword"))
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Items) != 1 {
			t.Fatalf("%d versions found: %+v", len(a.Items), a.Items)
		}
	}
}

func TestDatabaseSetBackToAnOlderCopy(t *testing.T) {
	f := open(t, spelling)
	f.putMany("before", "walrus")
	f.reopen() // writes the log into the file
	f.Close()
	db := filepath.Join(f.opts.Dir, "ragctx.db")
	old, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	f.Engine = nil
	f.reopen()
	f.putMany("lost", "penguin")
	f.Close()
	for _, tail := range []string{"-wal", "-shm"} {
		_ = os.Remove(db + tail)
	}
	if err := os.WriteFile(db, old, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Engine = nil
	f.opts.AcceptLoss = true
	f.reopen()
	f.put("after", "seagull after")
	for q, want := range map[string]string{"seagull": "after@", "walrus w7": "before-", "penguin w7": "before-"} {
		for _, id := range f.found(query(q)) {
			if !strings.HasPrefix(id, want) {
				t.Errorf("%s: found %v", q, id)
			}
		}
	}
	if got := f.found(query("seagull")); len(got) != 1 {
		t.Errorf("what was written after: %v", got)
	}
}

func TestAnotherEmbedderIsRefused(t *testing.T) {
	f := open(t)
	f.put("d", "walrus")
	f.Close()
	f.opts.Embedder = embed.NewHashing(128)
	_, err := engine.Open(t.Context(), f.opts)
	if !errors.Is(err, ragctx.ErrConflict) || !strings.Contains(err.Error(), "hashing") {
		t.Errorf("got %v", err)
	}
}

func TestShortEmbedderCostsOnlyVectors(t *testing.T) {
	f := open(t, func(o *engine.Options) { o.Embedder = short{embed.NewHashing(0)} })
	f.put("d", "walrus")
	if got := f.found(query("walrus")); len(got) != 1 {
		t.Errorf("found %v", got)
	}
}

// short is an embedder that returns too few vectors.
type short struct{ embed.Embedder }

func (short) EmbedDocuments(context.Context, []string) ([][]float32, error) { return nil, nil }

func TestBadInputStoresNothing(t *testing.T) {
	f := open(t)
	ctx := t.Context()
	for name, do := range map[string]func() error{
		"no id":   func() error { _, err := f.Documents().Put(ctx, "", ragctx.Document{Text: "x"}, ""); return err },
		"no text": func() error { _, err := f.Documents().Put(ctx, "", ragctx.Document{ExternalID: "a"}, ""); return err },
		"NUL": func() error {
			_, err := f.Documents().Put(ctx, "n", ragctx.Document{ExternalID: "a", Text: "a\x00"}, "")
			return err
		},
		"bad UTF-8": func() error {
			_, err := f.Documents().Put(ctx, "n", ragctx.Document{ExternalID: "a", Text: "\xff"}, "")
			return err
		},
		"namespace": func() error {
			_, err := f.Documents().Put(ctx, "\xff", ragctx.Document{ExternalID: "a", Text: "x"}, "")
			return err
		},
		"empty turn":   func() error { _, err := f.CompleteTurn(ctx, ragctx.Turn{Namespace: "n", SessionID: "s"}); return err },
		"empty memory": func() error { _, _, err := f.Memories().Put(ctx, ragctx.Memory{Namespace: "n"}); return err },
		"query":        func() error { _, err := f.Context(ctx, ragctx.ContextQuery{Query: "\xff"}); return err },
		"tokenizer": func() error {
			_, err := f.Context(ctx, ragctx.ContextQuery{Query: "q", Tokenizer: "abacus"})
			return err
		},
		"format": func() error { _, err := f.Context(ctx, ragctx.ContextQuery{Query: "q", Format: "morse"}); return err },
		"limit":  func() error { _, err := f.Documents().List(ctx, "", store.ListOptions{Limit: -1}); return err },
	} {
		var fe *ragctx.FieldError
		if err := do(); !errors.As(err, &fe) || fe.Field == "" {
			t.Errorf("%s: %v is not about a field", name, err)
		}
	}
	if names, err := f.Admin().NamespaceNames(ctx); err != nil || len(names) != 0 {
		t.Errorf("namespaces %v, %v", names, err)
	}
}

func TestEverythingAtOnce(t *testing.T) {
	f := open(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 25 {
				id := fmt.Sprintf("w%d-%d", w, i)
				if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: id, Text: "walrus " + id}, ""); err != nil {
					t.Error(err)
				}
				if _, err := f.CompleteTurn(t.Context(), ragctx.Turn{ID: id, SessionID: "s", Prompt: "penguin " + id}); err != nil {
					t.Error(err)
				}
				// An acknowledged write is found at once, under concurrent writers as well.
				a, err := f.Context(t.Context(), query(id))
				if err != nil {
					t.Error(err)
				}
				if !slices.ContainsFunc(a.Items, func(it ragctx.ContextItem) bool { return it.ID == id }) ||
					!slices.ContainsFunc(a.Items, func(it ragctx.ContextItem) bool { return it.ID == id+"@1#0" }) {
					t.Errorf("%s was acknowledged and not found", id)
				}
				if i%5 == 0 {
					if err := f.Documents().Delete(t.Context(), "", id); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestEqualInputsGiveEqualBytes(t *testing.T) {
	answers := make([]string, 2)
	for i := range answers {
		f := open(t)
		for n := range 50 {
			f.put(fmt.Sprintf("d%d", n), fmt.Sprintf("The walrus of place %d. It likes fish and ice.", n%7))
			f.turn(ragctx.Turn{ID: fmt.Sprint("t", n), SessionID: "s", Prompt: fmt.Sprintf("A walrus at place %d", n%5)})
		}
		answers[i] = f.ask(query("walrus place fish").WithMaxResults(50)).XML
	}
	if answers[0] != answers[1] || answers[0] == "" {
		t.Error("two equal data directories gave different bytes")
	}
}
