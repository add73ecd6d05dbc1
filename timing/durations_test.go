package timing_test

import (
	"testing"
	"time"

	"github.com/ragctx/ragctx/timing"
)

func TestQuantile(t *testing.T) {
	var h timing.Histogram
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
	if d := h.Durations(); d.Quantile(1) != 5*time.Second || d.Classes[0] != 1 {
		t.Errorf("beyond all classes: %v, below: %d", d.Quantile(1), d.Classes[0])
	}
}

// TestHistograms counts two requests, of which one was reranked.
func TestHistograms(t *testing.T) {
	var h timing.Histograms
	for _, reranked := range []bool{true, false} {
		ctx, trace := timing.Of(t.Context())
		if again, same := timing.Of(ctx); again != ctx || same != trace {
			t.Error("a trace that is there is not taken")
		}
		timing.Start(ctx, timing.Keyword).End()
		timing.Start(ctx, timing.Keyword).End()
		if reranked {
			timing.Start(ctx, timing.Rerank).End()
		}
		h.Add(trace)
	}
	d := h.Durations()
	if len(d) != len(timing.Stages()) || d[timing.Keyword].Count != 2 || d[timing.Rerank].Count != 1 || d[timing.Vector].Count != 0 {
		t.Errorf("%+v", d)
	}
}
