package resolve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// scorer is a Reranker that calls a func.
type scorer func(ctx context.Context, query string, texts []string) ([]float64, error)

func (s scorer) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	return s(ctx, query, texts)
}

// byText scores texts by a table; other texts score 0.
func byText(scores map[string]float64) scorer {
	return func(_ context.Context, _ string, texts []string) ([]float64, error) {
		out := make([]float64, len(texts))
		for i, t := range texts {
			out[i] = scores[t]
		}
		return out, nil
	}
}

func TestRerankerOrdersDocumentsAndMemoriesAlike(t *testing.T) {
	var asked []string
	judge := byText(map[string]float64{"a": .1, "b": .9, "m": .5})
	r := newResolver(t, resolve.Options{Reranker: scorer(func(ctx context.Context, query string, texts []string) ([]float64, error) {
		asked = append(asked, query+": "+strings.Join(texts, " "))
		return judge(ctx, query, texts)
	})},
		fake{name: "docs", items: []ragctx.ContextItem{item("a", .9, "a"), item("b", .5, "b")}},
		fake{name: "memory", items: []ragctx.ContextItem{item("m", .7, "m")}},
	)
	q := ragctx.NewQuery("q")
	q.Explain = true
	a := mustResolve(t, r, q)
	if got := shown(a); got != "b m a" || len(a.Degraded) != 0 {
		t.Errorf("shown %s, without %v", got, a.Degraded)
	}
	if diff := cmp.Diff([]string{"q: a m b"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if it := a.Items[0]; it.Relevance != .9 || it.Signals["rerank"] != .9 || it.Signals["before_rerank"] != .5 {
		t.Errorf("the best item is %+v", it)
	}
	if got := shown(mustResolve(t, r, q.WithParam("rerank", false))); got != "a m b" || len(asked) != 1 {
		t.Errorf("switched off: %s, asked %d times", got, len(asked))
	}
	if q.Query = " "; shown(mustResolve(t, r, q)) != "a m b" || len(asked) != 1 {
		t.Error("asked without a question")
	}
}

func TestRerankerKeepsRequiredItemsAndHints(t *testing.T) {
	r := newResolver(t, resolve.Options{
		Reranker: byText(map[string]float64{"p": .5, "q": .6, "t": .3, "z": 1}),
		Providers: []resolve.Registered{
			{Provider: fake{name: "plain", items: []ragctx.ContextItem{item("p", .8, "p"), item("q", .1, "q")}}},
			{Provider: fake{name: "trusted", items: []ragctx.ContextItem{item("t", .4, "t")}}, Priority: 1},
			{Provider: fake{name: "pinned", items: []ragctx.ContextItem{item("z", 0, "z")}}, Required: true},
		},
	})
	q := ragctx.NewQuery("q")
	q.MinRelevance = new(.2)
	a := mustResolve(t, r, q)
	if got := shown(a); got != "z q t p" { // .3 and a priority of 1 are .55 in rank
		t.Errorf("shown %s", got)
	}
	if a.Items[0].Relevance != 0 {
		t.Errorf("the required item was scored: %+v", a.Items[0])
	}
}

func TestMinRelevanceAppliesToReranked(t *testing.T) {
	r := newResolver(t, resolve.Options{Reranker: byText(map[string]float64{"low": .8, "high": .1, "mid": .4})},
		fake{name: "x", items: []ragctx.ContextItem{item("high", .9, "high"), item("mid", .5, "mid"), item("low", .05, "low")}})
	q := ragctx.NewQuery("q")
	q.MinRelevance = new(.3)
	a := mustResolve(t, r, q)
	if shown(a) != "low mid" || lost(a) != "high!min_relevance" || a.Truncated {
		t.Errorf("shown %s, lost %s, truncated %v", shown(a), lost(a), a.Truncated)
	}
	if a = mustResolve(t, r, q.WithParam("rerank", false)); shown(a) != "high mid" || lost(a) != "low!min_relevance" {
		t.Errorf("without: shown %s, lost %s", shown(a), lost(a))
	}
	q.MinRelevance = new(.9)
	if got, want := mustResolve(t, r, q).Note, "x: 3 found, none kept (3 below min_relevance)"; got != want {
		t.Errorf("note is %q, want %q", got, want)
	}
}

// TestEmptyAnswerNamesItsLimits: an answer of providers that found nothing names what limited the search.
func TestEmptyAnswerNamesItsLimits(t *testing.T) {
	r := newResolver(t, resolve.Options{}, fake{name: "x"})
	q := ragctx.NewQuery("q")
	if got, want := mustResolve(t, r, q).Note, "x: found nothing"; got != want {
		t.Errorf("without limits: note is %q, want %q", got, want)
	}
	q.Filter.Tags, q.AsOf = []string{"none"}, time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	want := "x: found nothing; the search was limited by filter.tags, as_of, which compares the time of storing"
	if got := mustResolve(t, r, q).Note; got != want {
		t.Errorf("note is %q, want %q", got, want)
	}
}

// TestRerankTop: items that are not reranked stay behind the others, in their order.
func TestRerankTop(t *testing.T) {
	f := fake{name: "x"}
	scores := make(map[string]float64)
	for i := range 20 {
		id := fmt.Sprintf("i%02d", i)
		f.items = append(f.items, item(id, .9-float64(i)/100, id))
		scores[id] = float64(i) / 100
	}
	r := newResolver(t, resolve.Options{Reranker: byText(scores), RerankTop: 4}, f)
	a := mustResolve(t, r, ragctx.NewQuery("q"))
	if got := shown(a); got != "i03 i02 i01 i00 i04 i05 i06 i07 i08 i09" {
		t.Errorf("shown %s", got)
	}
}

// TestProvidersAreAskedForMore: providers return more items to choose from, also below the minimum
// relevance, because they are scored later.
func TestProvidersAreAskedForMore(t *testing.T) {
	var asked ragctx.ContextQuery
	p := spy{seen: &asked}
	for _, tt := range []struct {
		reranker  resolve.Reranker
		diversity float64
		params    map[string]any
		results   int
		most      int
		least     float64
	}{
		{nil, 0, nil, 10, 10, .5},
		{byText(nil), 0, nil, 10, 50, 0},
		{byText(nil), 0, map[string]any{"rerank": false}, 10, 10, .5},
		{byText(nil), 0, nil, 80, 80, 0},
		{nil, .1, nil, 3, 20, .5},
		{nil, .1, nil, 15, 30, .5},
		{nil, .1, nil, 100, 200, .5},
		{nil, .1, nil, 900, 900, .5},
	} {
		r := newResolver(t, resolve.Options{Reranker: tt.reranker}, p)
		q := ragctx.NewQuery("q").WithMaxResults(tt.results)
		q.MinRelevance, q.Diversity, q.Params = new(.5), tt.diversity, tt.params
		mustResolve(t, r, q)
		if asked.MaxResults != tt.most || asked.LeastRelevance() != tt.least {
			t.Errorf("%+v: asked for %d items of %v", tt, asked.MaxResults, asked.LeastRelevance())
		}
	}
}

// spy records the query that it receives.
type spy struct{ seen *ragctx.ContextQuery }

func (s spy) Name() string { return "spy" }

func (s spy) Query(_ context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	*s.seen = q
	return ragctx.ContextResult{}, nil
}

// TestRerankerFails: if the reranker fails in any way, the answer is the one without it.
func TestRerankerFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scores := func(s ...float64) scorer {
			return func(context.Context, string, []string) ([]float64, error) { return s, nil }
		}
		items := fake{name: "x", items: []ragctx.ContextItem{item("a", .9, "a"), item("b", .5, "b"), item("c", .1, "c")}}
		q := ragctx.NewQuery("q")
		q.MinRelevance, q.Explain = new(.2), true
		want := mustResolve(t, newResolver(t, resolve.Options{}, items), q)
		for name, tt := range map[string]struct {
			reranker scorer
			log      string
			took     time.Duration
		}{
			"error": {func(context.Context, string, []string) ([]float64, error) {
				return []float64{1, 1, 1}, errors.New("it rains")
			}, "it rains", 0},
			"panic": {func(context.Context, string, []string) ([]float64, error) { panic("boom") }, "panicked", 0},
			"few":   {scores(.5, .5), "2 scores for 3 texts", 0},
			"many":  {scores(.5, .5, .5, .5), "4 scores for 3 texts", 0},
			"NaN":   {scores(.5, math.NaN(), .5), "gave text 1 the score NaN", 0},
			"huge":  {scores(.5, .5, 7), "gave text 2 the score 7", 0},
			"deaf": {func(context.Context, string, []string) ([]float64, error) {
				time.Sleep(time.Hour)
				return []float64{0, 0, 1}, nil
			}, "timed out after 1s", time.Second},
			"slow": {func(ctx context.Context, _ string, _ []string) ([]float64, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}, "timed out after 1s", time.Second},
		} {
			var log bytes.Buffer
			r := newResolver(t, resolve.Options{Reranker: tt.reranker, Logger: slog.New(slog.NewTextHandler(&log, nil))}, items)
			start := time.Now()
			a := mustResolve(t, r, q)
			if took := time.Since(start); took != tt.took {
				t.Errorf("%s: took %v", name, took)
			}
			if diff := cmp.Diff([]string{"rerank"}, a.Degraded); diff != "" {
				t.Errorf("%s: degraded (-want +got):\n%s", name, diff)
			}
			a.Degraded, a.Providers = want.Degraded, want.Providers
			if diff := cmp.Diff(want, a); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if !strings.Contains(log.String(), tt.log) {
				t.Errorf("%s: the log says %s", name, log.String())
			}
		}
		time.Sleep(time.Hour) // let the deaf one finish
	})
}

