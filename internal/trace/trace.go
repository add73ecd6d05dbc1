// Package trace measures where a request spends its time. A caller that wants the measurement puts
// a [Trace] into the request's context, and the stages add their durations to it. Without a trace,
// a stage costs one context lookup.
package trace

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Stage is a part of answering a query.
type Stage int

// The stages. Documents and memories are searched in parallel, and so are the keyword and vector
// indexes, so the durations of stages can add up to more than the total.
const (
	Embed    Stage = iota // embedding the query
	Keyword               // the keyword index
	Vector                // the vector index
	Fuse                  // fusing both into one ranked list
	Passages              // reading the hits' texts from the store and building items
	Rerank                // the reranking service, a part of Assemble
	Assemble              // merging, and fitting into the budget with exact counts
	Engine                // the whole answer, without HTTP and JSON
	stages
)

// String returns the stage's name as [Trace.Header] writes it.
func (s Stage) String() string {
	return [...]string{"embed", "keyword", "vector", "fuse", "passages", "rerank", "assemble", "engine"}[s]
}

// Stages returns the names of all stages in the order in which they run. The whole answer comes
// last.
func Stages() []string {
	names := make([]string, stages)
	for i := range names {
		names[i] = Stage(i).String()
	}
	return names
}

// Trace adds up the durations of one request's stages. A nil trace records nothing. It is safe for
// concurrent use.
type Trace struct {
	now     func() time.Time
	elapsed [stages]atomic.Int64
	ran     [stages]atomic.Bool

	mu        sync.Mutex
	kept      bool // the intervals; see [Trace.Keep]
	began     time.Time
	intervals []Interval
}

// New returns an empty trace. A nil clock is the system's.
func New(now func() time.Time) *Trace {
	if now == nil {
		now = time.Now
	}
	return &Trace{now: now}
}

type contextKey struct{}

// With returns ctx with t.
func With(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, contextKey{}, t)
}

// From returns the trace of ctx and ctx. If ctx has no trace, a new one is added.
func From(ctx context.Context) (context.Context, *Trace) {
	if t, _ := ctx.Value(contextKey{}).(*Trace); t != nil {
		return ctx, t
	}
	t := New(nil)
	return With(ctx, t), t
}

// Start begins a stage of ctx's request.
func Start(ctx context.Context, s Stage) Span {
	t, _ := ctx.Value(contextKey{}).(*Trace)
	if t == nil {
		return Span{}
	}
	return Span{trace: t, stage: s, began: t.now()}
}

// Span is a running stage.
type Span struct {
	trace *Trace
	stage Stage
	began time.Time
}

// End adds the time since [Start] to the trace.
func (s Span) End() {
	if s.trace != nil {
		ended := s.trace.now()
		s.trace.elapsed[s.stage].Add(int64(ended.Sub(s.began)))
		s.trace.ran[s.stage].Store(true)
		s.trace.keep(Interval{s.stage, s.began, ended})
	}
}

// Elapsed returns the total duration of a stage, or false if the stage has not run.
func (t *Trace) Elapsed(s Stage) (time.Duration, bool) {
	if t == nil || !t.ran[s].Load() {
		return 0, false
	}
	return time.Duration(t.elapsed[s].Load()), true
}

// Header returns the stages that ran as the value of a Server-Timing header (W3C), in milliseconds.
func (t *Trace) Header() string {
	var b strings.Builder
	for s := range stages {
		if d, ran := t.Elapsed(s); ran {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s;dur=%.4f", s, float64(d)/float64(time.Millisecond))
		}
	}
	return b.String()
}

// Histograms has one histogram per stage, over many requests. The zero value is ready for use. It
// is safe for concurrent use.
type Histograms [stages]Histogram

// Add counts the total duration of each stage that ran in a request.
func (h *Histograms) Add(t *Trace) {
	for s := range stages {
		if d, ran := t.Elapsed(s); ran {
			h[s].Add(d)
		}
	}
}

// Durations returns a snapshot of each stage's histogram, in the order of [Stages].
func (h *Histograms) Durations() []Durations {
	all := make([]Durations, stages)
	for s := range h {
		all[s] = h[s].Durations()
	}
	return all
}
