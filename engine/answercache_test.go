package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/events"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/store"
)

// cached opens an engine with a clock that only the test advances.
func cached(t *testing.T, change ...func(*engine.Options)) (*fixture, *stepClock) {
	t.Helper()
	clock := new(stepClock)
	clock.micros.Store(t0.UnixMicro())
	return open(t, append(change, func(o *engine.Options) { o.Now = clock.now })...), clock
}

func (c *stepClock) pass(d time.Duration) { c.micros.Add(d.Microseconds()) }

// hits counts the answers that do gives from the cache.
func (f *fixture) hits(do func()) uint64 {
	before := f.Metrics().Answers().Cache.Hits
	do()
	return f.Metrics().Answers().Cache.Hits - before
}

// same compares answers, but for the time that providers took and for what goes by within a
// minute: how old things are.
var same = gocmp.Options{
	cmpopts.IgnoreFields(resolve.ProviderReport{}, "TookMS"), cmpopts.EquateApprox(0, 1e-4), cmpopts.EquateEmpty(),
}

func TestAnAnswerIsGivenAgainWhileNothingChanges(t *testing.T) {
	f, clock := cached(t)
	f.put("a.md", "Zebras have stripes.")
	f.remember(ragctx.Memory{ID: "m", Content: "Ada likes zebras.", Importance: .5})
	q := query("zebras")
	first := f.ask(q)
	again := func(what string, want uint64) {
		t.Helper()
		if got := f.hits(func() {
			if diff := gocmp.Diff(first, f.ask(q), same); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}); got != want {
			t.Errorf("%s: %d answers are given again, want %d", what, got, want)
		}
	}
	again("at once", 1)
	clock.pass(59 * time.Second)
	again("within the minute", 1)
	clock.pass(time.Second)
	again("in the next minute", 0)
	clock.pass(-time.Second)
	again("a clock that was set back", 0)
	f.put("b.md", "Something else.")
	first = f.ask(q)
	again("after a write", 1)
	if _, err := f.Documents().Put(t.Context(), "other", ragctx.Document{ExternalID: "a.md", Text: "Zebras elsewhere."}, ""); err != nil {
		t.Fatal(err)
	}
	f.ask(q) // making a namespace counts everywhere
	if _, err := f.Documents().Put(t.Context(), "other", ragctx.Document{ExternalID: "a.md", Text: "More zebras elsewhere."}, ""); err != nil {
		t.Fatal(err)
	}
	again("after a write into another namespace", 1)

	got := f.ask(q)
	got.Items[0].Content, got.Items[0].Metadata["x"], got.Providers[0].Name = "changed", 1, "changed"
	again("after a caller has changed its own", 1)

	q.Explain = true
	if f.ask(q); f.hits(func() { f.ask(q) }) != 0 {
		t.Error("an explanation is given again")
	}
}

func TestGivenTimesAreExact(t *testing.T) {
	f, clock := cached(t)
	f.put("a.md", "Zebras have stripes.")
	q := query("zebras")
	q.Now = t0.Add(time.Hour)
	f.ask(q)
	clock.pass(24 * time.Hour)
	if f.hits(func() { f.ask(q) }) != 1 {
		t.Error("a question with its own time is not answered again")
	}
	q.Now = q.Now.Add(time.Millisecond)
	if f.hits(func() { f.ask(q) }) != 0 {
		t.Error("a question of another time is answered again")
	}
}

func TestWhatExpiresIsNotGivenAgain(t *testing.T) {
	f, clock := cached(t)
	f.remember(ragctx.Memory{ID: "m", Content: "The door code is 7391.", Importance: .5, Expires: t0.Add(10 * time.Second)})
	q := query("door code")
	if ids := f.found(q); !slices.Equal(ids, []string{"m"}) {
		t.Fatalf("found %v", ids)
	}
	clock.pass(10*time.Second - time.Microsecond)
	if f.hits(func() { f.ask(q) }) != 1 {
		t.Error("it is not given again before it expires")
	}
	clock.pass(time.Microsecond)
	if ids := f.found(q); len(ids) != 0 {
		t.Errorf("it has expired, and %v is found", ids)
	}
}

