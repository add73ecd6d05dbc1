package trace_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

func TestTrace(t *testing.T) {
	now := time.Unix(0, 0)
	tr := trace.New(func() time.Time { return now })
	ctx := trace.With(t.Context(), tr)
	for _, d := range []time.Duration{1500 * time.Microsecond, time.Millisecond} {
		span := trace.Start(ctx, trace.Keyword)
		now = now.Add(d)
		span.End()
	}
	trace.Start(ctx, trace.Embed).End()
	if d, ran := tr.Elapsed(trace.Keyword); d != 2500*time.Microsecond || !ran {
		t.Errorf("keyword took %v, %v", d, ran)
	}
	if _, ran := tr.Elapsed(trace.Vector); ran {
		t.Error("a stage that did not run did")
	}
	if got, want := tr.Header(), "embed;dur=0.0000, keyword;dur=2.5000"; got != want {
		t.Errorf("header is %q, want %q", got, want)
	}
	if names := trace.Stages(); names[0] != "embed" || names[len(names)-1] != "engine" {
		t.Errorf("stages are %q", names)
	}
}

// TestWithout checks that an untraced request costs no allocation.
func TestWithout(t *testing.T) {
	ctx := t.Context()
	if n := testing.AllocsPerRun(100, func() { trace.Start(ctx, trace.Embed).End() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var none *trace.Trace
	trace.Start(trace.With(ctx, none), trace.Embed).End()
	if got := none.Header(); got != "" {
		t.Errorf("nothing is told as %q", got)
	}
}

func TestConcurrent(t *testing.T) {
	tr := trace.New(nil)
	ctx := trace.With(context.Background(), tr)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			span := trace.Start(ctx, trace.Vector)
			time.Sleep(time.Millisecond)
			span.End()
		})
	}
	wg.Wait()
	if d, _ := tr.Elapsed(trace.Vector); d < 8*time.Millisecond {
		t.Errorf("eight times a millisecond is %v", d)
	}
}

// BenchmarkStage measures the cost of a stage without and with a trace.
func BenchmarkStage(b *testing.B) {
	for name, tr := range map[string]*trace.Trace{"untraced": nil, "traced": trace.New(nil)} {
		b.Run(name, func(b *testing.B) {
			ctx := b.Context()
			if tr != nil {
				ctx = trace.With(ctx, tr)
			}
			for range 6 { // as deep as in a server
				var cancel context.CancelFunc
				ctx, cancel = context.WithCancel(ctx)
				defer cancel()
			}
			b.ReportAllocs()
			for b.Loop() {
				trace.Start(ctx, trace.Keyword).End()
			}
		})
	}
}