// TestRerankerLeavesTimeForTheAnswer: the reranker gets the request's time less the time for the answer,
// and its failure does not fail the request.
func TestRerankerLeavesTimeForTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newResolver(t, resolve.Options{Reranker: scorer(func(ctx context.Context, _ string, _ []string) ([]float64, error) {
			asked.Add(1)
			<-ctx.Done()
			return nil, ctx.Err()
		})}, fake{name: "x", items: one("a")})
		for _, tt := range []struct {
			left, took time.Duration
			asked      int64
		}{
			{800 * time.Millisecond, 700 * time.Millisecond, 1},
			{100 * time.Millisecond, 80 * time.Millisecond, 1},
			{15 * time.Millisecond, 0, 0},
			{time.Minute, time.Second, 1},
		} {
			asked.Store(0)
			ctx, cancel := context.WithTimeout(t.Context(), tt.left)
			start := time.Now()
			a, err := r.Resolve(ctx, ragctx.NewQuery("q"))
			if err != nil || shown(a) != "a" || !slices.Contains(a.Degraded, "rerank") {
				t.Errorf("%v left: %+v, %v", tt.left, a, err)
			}
			if took := time.Since(start); took != tt.took || asked.Load() != tt.asked {
				t.Errorf("%v left: took %v, asked %d times", tt.left, took, asked.Load())
			}
			cancel()
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := r.Resolve(ctx, ragctx.NewQuery("q")); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller has gone: %v", err)
		}
	})
}

