package resolve_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// Two providers, three items, 225 tokens; events carry the names.
func TestTwoProviders(t *testing.T) {
	var events []ragctx.Event
	r := newResolver(t, resolve.Options{OnEvent: func(_ context.Context, ev ragctx.Event) { events = append(events, ev) }},
		fake{name: "docs", items: []ragctx.ContextItem{item("a", .9, text("a", 50)), item("b", .5, text("b", 100))}},
		fake{name: "memory", items: []ragctx.ContextItem{item("m", .7, text("m", 75))}},
	)
	a := mustResolve(t, r, ragctx.NewQuery("q").WithSessionID("s1"))
	want := []ragctx.Event{
		{
			Type: ragctx.EventContextResolving, Namespace: "default", SessionID: "s1",
			Data: ragctx.ContextResolving{Providers: []string{"docs", "memory"}},
		},
		{Type: ragctx.EventContextResolved, Namespace: "default", SessionID: "s1", Data: ragctx.ContextResolved{TotalItems: 3, TotalTokens: 225}},
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
	if got := shown(a); got != "a m b" {
		t.Errorf("items are %s, want them by relevance: a m b", got)
	}
	if a.TotalTokens != 225 || a.Items[1].TokenCount != 75 || a.Items[1].Provider != "memory" {
		t.Errorf("total %d, second item %+v", a.TotalTokens, a.Items[1])
	}
	prefix := "<context type=\"Resource\" id=\"a\">\n" + text("a", 50) +
		"\n</context>\n\n<context type=\"Resource\" id=\"m\">\nm word"
	if !strings.HasPrefix(a.XML, prefix) {
		t.Errorf("rendered %q", a.XML)
	}
}

func TestSelectiveProviders(t *testing.T) {
	var asked []string
	r := newResolver(t, resolve.Options{OnEvent: func(_ context.Context, ev ragctx.Event) {
		if d, ok := ev.Data.(ragctx.ContextResolving); ok {
			asked = append(asked, strings.Join(d.Providers, " "))
		}
	}}, fake{name: "docs"}, shy{fake{name: "team", items: []ragctx.ContextItem{item("t", .9, "text")}}})
	if a := mustResolve(t, r, ragctx.NewQuery("q")); len(a.Providers) != 1 || shown(a) != "" {
		t.Errorf("asked %+v", a.Providers)
	}
	if a := mustResolve(t, r, ragctx.NewQuery("team")); len(a.Providers) != 2 || shown(a) != "t" {
		t.Errorf("asked %+v", a.Providers)
	}
	if diff := cmp.Diff([]string{"docs", "docs team"}, asked); diff != "" {
		t.Error(diff)
	}
}

// Without providers no event is emitted.
func TestWithoutProvidersThereAreNoEvents(t *testing.T) {
	r := newResolver(t, resolve.Options{OnEvent: func(_ context.Context, ev ragctx.Event) { t.Errorf("event %v", ev.Type) }})
	a := mustResolve(t, r, ragctx.NewQuery("q"))
	if a.Note != "no context providers are registered" || a.Rendered() != "" || a.TotalTokens != 0 {
		t.Errorf("answer %+v", a)
	}
}

// The resolved event is emitted also with zeros.
func TestAllFailedStillResolves(t *testing.T) {
	var types []ragctx.EventType
	r := newResolver(t, resolve.Options{OnEvent: func(_ context.Context, ev ragctx.Event) { types = append(types, ev.Type) }},
		fake{name: "docs", err: errors.New("password is hunter2")},
		fake{name: "memory", err: ragctx.Invalid("filter", "is odd")},
		fake{name: "wild", query: func(context.Context) { panic("boom") }},
		fake{name: "empty", res: ragctx.ContextResult{Note: "the index is empty"}},
	)
	a := mustResolve(t, r, ragctx.NewQuery("q"))
	want := "docs: failed; the log has the cause; memory: filter: is odd; wild: panicked; empty: the index is empty"
	if a.Note != want {
		t.Errorf("note is %q\nwant    %q", a.Note, want)
	}
	if diff := cmp.Diff([]string{"docs", "memory", "wild"}, a.Degraded); diff != "" {
		t.Error(diff)
	}
	if len(types) != 2 || types[1] != ragctx.EventContextResolved {
		t.Errorf("events %v", types)
	}
}

func TestFailClosed(t *testing.T) {
	r := newResolver(t, resolve.Options{}, fake{name: "policy", err: ragctx.ErrNotFound, mode: ragctx.FailClosed})
	_, err := r.Resolve(t.Context(), ragctx.NewQuery("q"))
	if !errors.Is(err, ragctx.ErrProvider) || err.Error() != "required context provider 'policy' failed closed" {
		t.Fatalf("error is %v", err)
	}
	if code, status := ragctx.CodeOf(err); code != "provider_failed" || status != 502 {
		t.Errorf("code %s, status %d", code, status)
	}
}

func TestInvalidQueries(t *testing.T) {
	r, err := resolve.New(resolve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]ragctx.ContextQuery{
		"max_tokens": {MaxTokens: -1},
		"tokenizer":  {Tokenizer: "gpt2"},
		"format":     {Format: "yaml"},
	} {
		if _, err := r.Resolve(t.Context(), q); !errors.Is(err, ragctx.ErrInvalid) {
			t.Errorf("%s: error is %v, want an invalid input", name, err)
		}
	}
}

func TestProvidersCanChange(t *testing.T) {
	r, other := newResolver(t, resolve.Options{}, fake{name: "a"}), newResolver(t, resolve.Options{})
	if err := r.Add(resolve.Registered{Provider: fake{name: "b"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(resolve.Registered{Provider: fake{name: "a"}}); !errors.Is(err, ragctx.ErrConflict) {
		t.Errorf("second provider of one name: %v", err)
	}
	if err := r.Add(resolve.Registered{Provider: fake{}}); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("provider without a name: %v", err)
	}
	if r.Remove("c") || !r.Remove("a") || r.Remove("a") {
		t.Error("Remove does not say whether there was a provider of that name")
	}
	if got := strings.Join(r.Names(), " "); got != "b" || len(other.Names()) != 0 {
		t.Errorf("providers are %s", got)
	}
}

// TestHostileItems: a provider cannot raise its items by claims, break the encoding of the answer, or
// show items that were not requested.
func TestHostileItems(t *testing.T) {
	liar := item("liar", math.Inf(1), "lie")
	liar.Metadata = map[string]any{
		"a3s.context.priority": 1.0, "nan": math.NaN(), "fn": func() {}, "deep": map[string]any{"x": math.Inf(1)}, "ok": "v",
	}
	liar.Required, liar.Provider, liar.TokenCount = true, "docs", -5
	liar.Occurred = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	liar.Signals = map[string]float64{"bm25": math.NaN(), "vector": .5}
	low := item("low", math.NaN(), "low")
	low.Required = true
	low.Type = "nonsense"
	items := []ragctx.ContextItem{low, item("", 1, "no id"), item("blank", 1, " \n"), liar}
	r := newResolver(t, resolve.Options{}, fake{name: "x", items: items})
	q := ragctx.NewQuery("q")
	q.Explain, q.MinRelevance = true, new(0.0)
	a := mustResolve(t, r, q)
	if got := shown(a); got != "liar low" {
		t.Errorf("shown: %s", got)
	}
	if got := lost(a); got != "!no_id blank!empty" {
		t.Errorf("lost: %s", got)
	}
	want := ragctx.ContextItem{
		ID: "liar", Type: ragctx.TypeResource, Content: "lie", TokenCount: 1, Relevance: 1, Provider: "x",
		Metadata: map[string]any{"a3s.context.priority": 1.0, "ok": "v"}, Depth: ragctx.DepthOverview,
		Signals: map[string]float64{"vector": .5},
	}
	if diff := cmp.Diff(want, a.Items[0]); diff != "" {
		t.Error(diff)
	}
	if a.Items[1].Type != ragctx.TypeResource || a.Items[1].Relevance != 0 {
		t.Errorf("second item %+v", a.Items[1])
	}
	if _, err := json.Marshal(a); err != nil {
		t.Errorf("the answer cannot be encoded: %v", err)
	}
}

func TestConditions(t *testing.T) {
	memory := item("m", .9, "remembered")
	memory.Type = ragctx.TypeMemory
	r := newResolver(t, resolve.Options{}, fake{name: "x", items: []ragctx.ContextItem{
		memory, item("seen", .8, "seen"), item("weak", .1, "weak"), item("good", .7, "good"),
	}})
	q := ragctx.NewQuery("q")
	if got := shown(mustResolve(t, r, q)); got != "m seen good weak" {
		t.Errorf("a defaulted type filters: %s", got)
	}
	q = q.WithTypes(ragctx.TypeResource)
	q.Exclude, q.MinRelevance = []string{"seen"}, new(.3)
	a := mustResolve(t, r, q)
	if shown(a) != "good" || lost(a) != "m!type seen!excluded weak!min_relevance" || a.Truncated {
		t.Errorf("shown %s, lost %s, truncated %v", shown(a), lost(a), a.Truncated)
	}
	q.MinRelevance = new(.75)
	if got, want := mustResolve(t, r, q).Note, "x: 4 found, none kept (2 below min_relevance, 1 excluded, 1 of another type)"; got != want {
		t.Errorf("note is %q, want %q", got, want)
	}
}

// The base, a blank line and the context; either alone; or nothing.
func TestPrompt(t *testing.T) {
	for _, tt := range [][3]string{
		{"base", "<context/>", "base\n\n<context/>"}, {"", "<context/>", "<context/>"}, {"base", "", "base"}, {"", "", ""},
	} {
		if got := resolve.Prompt(tt[0], tt[1]); got != tt[2] {
			t.Errorf("Prompt(%q, %q) = %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

func TestAnswerJSON(t *testing.T) {
	r := newResolver(t, resolve.Options{Now: func() time.Time { return time.Time{} }},
		fake{
			name: "docs", items: []ragctx.ContextItem{item("a", .5, "a b"), item("b", .4, "A  B")},
			res: ragctx.ContextResult{Degraded: []string{"vector"}},
		})
	q := ragctx.NewQuery("q")
	q.Citations = new(false)
	for format, want := range map[string]string{
		"xml":  `"xml":"\u003ccontext type=\"Resource\"\u003e\na b\n\u003c/context\u003e","total_tokens":2,"tokenizer":"o200k_base","format":"xml"`,
		"text": `"xml":"","text":"[1] (Resource)\n  a b","total_tokens":4,"tokenizer":"o200k_base","format":"text"`,
	} {
		q.Format = format
		got, err := json.Marshal(mustResolve(t, r, q))
		if err != nil {
			t.Fatal(err)
		}
		whole := `{"items":[{"id":"a","context_type":"resource","content":"a b","token_count":2,"relevance":0.5,"provider":"docs","depth":"overview"}],` + want +
			`,"truncated":true,"providers":[{"name":"docs","items_returned":2,"items_used":1,"tokens":2,"took_ms":0,"degraded":["vector"]}],` +
			`"dropped":[{"id":"b","provider":"docs","reason":"duplicate","tokens":1}],"shortened":[],"degraded":["docs:vector"]}`
		if string(got) != whole {
			t.Errorf("got  %s\nwant %s", got, whole)
		}
	}
}
