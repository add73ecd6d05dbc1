package resolve_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
)

// A shown item keeps its place while its rank changes little, and new items come after it.
func TestShownItemsStay(t *testing.T) {
	now := []ragctx.ContextItem{
		item("new", .9, "n"), item("a", .8, "a"), item("other", .7, "o"), item("b", .6, "b"), item("x", .5, "x"),
		item("y", .4, "y"), item("far", .1, "f"),
	}
	r := newResolver(t, resolve.Options{}, fake{name: "p", items: now})
	for name, c := range map[string]struct{ before, want string }{
		"nothing was shown":     {"", "new a other"},
		"order stays":           {"b a", "b a new"},
		"far behind is gone":    {"far", "new a other"},
		"what is not there any": {"gone a", "a new other"},
	} {
		q := ragctx.NewQuery("q").WithMaxResults(3)
		q.Shown = strings.Fields(c.before)
		if got := shown(mustResolve(t, r, q)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A query that lists the shown items gets the same bytes, within the budget.
func TestEqualQuestionsHaveEqualBytes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var items []ragctx.ContextItem
		steps := rapid.Bool().Draw(rt, "steps")
		for i := range rapid.IntRange(1, 12).Draw(rt, "items") {
			id := fmt.Sprintf("i%d", i)
			it := item(id, rapid.Float64Range(0, 1).Draw(rt, "relevance"), text(id, rapid.IntRange(1, 30).Draw(rt, "words")))
			it.Source = rapid.SampledFrom([]string{"file:x", "web:y"}).Draw(rt, "source")
			if steps && rapid.Bool().Draw(rt, "shorter") {
				it.Forms.Shorter = []ragctx.Form{{Depth: ragctx.DepthAbstract, Text: text(id, 2)}}
			}
			items = append(items, it)
		}
		r := newResolver(t, resolve.Options{Counters: runes}, fake{name: "p", items: items})
		q := ragctx.NewQuery("q").WithMaxResults(rapid.IntRange(1, 8).Draw(rt, "results")).
			WithMaxTokens(rapid.IntRange(1, 1200).Draw(rt, "tokens"))
		q.Blocks = rapid.Bool().Draw(rt, "blocks")
		for rapid.IntRange(0, 8).Draw(rt, "more") > 0 {
			q.Shown = append(q.Shown, fmt.Sprintf("i%d", rapid.IntRange(0, 14).Draw(rt, "id")))
		}
		once := mustResolve(t, r, q)
		q.Shown = nil
		for _, it := range once.Items {
			q.Shown = append(q.Shown, it.ID)
		}
		again := mustResolve(t, r, q)
		if once.Rendered() != again.Rendered() || once.TotalTokens > q.MaxTokens {
			rt.Fatalf("%d of %d tokens; %s, then %s", once.TotalTokens, q.MaxTokens, shown(once), shown(again))
		}
		if !slices.IsSorted(idsWithin(q.Shown, again)) {
			rt.Fatalf("shown %v, then %s", q.Shown, shown(again))
		}
	})
}

// idsWithin returns the indexes of the answer's items in a list.
func idsWithin(list []string, a resolve.Answer) []int {
	var out []int
	for _, it := range a.Items {
		out = append(out, slices.Index(list, it.ID))
	}
	return out
}
