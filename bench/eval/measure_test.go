package eval_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/bench/eval"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func ranking(ids ...string) []eval.Scored {
	out := make([]eval.Scored, len(ids))
	for i, id := range ids {
		out[i] = eval.Scored{Doc: id, Score: float64(len(ids) - i)}
	}
	return out
}

// TestMeasureByHand compares with values computed by hand.
func TestMeasureByHand(t *testing.T) {
	far := make([]string, 11)
	for i := range far {
		far[i] = string(rune('a' + i))
	}
	for _, c := range []struct {
		name   string
		ranked []eval.Scored
		grades map[string]int
		want   eval.Measures
	}{
		{
			// DCG = 2/log2(3) + 3/log2(4) + 1/log2(6) = 3.1487123
			// IDCG = 3 + 2/log2(3) + 1/log2(4) = 4.7618595
			"graded", ranking("x", "b", "a", "d", "c"),
			map[string]int{"a": 3, "b": 2, "c": 1, "d": 0},
			eval.Measures{NDCG10: 0.6612359, R5: 1, R10: 1, R100: 1, MRR10: .5},
		},
		{
			"one of two", ranking("m2", "b1"),
			map[string]int{"m1": 1, "m2": 1},
			eval.Measures{NDCG10: 0.6131472, R5: .5, R10: .5, R100: .5, MRR10: 1},
		},
		{"at rank 11", ranking(far...), map[string]int{"k": 1}, eval.Measures{R100: 1}},
		{"nothing found", nil, map[string]int{"z": 1}, eval.Measures{}},
		{
			"negative grades gain nothing", ranking("a", "b"),
			map[string]int{"a": -1, "b": 1},
			eval.Measures{NDCG10: 1 / math.Log2(3), R5: 1, R10: 1, R100: 1, MRR10: .5},
		},
	} {
		got, ok := eval.Measure(c.ranked, c.grades)
		if !ok || !near(got.NDCG10, c.want.NDCG10) || got.R5 != c.want.R5 || got.R10 != c.want.R10 ||
			got.R100 != c.want.R100 || got.MRR10 != c.want.MRR10 {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	if _, ok := eval.Measure(ranking("n"), map[string]int{"n": 0}); ok {
		t.Error("a question without a relevant document is averaged")
	}
}

func TestMeasureBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 1, 120, rapid.ID[string]).Draw(t, "ids")
		grades := make(map[string]int)
		for _, id := range ids {
			if g := rapid.IntRange(-1, 3).Draw(t, "grade"); g != 0 {
				grades[id] = g
			}
		}
		m, ok := eval.Measure(ranking(ids...), grades)
		if !ok {
			return
		}
		for _, v := range []float64{m.NDCG10, m.R5, m.R10, m.R100, m.MRR10} {
			if !(v >= 0 && v <= 1+1e-12) {
				t.Fatalf("%+v leaves 0 to 1", m)
			}
		}
		if m.R5 > m.R10 || m.R10 > m.R100 {
			t.Fatalf("recall falls with depth: %+v", m)
		}
		slices.SortStableFunc(ids, func(a, b string) int { return grades[b] - grades[a] })
		if best, _ := eval.Measure(ranking(ids...), grades); !near(best.NDCG10, 1) || best.MRR10 != 1 {
			t.Fatalf("the ideal ranking scores %+v", best)
		}
	})
}

func TestMeasureSpans(t *testing.T) {
	span := func(doc string, start, end int) eval.Span { return eval.Span{Doc: doc, Start: start, End: end} }
	// spans 10..20 and 30..40 (20 characters); d 0..15 covers 5, d 15..35 covers 5+5
	m := eval.MeasureSpans([]eval.Span{span("d", 0, 15), span("o", 0, 10), span("d", 15, 35)}, "d",
		[][2]int{{10, 20}, {30, 40}})
	if m.Recall5 != 15./20 || m.Precision5 != 15./45 || m.IoU5 != 15./50 || m.RecallIn2000 != .75 {
		t.Errorf("two spans: %+v", m)
	}
	// An overlap uses the budget twice and counts once.
	m = eval.MeasureSpans([]eval.Span{span("d", 0, 20), span("d", 10, 30)}, "d", [][2]int{{10, 20}})
	if m.Recall5 != 1 || m.Precision5 != 10./40 {
		t.Errorf("overlap: %+v", m)
	}
	// A chunk that does not fit is skipped; a later one that fits is used.
	m = eval.MeasureSpans([]eval.Span{span("d", 0, 1500), span("d", 1500, 2500), span("d", 2500, 3000)}, "d",
		[][2]int{{1400, 1600}, {2900, 3100}})
	if m.RecallIn2000 != 200./400 || m.RecallIn4000 != 300./400 {
		t.Errorf("budget: %+v", m)
	}
	if m = eval.MeasureSpans(nil, "d", [][2]int{{1, 2}}); m != (eval.SpanMeasures{}) {
		t.Errorf("nothing found: %+v", m)
	}
}