// TestStuckReranker: a reranker that never returns costs a bounded number of goroutines.
func TestStuckReranker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		r := newResolver(t, resolve.Options{Reranker: scorer(func(context.Context, string, []string) ([]float64, error) {
			asked.Add(1)
			time.Sleep(time.Hour)
			return []float64{1}, nil
		})}, fake{name: "x", items: one("a")})
		for range 40 {
			mustResolve(t, r, ragctx.NewQuery("q"))
		}
		if asked.Load() != 32 {
			t.Errorf("asked %d times", asked.Load())
		}
		time.Sleep(time.Hour)
	})
}

// TestOrderDoesNotShareSignals: the maps of the input items are not modified.
func TestOrderDoesNotShareSignals(t *testing.T) {
	it := item("a", .4, "a")
	it.Signals = map[string]float64{"keyword": .4}
	r := newResolver(t, resolve.Options{
		Reranker: byText(map[string]float64{"a": .7}), Providers: []resolve.Registered{{Provider: fake{name: "p", items: []ragctx.ContextItem{it}}}},
	})
	q := ragctx.NewQuery("q")
	q.Explain = true
	a, err := r.Rank(t.Context(), q, "p")
	got := a.Items
	want := map[string]float64{"keyword": .4, "rerank": .7, "before_rerank": .4}
	if err != nil || len(it.Signals) != 1 || cmp.Diff(want, got[0].Signals) != "" {
		t.Errorf("%v, %v, %v", got, it.Signals, err)
	}
}

// TestRankHasNoBudget: providers are told so, as they need not make forms.
func TestRankHasNoBudget(t *testing.T) {
	asked := ragctx.ContextQuery{MaxTokens: 1}
	r := newResolver(t, resolve.Options{Providers: []resolve.Registered{{Provider: recorder{fake{name: "p"}, &asked}}}})
	if _, err := r.Rank(t.Context(), ragctx.NewQuery("q").WithDefaults(), "p"); err != nil || asked.MaxTokens != 0 {
		t.Errorf("asked with a budget of %d tokens: %v", asked.MaxTokens, err)
	}
}