// TestOfAHitEverythingElseHappens: a cache hit counts uses and publishes events as well.
func TestOfAHitEverythingElseHappens(t *testing.T) {
	f, _ := cached(t)
	f.remember(ragctx.Memory{ID: "m", Content: "Ada likes zebras.", Importance: .5})
	after, err := f.Events().Last(t.Context(), events.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if n := f.hits(func() { f.ask(query("zebras")); f.ask(query("zebras")) }); n != 1 {
		t.Fatalf("%d hits", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var told []any
	for ev, err := range f.Events().Follow(ctx, events.Filter{}, after) {
		if err != nil {
			t.Fatal(err)
		}
		if told = append(told, ev.Data); len(told) == 8 {
			break
		}
	}
	if diff := gocmp.Diff(told[:4], told[4:]); diff != "" {
		t.Error(diff)
	}
	if a := f.Metrics().Answers(); a.Full != 2 {
		t.Errorf("counted %d answers, want 2", a.Full)
	}
	f.reopen()
	if m, err := f.Memories().Get(t.Context(), "", "m", "", true); err != nil || m.Uses != 2 {
		t.Errorf("used %d times, %v; want 2", m.Uses, err)
	}
}

func TestErasedTextIsNotKept(t *testing.T) {
	f, _ := cached(t)
	for name, erase := range map[string]func() error{
		"document": func() error {
			f.put("a.md", "Zebras have stripes.")
			f.ask(query("zebras"))
			_, err := f.Documents().Erase(t.Context(), "", "a.md")
			return err
		},
		"user": func() error {
			f.remember(ragctx.Memory{ID: "m", UserID: "ada", Content: "Ada likes zebras."})
			q := query("zebras")
			q.UserID = "ada"
			f.ask(q)
			_, err := f.Admin().EraseUser(t.Context(), "", "ada")
			return err
		},
		"procedure": func() error {
			key := engine.ProcedureKey{Namespace: "", Name: "feed"}
			if err := f.publishSkill("feed", "Feed the zebras."); err != nil {
				return err
			}
			f.ask(query("feed the zebras"))
			_, err := f.Procedures().Erase(t.Context(), key)
			return err
		},
		"namespace": func() error {
			if _, err := f.Documents().Put(t.Context(), "zoo", ragctx.Document{ExternalID: "a.md", Text: "Zebras."}, ""); err != nil {
				return err
			}
			q := query("zebras")
			q.Namespace = "zoo"
			f.ask(q)
			_, err := f.Admin().EraseNamespace(t.Context(), "zoo")
			return err
		},
	} {
		if err := erase(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if kept := f.Metrics().Answers().Cache; kept.Answers != 0 || kept.Bytes != 0 {
			t.Errorf("%s: after the erasure %+v is kept", name, kept)
		}
	}
}

func (f *fixture) publishSkill(name, text string) error {
	key := engine.ProcedureKey{Name: name}
	if _, err := f.Procedures().PutDraft(f.t.Context(), key, ragctx.ProcedureBody{Trigger: text, Steps: []string{text}}); err != nil {
		return err
	}
	_, err := f.Procedures().Publish(f.t.Context(), key)
	return err
}

// TestOthersAreAlwaysAsked: what other programs say may change without our knowing.
func TestOthersAreAlwaysAsked(t *testing.T) {
	crm := &counting{name: "crm"}
	f, _ := cached(t)
	key := engine.SessionKey{SessionID: "s1"}
	if err := f.Sessions().AddProvider(t.Context(), key, resolve.Registered{Provider: crm}); err != nil {
		t.Fatal(err)
	}
	f.put("a.md", "Zebras have stripes.")
	f.ask(query("zebras").WithSessionID("s1"))
	f.ask(query("zebras").WithSessionID("s1"))
	global := &counting{name: "all"}
	g, _ := cached(t, func(o *engine.Options) { o.Providers = []resolve.Registered{{Provider: global}} })
	g.ask(query("zebras"))
	g.ask(query("zebras"))
	if crm.asked != 2 || global.asked != 2 {
		t.Errorf("a session's provider was asked %d times, one of all %d times; want twice", crm.asked, global.asked)
	}
}

type counting struct {
	name  string
	asked int
}

func (c *counting) Name() string { return c.name }
func (c *counting) Query(context.Context, ragctx.ContextQuery) (ragctx.ContextResult, error) {
	c.asked++
	return ragctx.ContextResult{}, nil
}

func TestTheCacheIsBounded(t *testing.T) {
	const limit = 64 << 10
	f, _ := cached(t, func(o *engine.Options) { o.AnswerCache = limit })
	f.put("a.md", strings.Repeat("Zebras have stripes. ", 50))
	for i := range 100 {
		f.ask(query(fmt.Sprintf("zebras %d", i)))
		if kept := f.Metrics().Answers().Cache; kept.Bytes > limit || kept.Answers == 0 {
			t.Fatalf("after %d questions %+v is kept", i+1, kept)
		}
	}
	if f.hits(func() { f.ask(query("zebras 99")) }) != 1 || f.hits(func() { f.ask(query("zebras 0")) }) != 0 {
		t.Error("not the newest are kept")
	}
	off, _ := cached(t, func(o *engine.Options) { o.AnswerCache = -1 })
	if n := off.hits(func() { off.ask(query("x")); off.ask(query("x")) }); n != 0 {
		t.Errorf("%d hits without a cache", n)
	}
}

// fresh returns the answer to a query without the cache. It asks again while the answer is degraded.
func (f *fixture) fresh(q ragctx.ContextQuery) (a resolve.Answer) {
	f.t.Helper()
	eventually(f.t, "a fresh answer without a degraded part", func() bool {
		var err error
		if a, err = f.Fresh(f.t.Context(), q); err != nil {
			f.t.Fatal(err)
		}
		return whole(a)
	})
	return a
}

// TestCachedIsFresh takes an engine through random writes, deletes, erasures and clock jumps, and
// repeats the same few queries: each answer equals that of an engine without a cache.
func TestCachedIsFresh(t *testing.T) {
	steps := 120
	if testing.Short() {
		steps = 60
	}
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number will do
	t.Logf("seed %d", seed)
	w := &walk{dice: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // no secret
	w.fixture, w.clock = cached(t, spelling)
	for range steps {
		what, err := w.step()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		w.compare(what)
		w.compare(what)
	}
	if kept := w.Metrics().Answers().Cache; 2*kept.Hits < w.compared || kept.Misses < uint64(steps) {
		t.Errorf("the walk says little: %+v", kept)
	}
}

// walk is a row of random operations.
type walk struct {
	*fixture

	clock    *stepClock
	dice     *rand.Rand
	compared uint64 // answers that lack nothing
}

var (
	walkWords  = strings.Fields("zebra stripes tea harbour light winter")
	walkSpaces = []string{"", "zoo"}
	walkUsers  = []string{"", "ada", "bob"}
)

func oneOf[T any](w *walk, from []T) T { return from[w.dice.IntN(len(from))] }

func (w *walk) text() string {
	return fmt.Sprintf("%s %s %s.", oneOf(w, walkWords), oneOf(w, walkWords), oneOf(w, walkWords))
}

// step changes something.
func (w *walk) step() (what string, err error) {
	ctx, space, user, id := w.t.Context(), oneOf(w, walkSpaces), oneOf(w, walkUsers), fmt.Sprint(w.dice.IntN(4))
	switch w.dice.IntN(14) {
	case 0, 1:
		what = "put document"
		_, err = w.Documents().Put(ctx, space, ragctx.Document{ExternalID: id, Text: w.text()}, "")
	case 2:
		what = "delete document"
		err = ignoreMissing(w.Documents().Delete(ctx, space, id))
	case 3:
		what = "erase document"
		_, err = w.Documents().Erase(ctx, space, id)
	case 4, 5:
		what = "remember"
		m := ragctx.Memory{Namespace: space, ID: user + id, UserID: user, Content: w.text(), Importance: float64(w.dice.IntN(3)) / 2}
		if w.dice.IntN(2) == 0 {
			m.Expires = w.clock.now().Add(time.Duration(1+w.dice.IntN(90)) * time.Second)
		}
		_, _, err = w.Memories().Put(ctx, m)
	case 6:
		what = "forget"
		err = ignoreMissing(w.Memories().Delete(ctx, space, user+id, "", true))
	case 7:
		what = "erase memory"
		_, err = w.Memories().Erase(ctx, space, user+id, "", true)
	case 8:
		what = "turn"
		if _, err = w.CompleteTurn(ctx, ragctx.Turn{Namespace: space, UserID: user, SessionID: "s", Prompt: w.text(), Response: w.text()}); err == nil {
			err = w.Sessions().SettleAll(ctx)
		}
	case 9:
		what = "erase user"
		_, err = w.Admin().EraseUser(ctx, space, cmp.Or(user, "ada"))
	case 10:
		what = "publish"
		err = w.publishSkill("skill"+id, w.text())
	case 11:
		what = "rank"
		err = w.Indexes().SetRanking(ctx, space, store.KindDocuments, index.Ranking{Method: oneOf(w, []string{"", "keyword"})})
	case 12:
		what = "short while"
		w.clock.pass(time.Duration(w.dice.IntN(20)) * time.Second)
	default:
		what = "long while"
		w.clock.pass(time.Duration(w.dice.IntN(180)-30) * time.Second)
	}
	return what, err
}

// ignoreMissing lets pass that there was nothing to delete.
func ignoreMissing(err error) error {
	if code, _ := ragctx.CodeOf(err); code == "not_found" {
		return nil
	}
	return err
}

// compare asks one of few questions.
func (w *walk) compare(what string) {
	w.t.Helper()
	q := query(oneOf(w, []string{"", "zebra", "stripes tea", `"harbour light"`}))
	q.Namespace, q.UserID = oneOf(w, walkSpaces), oneOf(w, walkUsers[:2])
	switch w.dice.IntN(6) {
	case 0:
		q.Blocks = true
	case 1:
		q.Now = t0
	case 2:
		q.AsOf = t0.Add(time.Minute)
	case 3:
		q.Highlight = true
	}
	w.ask(q)
	got := w.ask(q)
	want := w.fresh(q)
	if len(got.Degraded)+len(want.Degraded) > 0 {
		return // such an answer is not kept
	}
	w.compared++
	if diff := gocmp.Diff(want, got, same); diff != "" {
		w.t.Fatalf("after %q, %+v at %v: the kept answer differs from a fresh one (-fresh +kept)\n%s", what, q, w.clock.now(), diff)
	}
}

// TestAcknowledgedWritesAreInAnswers: a caller that has stored, deleted or erased something sees that
// in the next answer, whatever other callers query and write concurrently.
func TestAcknowledgedWritesAreInAnswers(t *testing.T) {
	f, _ := cached(t, spelling)
	q := query("zebra").WithMaxResults(100).WithMaxTokens(100_000)
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			id := fmt.Sprintf("d%d", n)
			for round := range 10 {
				if _, err := f.Documents().Put(t.Context(), "", ragctx.Document{ExternalID: id, Text: fmt.Sprintf("The zebra of %d in round %d.", n, round)}, ""); err != nil {
					t.Error(err)
					return
				}
				if text := fmt.Sprintf("of %d in round %d", n, round); !strings.Contains(f.ask(q).XML, text) {
					t.Errorf("%q was acknowledged and is not in the answer", text)
				}
				var err error
				if round%2 == 0 {
					err = f.Documents().Delete(t.Context(), "", id)
				} else {
					_, err = f.Documents().Erase(t.Context(), "", id)
				}
				if err != nil {
					t.Error(err)
					return
				}
				if text := fmt.Sprintf("The zebra of %d ", n); strings.Contains(f.ask(q).XML, text) {
					t.Errorf("%q is gone, and in the answer", text)
				}
			}
		})
	}
	wg.Wait()
}

// TestRankingsAreInAnswers: a caller that has changed a ranking gets answers ranked by it, whatever
// other callers query concurrently.
func TestRankingsAreInAnswers(t *testing.T) {
	f, _ := cached(t, spelling)
	for n := range 12 {
		f.put(fmt.Sprintf("d%d", n), fmt.Sprintf("%s The zebra of number %d.", strings.Repeat("A storm in the harbour. ", n), n))
	}
	q := query("zebra in the harbour").WithMaxResults(5)
	ctx, end := context.WithCancel(t.Context())
	var askers sync.WaitGroup
	defer askers.Wait()
	defer end()
	for range 3 {
		askers.Go(func() {
			for ctx.Err() == nil {
				if _, err := f.Context(ctx, q); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	kept := f.hits(func() {
		for round := range 60 {
			if err := f.Indexes().SetRanking(ctx, "", store.KindDocuments, index.Ranking{Method: []string{"keyword", "vector"}[round%2]}); err != nil {
				t.Fatal(err)
			}
			got := f.ask(q)
			want := f.fresh(q)
			if diff := gocmp.Diff(want, got, same); diff != "" {
				t.Fatalf("round %d (-fresh +kept):\n%s", round, diff)
			}
		}
	})
	if kept == 0 {
		t.Error("nothing was given again")
	}
}

func BenchmarkAnswers(b *testing.B) {
	for name, size := range map[string]int{"hit": 0, "miss": -1} {
		b.Run(name, func(b *testing.B) {
			eng, err := engine.Open(b.Context(), engine.Options{Dir: b.TempDir(), AnswerCache: size})
			if err != nil {
				b.Fatal(err)
			}
			defer eng.Close()
			for d := range 20 {
				var text strings.Builder
				for i := range 100 {
					fmt.Fprintf(&text, "## Part %d\n\nThe %s of number %d lives in the %s.\n\n", i, walkWords[i%6], 100*d+i, walkWords[(d+i)%5])
				}
				if _, err := eng.Documents().Put(b.Context(), "", ragctx.Document{ExternalID: fmt.Sprint(d), Text: text.String()}, ""); err != nil {
					b.Fatal(err)
				}
			}
			q := ragctx.NewQuery("where does the zebra of the harbour live in winter")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := eng.Context(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
