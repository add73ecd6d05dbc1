package resolve_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

func withForms(it ragctx.ContextItem, wider string, shorter ...string) ragctx.ContextItem {
	it.Forms.Wider = ragctx.Form{Text: wider}
	for _, s := range shorter {
		it.Forms.Shorter = append(it.Forms.Shorter, ragctx.Form{Depth: ragctx.DepthAbstract, Text: s})
	}
	return it
}

func TestItemsStepDown(t *testing.T) {
	r := newResolver(t, resolve.Options{}, fake{name: "x", items: []ragctx.ContextItem{
		item("a", .9, text("a", 50)),
		withForms(item("b", .8, text("b", 60)), "", text("b1", 55), text("b2", 20)),
		item("c", .7, text("c", 40)),
		item("d", .6, text("d", 30)),
	}})
	a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(100))
	if shown(a) != "a b d" || lost(a) != "c!budget" || !a.Truncated || a.TotalTokens != 100 {
		t.Fatalf("shown %s, lost %s, %d tokens", shown(a), lost(a), a.TotalTokens)
	}
	if b := a.Items[1]; b.Depth != ragctx.DepthAbstract || b.TokenCount != 20 || b.Content != text("b2", 20) {
		t.Errorf("b is %+v", b)
	}
	if len(a.Shortened) != 1 {
		t.Fatalf("shortened %+v", a.Shortened)
	}
	s := a.Shortened[0] // the saving is an estimate: b's content was not worth counting
	if s.ID != "b" || s.Provider != "x" || s.Depth != ragctx.DepthAbstract || s.Cut || s.Tokens < 38 || s.Tokens > 42 {
		t.Errorf("shortened %+v", s)
	}
	if p := a.Providers[0]; p.Returned != 4 || p.Used != 3 || p.Tokens != 100 {
		t.Errorf("report %+v", p)
	}
}

func TestLeftoverWidens(t *testing.T) {
	r := newResolver(t, resolve.Options{}, fake{name: "x", items: []ragctx.ContextItem{
		withForms(item("a", .9, text("a", 20)), text("a", 90)),
		withForms(item("b", .8, text("b", 20)), text("b", 50)),
		withForms(item("c", .7, text("c", 20)), text("c", 30)),
	}})
	a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(100))
	got := []int{a.Items[0].TokenCount, a.Items[1].TokenCount, a.Items[2].TokenCount}
	if got[0] != 20 || got[1] != 50 || got[2] != 30 || a.Truncated {
		t.Errorf("tokens %v, truncated %v; want b and c widened", got, a.Truncated)
	}
}

func TestWeakMatchesDoNotWiden(t *testing.T) {
	r := newResolver(t, resolve.Options{},
		fake{name: "x", items: []ragctx.ContextItem{withForms(item("a", .9, text("a", 20)), text("a", 30))}},
		fake{name: "y", items: []ragctx.ContextItem{withForms(item("b", .2, text("b", 20)), text("b", 30))}},
	)
	a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(100))
	if a.Items[0].TokenCount != 30 || a.Items[1].TokenCount != 20 {
		t.Errorf("a has %d tokens, b %d", a.Items[0].TokenCount, a.Items[1].TokenCount)
	}
}

func TestRequiredIsCut(t *testing.T) {
	r := newResolver(t, resolve.Options{Providers: []resolve.Registered{
		{Provider: fake{name: "x", items: []ragctx.ContextItem{item("a", .9, text("a", 5))}}},
		{Provider: fake{name: "pinned", items: []ragctx.ContextItem{item("r", 0, text("r", 500))}}, Required: true},
	}})
	a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(40))
	if len(a.Items) == 0 || a.Items[0].ID != "r" || a.TotalTokens > 40 || a.Items[0].TokenCount < 35 {
		t.Errorf("answer %+v", a)
	}
	if len(a.Shortened) != 1 || !a.Shortened[0].Cut {
		t.Errorf("shortened %+v", a.Shortened)
	}
}

// TestSomethingIsReturned: a single item that is too big is cut, at a word boundary if possible.
// Traps 7 and 8.
func TestSomethingIsReturned(t *testing.T) {
	const tags = len("<context type=\"Resource\" id=\"a\">\n\n</context>")
	tests := []struct{ name, content, want string }{
		{"words", "alpha beta gamma delta", "alpha beta"},
		{"a long word", strings.Repeat("x", 50), strings.Repeat("x", 12)},
		{"runes", strings.Repeat("漢", 50), strings.Repeat("漢", 12)},
		{"leading space", strings.Repeat(" ", 99) + "alpha beta gamma", "alpha beta"},
		{"escaped", strings.Repeat("<", 9), "<<<"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newResolver(t, resolve.Options{Counters: runes}, fake{name: "x", items: []ragctx.ContextItem{item("a", .9, tt.content)}})
			a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(tags+12))
			if len(a.Items) != 1 || a.Items[0].Content != tt.want {
				t.Fatalf("items %+v, want %q", a.Items, tt.want)
			}
			if a.TotalTokens > tags+12 || !a.Truncated || !a.Shortened[0].Cut {
				t.Errorf("answer %+v", a)
			}
			a = mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(tags))
			want := "max_tokens 44 is too small: the tags of the best item alone take 44 tokens"
			if len(a.Items) != 0 || a.Note != want || lost(a) != "a!budget" {
				t.Errorf("answer %+v", a)
			}
		})
	}
}

// TestCutItemsGiveTheirIDAlone: cut items have no lines, which would be wrong, and no title, because
// with so few tokens content is worth more.
func TestCutItemsGiveTheirIDAlone(t *testing.T) {
	it := item("a@1#0", .9, text("a", 40))
	it.Metadata = map[string]any{"title": "A title of several words", "page": 3, "lines": "5-7"}
	r := newResolver(t, resolve.Options{Counters: runes}, fake{name: "x", items: []ragctx.ContextItem{it}})
	whole := mustResolve(t, r, ragctx.NewQuery("q"))
	want := `<context type="Resource" id="a@1#0" title="A title of several words" page="3" lines="5-7">`
	if !strings.HasPrefix(whole.XML, want) {
		t.Fatalf("whole: %s", whole.XML)
	}
	for _, limit := range []int{60, whole.TotalTokens - 1} {
		a := mustResolve(t, r, ragctx.NewQuery("q").WithMaxTokens(limit))
		if !strings.HasPrefix(a.XML, "<context type=\"Resource\" id=\"a@1#0\">\n") || a.TotalTokens > limit || !a.Items[0].Cut {
			t.Errorf("of %d tokens %d: %s", limit, a.TotalTokens, a.XML)
		}
		if a.Items[0].Metadata["title"] == nil {
			t.Error("the item itself has lost its title")
		}
	}
}
