package eval_test

import (
	"strings"
	"testing"

	"github.com/ragctx/ragctx/bench/eval"
	"github.com/ragctx/ragctx/index"
)

// TestAblate: a useful feature shows a difference, a useless one shows 0, and the page has a row per
// variant.
func TestAblate(t *testing.T) {
	o := eval.Options{Data: collections(t), Out: t.TempDir()}
	variants := []eval.Variant{
		{Name: "as it is"},
		{Name: "without words", Ranking: index.Ranking{Method: "vector", Keyword: index.KeywordParams{Pairs: -1}}},
		{Name: "more", Adds: true, Params: map[string]any{"feedback": true}},
	}
	a, err := eval.Ablate(t.Context(), o, variants)
	if err != nil {
		t.Fatal(err)
	}
	report := run(t, o)
	if len(a.Rows) != len(variants) || len(a.Yardsticks) != len(a.Shipped) || len(a.Yardsticks) < len(report.Sets) {
		t.Fatalf("%d rows, %d yardsticks, %d means", len(a.Rows), len(a.Yardsticks), len(a.Shipped))
	}
	for i, d := range a.Rows[0].Deltas {
		if d.Delta != 0 || d.A != a.Shipped[i] {
			t.Errorf("%s: no change is worth %+v", a.Yardsticks[i], d)
		}
	}
	var page strings.Builder
	if err := a.WriteMarkdown(&page, "the command"); err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(page.String(), "not on by default")
	if !found || !strings.Contains(before, "`the command`") || !strings.Contains(before, "| without words |") ||
		!strings.Contains(after, "| more |") {
		t.Errorf("the page:\n%s", page.String())
	}
	if _, err := eval.Ablate(t.Context(), o, []eval.Variant{{
		Name:    "wrong",
		Ranking: index.Ranking{Method: "magic"},
	}}); err == nil {
		t.Error("a ranking that there is not was measured")
	}
}
