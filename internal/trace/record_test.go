package trace_test

import (
	"testing"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// TestKeep keeps the intervals of the stages only where they are asked for.
func TestKeep(t *testing.T) {
	now := time.Unix(100, 0)
	tr := trace.New(func() time.Time { now = now.Add(time.Second); return now })
	ctx := trace.With(t.Context(), tr)
	trace.Start(ctx, trace.Embed).End() // 101, 102
	if _, kept := tr.Finish(trace.Record{}); kept {
		t.Error("kept without being asked")
	}
	tr.Keep()                          // 104
	trace.Start(ctx, trace.Fuse).End() // 105, 106
	r, kept := tr.Finish(trace.Record{Operation: "search"})
	if !kept || r.Operation != "search" || r.Began.Unix() != 104 || r.Ended.Unix() != 107 || len(r.Intervals) != 1 ||
		r.Intervals[0] != (trace.Interval{Stage: trace.Fuse, Began: time.Unix(105, 0), Ended: time.Unix(106, 0)}) {
		t.Errorf("%+v, %v", r, kept)
	}
	tr.Keep()
	for range 1000 {
		trace.Start(ctx, trace.Keyword).End()
	}
	if r, _ := tr.Finish(trace.Record{}); len(r.Intervals) != 256 {
		t.Errorf("%d intervals", len(r.Intervals))
	}
}

func TestParseParent(t *testing.T) {
	const id, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	for header, want := range map[string]trace.Parent{
		"00-" + id + "-" + span + "-01":                       {TraceID: id, SpanID: span, Sampled: true},
		"00-" + id + "-" + span + "-00":                       {TraceID: id, SpanID: span},
		"cc-" + id + "-" + span + "-03-more":                  {TraceID: id, SpanID: span, Sampled: true},
		"00-" + id + "-" + span + "-01-more":                  {},
		"ff-" + id + "-" + span + "-01":                       {},
		"00-00000000000000000000000000000000-" + span + "-01": {},
		"00-" + id + "-0000000000000000-01":                   {},
		"00-4BF92F3577B34DA6A3CE929D0E0E4736-" + span + "-01": {},
		"00-" + id + "-" + span:                               {},
		"":                                                    {},
		"00-" + id + "x-" + span + "-01":                      {},
	} {
		if got, ok := trace.ParseParent(header); got != want || ok != (want != trace.Parent{}) {
			t.Errorf("%q: %+v, %v", header, got, ok)
		}
	}
}
