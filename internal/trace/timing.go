// Package trace says where the time of one request went. Whoever wants to know
// puts a [Trace] into the request's context; the stages add to it what they took.
// Without one a stage costs a look into the context.
package trace

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Stage is a part of answering a question.
type Stage int

// The stages. Documents and memories are searched side by side, and words and
// vectors within each, so the times of stages add up to more than the whole.
const (
	Embed    Stage = iota // the question's vector
	Keyword               // the search by words
	Vector                // the search by vectors
	Fuse                  // one ranked list of both
	Passages              // the hits' texts from the store, made into items
	Rerank                // the reranking service, a part of Assemble
	Assemble              // merging, and fitting into the budget with exact counts
	Engine                // the whole answer, without HTTP and JSON
	stages
)

// String returns the stage's name, as in [Trace.Header].
func (s Stage) String() string {
	return [...]string{"embed", "keyword", "vector", "fuse", "passages", "rerank", "assemble", "engine"}[s]
}

// Stages returns the names of all stages in the order in which they run; the
// whole comes last.
func Stages() []string {
	names := make([]string, stages)
	for i := range names {
		names[i] = Stage(i).String()
	}
	return names
}

// Trace adds up what the stages of one request took. nil is a trace that keeps
// nothing. It is safe for concurrent use.
type Trace struct {
	now   func() time.Time
	spent [stages]atomic.Int64
	ran   [stages]atomic.Bool
}

// New returns an empty trace by a clock; nil is the system's.
func New(now func() time.Time) *Trace {
	if now == nil {
		now = time.Now
	}
	return &Trace{now: now}
}

type contextKey struct{}

// With returns a context that carries t.
func With(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, contextKey{}, t)
}

// From returns a context that carries a trace, and that trace: the one that ctx has, or
// else a new one.
func From(ctx context.Context) (context.Context, *Trace) {
	if t, _ := ctx.Value(contextKey{}).(*Trace); t != nil {
		return ctx, t
	}
	t := New(nil)
	return With(ctx, t), t
}

// Start begins a stage of the request that ctx belongs to.
func Start(ctx context.Context, s Stage) Span {
	t, _ := ctx.Value(contextKey{}).(*Trace)
	if t == nil {
		return Span{}
	}
	return Span{trace: t, stage: s, began: t.now()}
}

// Span is a stage under way.
type Span struct {
	trace *Trace
	stage Stage
	began time.Time
}

// End adds the time since [Start] to the trace.
func (s Span) End() {
	if s.trace != nil {
		s.trace.spent[s.stage].Add(int64(s.trace.now().Sub(s.began)))
		s.trace.ran[s.stage].Store(true)
	}
}

// Spent returns what a stage took in all, and false if it has not run.
func (t *Trace) Spent(s Stage) (time.Duration, bool) {
	if t == nil || !t.ran[s].Load() {
		return 0, false
	}
	return time.Duration(t.spent[s].Load()), true
}

// Header returns the stages that ran as the value of a Server-Timing header (W3C),
// in milliseconds.
func (t *Trace) Header() string {
	var b strings.Builder
	for s := range stages {
		if d, ran := t.Spent(s); ran {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%s;dur=%.4f", s, float64(d)/float64(time.Millisecond))
		}
	}
	return b.String()
}

// Histograms counts what the stages of many requests took. The zero value is empty; it
// is safe for concurrent use.
type Histograms [stages]Histogram

// Add counts a request: each stage that ran, with all that it took.
func (h *Histograms) Add(t *Trace) {
	for s := range stages {
		if d, ran := t.Spent(s); ran {
			h[s].Add(d)
		}
	}
}

// Durations reads what was counted, by stage in the order of [Stages].
func (h *Histograms) Durations() []Durations {
	all := make([]Durations, stages)
	for s := range h {
		all[s] = h[s].Durations()
	}
	return all
}
