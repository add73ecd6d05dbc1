package trace_test

import (
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

func TestQuantile(t *testing.T) {
	var h trace.Histogram
	if d := h.Durations(); d.Quantile(.5) != 0 || d.Mean() != 0 {
		t.Errorf("of nothing: %v, %v", d.Quantile(.5), d.Mean())
	}
	for i := range 100 {
		h.Add(time.Duration(i+1) * 100 * time.Microsecond) // .1 to 10 ms
	}
	d := h.Durations()
	for q, want := range map[float64]time.Duration{0: 50, .5: 5000, .75: 7500, 1: 10000} {
		if got := d.Quantile(q); (got - want*time.Microsecond).Abs() > 100*time.Microsecond {
			t.Errorf("quantile %v is %v, want %v µs", q, got, want)
		}
	}
	if d.Count != 100 || d.Mean() != 5050*time.Microsecond {
		t.Errorf("%d, mean %v", d.Count, d.Mean())
	}
	h.Add(time.Hour)
	h.Add(-time.Hour)
	if d := h.Durations(); d.Quantile(1) != 5*time.Second || d.Buckets[0] != 1 {
		t.Errorf("beyond all classes: %v, below: %d", d.Quantile(1), d.Buckets[0])
	}
}

// TestHistograms counts two requests, of which one was reranked.
func TestHistograms(t *testing.T) {
	var h trace.Histograms
	for _, reranked := range []bool{true, false} {
		ctx, tr := trace.From(t.Context())
		if again, same := trace.From(ctx); again != ctx || same != tr {
			t.Error("a trace that is there is not taken")
		}
		trace.Start(ctx, trace.Keyword).End()
		trace.Start(ctx, trace.Keyword).End()
		if reranked {
			trace.Start(ctx, trace.Rerank).End()
		}
		h.Add(tr)
	}
	d := h.Durations()
	if len(d) != len(trace.Stages()) || d[trace.Keyword].Count != 2 || d[trace.Rerank].Count != 1 || d[trace.Vector].Count != 0 {
		t.Errorf("%+v", d)
	}
}