// recorder is a provider that records the query.
type recorder struct {
	fake
	asked *ragctx.ContextQuery
}

func (r recorder) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	*r.asked = q
	return r.fake.Query(ctx, q)
}

func TestDiversity(t *testing.T) {
	items := []ragctx.ContextItem{
		item("guide2", .9, "To restore a backup run the restore command and wait"),
		item("guide1", .89, "To restore a backup run the restore command and wait for it"),
		item("guide0", .88, "To restore a backup, run the restore command."),
		item("rights", .7, "Only administrators hold the right to overwrite a database"),
		item("check", .5, "Afterwards compare checksums of all tables"),
	}
	for _, tt := range []struct {
		d    float64
		want string
	}{
		{0, "guide2 guide1 guide0 rights check"},
		{.1, "guide2 guide1 guide0 rights check"},
		{.4, "guide2 rights check guide0 guide1"},
		{1, "guide2 rights check guide0 guide1"},
	} {
		var ids []string
		for _, it := range resolve.Diversify(items, tt.d) {
			ids = append(ids, it.ID)
		}
		if got := strings.Join(ids, " "); got != tt.want {
			t.Errorf("diversity %v: %s, want %s", tt.d, got, tt.want)
		}
	}
}

// TestDiversityAndRequiredItems: required items come first and count as chosen.
func TestDiversityAndRequiredItems(t *testing.T) {
	r := newResolver(t, resolve.Options{Providers: []resolve.Registered{
		{Provider: fake{name: "x", items: []ragctx.ContextItem{
			item("like", .9, "the pager goes to the platform team"), item("other", .6, "holidays are booked by mail"),
		}}},
		{Provider: fake{name: "pinned", items: []ragctx.ContextItem{item("z", 0, "The pager goes to the platform team!")}}, Required: true},
	}})
	q := ragctx.NewQuery("q")
	q.Diversity = .5
	if got := shown(mustResolve(t, r, q)); got != "z other like" {
		t.Errorf("shown %s", got)
	}
}

// TestDiversityAfterReranking: diversity applies only to reranked items.
func TestDiversityAfterReranking(t *testing.T) {
	r := newResolver(t, resolve.Options{RerankTop: 3, Reranker: byText(map[string]float64{"alpha beta": .8, "alpha beta!": .9, "gamma": .7})},
		fake{name: "x", items: []ragctx.ContextItem{
			item("a", .9, "alpha beta"), item("b", .8, "alpha beta!"), item("c", .7, "gamma"), item("d", .6, "delta"),
		}})
	q := ragctx.NewQuery("q")
	q.Diversity = .6
	if got := shown(mustResolve(t, r, q)); got != "b c a d" {
		t.Errorf("shown %s", got)
	}
}

// drawItems returns items, best first, with few different texts.
func drawItems(t *rapid.T) []ragctx.ContextItem {
	vocabulary := rapid.SampledFrom([]string{"alpha", "beta", "gamma", "delta", "alpha_beta", "漢字", "x"})
	texts := rapid.SliceOfN(rapid.OneOf(
		rapid.Custom(func(t *rapid.T) string {
			set := rapid.SliceOfNDistinct(vocabulary, 0, 5, rapid.ID).Draw(t, "set")
			return strings.Join(slices.Sorted(slices.Values(set)), " ")
		}),
		rapid.SampledFrom([]string{"…", "!", "the"}), // words that say nothing
	), 1, 6).Draw(t, "texts")
	relevances := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 30).Draw(t, "relevances")
	slices.Sort(relevances)
	slices.Reverse(relevances)
	items := make([]ragctx.ContextItem, len(relevances))
	for i, r := range relevances {
		items[i] = item(fmt.Sprint(i), r, rapid.SampledFrom(texts).Draw(t, "text"))
	}
	return items
}

