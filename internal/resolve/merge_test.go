package resolve_test

import (
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// Hints can outrank relevance.
func TestOperatorHintsOutrank(t *testing.T) {
	r := newResolver(t, resolve.Options{Providers: []resolve.Registered{
		{Provider: fake{name: "plain", items: []ragctx.ContextItem{item("p", .8, "p"), item("q", .9, "q")}}},
		{Provider: fake{name: "trusted", items: []ragctx.ContextItem{item("t", .4, "t")}}, Priority: 1, Trust: 1, Freshness: 9},
		{Provider: fake{name: "pinned", items: []ragctx.ContextItem{item("z", 0, "z")}}, Required: true},
	}})
	q := ragctx.NewQuery("q")
	q.MinRelevance = new(.2)
	if got := shown(mustResolve(t, r, q)); got != "z q t p" { // .4+.5 = .9 in rank, less in relevance
		t.Errorf("equal ranks are not ordered by relevance: %s", got)
	}
}

func TestTies(t *testing.T) {
	short, long := item("short", .5, "x y"), item("long", .5, "x y z")
	short.TokenCount, long.TokenCount = 70, 50
	r := newResolver(t, resolve.Options{},
		fake{name: "one", items: []ragctx.ContextItem{item("b", .5, text("b", 60)), short}},
		fake{name: "two", items: []ragctx.ContextItem{item("a", .5, text("a", 60)), long}},
	)
	if got := shown(mustResolve(t, r, ragctx.NewQuery("q"))); got != "long short a b" {
		t.Errorf("shown: %s, want fewer tokens first, then by id", got)
	}
}

// The better one of two equal contents stays; an equal source alone is no duplicate.
func TestDuplicates(t *testing.T) {
	at := func(it ragctx.ContextItem, source string) ragctx.ContextItem { it.Source = source; return it }
	r := newResolver(t, resolve.Options{},
		fake{name: "one", items: []ragctx.ContextItem{
			at(item("d#1", .9, "first passage"), "file:d"), at(item("d#2", .8, "second passage"), "file:d"),
		}},
		fake{name: "two", items: []ragctx.ContextItem{
			at(item("same", .2, "old words"), "memory"),
			item("copy", .3, " First\n\tPASSAGE "), at(item("same", .7, "new words"), "memory"), at(item("same", .1, "elsewhere"), "other"),
		}},
	)
	a := mustResolve(t, r, ragctx.NewQuery("q"))
	if got := shown(a); got != "d#1 d#2 same same" {
		t.Errorf("shown: %s", got)
	}
	if a.Items[2].Content != "new words" || !a.Truncated {
		t.Errorf("kept the lesser duplicate, or did not say so: %+v", a)
	}
	if got := lost(a); got != "copy!duplicate same!duplicate" {
		t.Errorf("lost: %s", got)
	}
}

// TestClaimsPutNothingOut: a provider cannot replace items of others by claiming high relevance.
func TestClaimsPutNothingOut(t *testing.T) {
	at := func(it ragctx.ContextItem, source string) ragctx.ContextItem { it.Source = source; return it }
	stored := resolve.Registered{Stored: true, Provider: fake{name: "memory", items: []ragctx.ContextItem{
		at(item("m1", .2, "the vault code is 7391"), "memory"), at(item("m2", .1, "tea at four"), "memory"),
	}}}
	claims := resolve.Registered{Provider: fake{name: "crm", items: []ragctx.ContextItem{
		at(item("m1", 1, "the vault code is 0000"), "memory"), at(item("mine", 1, "Tea  at FOUR"), "memory"),
	}}}
	for name, c := range map[string]struct {
		required    bool
		shown, lost string
	}{
		"its word alone":           {false, "m1 m1 m2", "mine!duplicate"},
		"required by the operator": {true, "mine m1 m1", "m2!duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			claims.Required = c.required
			a := mustResolve(t, newResolver(t, resolve.Options{Providers: []resolve.Registered{stored, claims}}), ragctx.NewQuery("q"))
			if shown(a) != c.shown || lost(a) != c.lost {
				t.Errorf("shown %s, lost %s", shown(a), lost(a))
			}
		})
	}
}

// Caps of a source reserve room for others, and apply only if there are others.
func TestSourceCaps(t *testing.T) {
	many := func(name, prefix string, n int) fake {
		f := fake{name: name}
		for i := range n {
			it := item(prefix+string(rune('a'+i)), .9-float64(i)/100, prefix+string(rune('a'+i)))
			it.Source = prefix + ":" + it.ID
			f.items = append(f.items, it)
		}
		return f
	}
	q := ragctx.ContextQuery{Query: "q", Preset: "compact"} // 8 items, 4 per source
	one := fake{name: "low", items: []ragctx.ContextItem{item("z", .02, "z")}}

	a := mustResolve(t, newResolver(t, resolve.Options{}, many("docs", "d", 10)), q)
	if got := shown(a); got != "da db dc dd de df dg dh" {
		t.Errorf("a lone source is held back: %s", got)
	}
	a = mustResolve(t, newResolver(t, resolve.Options{}, many("docs", "d", 10), one), q)
	if got := shown(a); got != "da db dc dd de df dg z" {
		t.Errorf("beside another source: %s", got)
	}
	if got := lost(a); got != "dh!source_cap di!source_cap dj!source_cap" {
		t.Errorf("lost: %s", got)
	}
	a = mustResolve(t, newResolver(t, resolve.Options{}, many("docs", "d", 10), many("mem", "m", 10)), q)
	if got := shown(a); got != "da ma db mb dc mc dd md" {
		t.Errorf("two strong sources: %s", got)
	}
	for _, preset := range ragctx.PresetNames() {
		q.Preset, q.MaxResults, q.MaxTokens = preset, 0, 0
		a = mustResolve(t, newResolver(t, resolve.Options{}, many("docs", "d", 26), many("mem", "m", 26)), q)
		if len(a.Items) != q.Caps().MaxResults {
			t.Errorf("%s shows %d items, want %d", preset, len(a.Items), q.Caps().MaxResults)
		}
	}
}