// TestDiversityProperties: the result is a deterministic permutation that begins with the best item. At
// diversity 1, a text does not follow itself while another one is left.
func TestDiversityProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := drawItems(t)
		d := rapid.OneOf(rapid.Just(0.), rapid.Just(1.), rapid.Float64Range(0, 1)).Draw(t, "diversity")
		got := resolve.Diversify(items, d)
		if diff := cmp.Diff(got, resolve.Diversify(items, d)); diff != "" {
			t.Fatalf("not the same twice:\n%s", diff)
		}
		if d == 0 && cmp.Diff(items, got) != "" {
			t.Fatal("the order changed without diversity")
		}
		byID := func(list []ragctx.ContextItem) []ragctx.ContextItem {
			return slices.SortedFunc(slices.Values(list), func(a, b ragctx.ContextItem) int { return strings.Compare(a.ID, b.ID) })
		}
		if diff := cmp.Diff(byID(items), byID(got)); diff != "" {
			t.Fatalf("not a permutation:\n%s", diff)
		}
		if len(got) > 0 && got[0].ID != items[0].ID {
			t.Errorf("begins with %s", got[0].ID)
		}
		if d < 1 {
			return
		}
		for i := 1; i < len(got); i++ {
			other := slices.ContainsFunc(got[i:], func(it ragctx.ContextItem) bool { return it.Content != got[i].Content })
			if got[i].Content == got[i-1].Content && other {
				t.Errorf("%q follows itself at %d", got[i].Content, i)
			}
		}
	})
}

// TestCopiesComeLast: with high diversity and texts without common words, every text comes once before
// any comes twice.
func TestCopiesComeLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vocabulary := []string{"alpha", "beta", "gamma", "delta", "epsilon"}
		var items []ragctx.ContextItem
		for i, w := range rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 25).Draw(t, "words") {
			items = append(items, item(fmt.Sprint(i), 1-float64(i)/30, strings.Repeat(w+" ", 3)))
		}
		seen := make(map[string]bool)
		distinct := make(map[string]bool)
		for _, it := range items {
			distinct[it.Content] = true
		}
		for i, it := range resolve.Diversify(items, rapid.Float64Range(.9, 1).Draw(t, "diversity")) {
			if seen[it.Content] && len(seen) < len(distinct) {
				t.Errorf("a copy at %d, when %d of %d texts had come", i, len(seen), len(distinct))
			}
			seen[it.Content] = true
		}
	})
}

// TestDiversityKeepsTheCap: with diversity and reranking, the answer still keeps the token cap and
// accounts for every item.
func TestDiversityKeepsTheCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		regs, q := drawProviders(t), drawQuery(t)
		q.Diversity = rapid.Float64Range(0, 1).Draw(t, "diversity")
		o := resolve.Options{Providers: regs, Counters: anyCounter, RerankTop: rapid.IntRange(1, 9).Draw(t, "top")}
		if rapid.Bool().Draw(t, "rerank") {
			o.Reranker = scorer(func(_ context.Context, _ string, texts []string) ([]float64, error) {
				out := make([]float64, len(texts))
				for i, text := range texts {
					out[i] = float64(len(text)%97) / 97
				}
				return out, nil
			})
			q.MinRelevance = new(rapid.Float64Range(0, .5).Draw(t, "least"))
		}
		a, c := withinCap(t, o, q)
		checkAccounts(t, a, c)
	})
}

func BenchmarkDiversity(b *testing.B) {
	for _, n := range []int{20, 40, 80, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			items := manyItems(n).items
			r, err := resolve.New(resolve.Options{Providers: []resolve.Registered{{Provider: fake{name: "p", items: items}}}})
			if err != nil {
				b.Fatal(err)
			}
			q := ragctx.NewQuery("q")
			q.Diversity = .3
			for b.Loop() {
				if _, err := r.Rank(b.Context(), q, "p"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestRerankerReadsAFollowUp: the reranker gets a follow-up question with words of the conversation.
func TestRerankerReadsAFollowUp(t *testing.T) {
	var asked string
	r := newResolver(t, resolve.Options{Reranker: scorer(func(_ context.Context, query string, texts []string) ([]float64, error) {
		asked = query
		return make([]float64, len(texts)), nil
	})}, fake{name: "docs", items: []ragctx.ContextItem{item("a", .9, "a")}})
	q := ragctx.NewQuery("how long does it take?")
	q.Messages = []ragctx.Message{ragctx.TextMessage(ragctx.RoleUser, "Which ferry goes to Heligoland?")}
	mustResolve(t, r, q)
	if want := "how long does it take? (ferry Heligoland)"; asked != want {
		t.Errorf("asked %q, want %q", asked, want)
	}
}
