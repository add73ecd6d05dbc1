package trace

import (
	"context"
	"encoding/hex"
	"strings"
	"time"
)

// Interval is one run of a stage.
type Interval struct {
	Stage        Stage
	Began, Ended time.Time
}

// maxIntervals bounds the intervals of a trace. Further ones are only added to the durations.
const maxIntervals = 256

// Record is a finished trace of a query, for an exporter.
type Record struct {
	Operation string // "context" or "search"
	Namespace string
	RequestID string
	Parent    Parent // zero without a parent
	Items     int
	Degraded  []string
	Err       error

	Began, Ended time.Time
	Intervals    []Interval
}

// Keep makes t keep the interval of each stage, in addition to the durations. Call it before the first stage.
func (t *Trace) Keep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept, t.began = true, t.now()
}

// Finish completes a record with the intervals that were kept. It returns false if none were to be kept.
func (t *Trace) Finish(r Record) (Record, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.Began, r.Ended, r.Intervals = t.began, t.now(), t.intervals
	kept := t.kept
	t.kept, t.intervals = false, nil
	return r, kept
}

// keep adds an interval, if they are kept.
func (t *Trace) keep(i Interval) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept && len(t.intervals) < maxIntervals {
		t.intervals = append(t.intervals, i)
	}
}

// Parent is the span of a caller, as the header traceparent names it.
type Parent struct {
	TraceID, SpanID string // hexadecimal digits
	Sampled         bool
}

// ParseParent parses a header traceparent (W3C Trace Context, version 00 or a later one).
func ParseParent(header string) (Parent, bool) {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return Parent{}, false
	}
	for i, n := range [...]int{2, 32, 16, 2} {
		if len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return Parent{}, false
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return Parent{}, false
	}
	flags, _ := hex.DecodeString(parts[3])
	return Parent{TraceID: parts[1], SpanID: parts[2], Sampled: flags[0]&1 == 1}, true
}

type parentKey struct{}

// WithParent returns ctx with the span of its caller.
func WithParent(ctx context.Context, p Parent) context.Context {
	return context.WithValue(ctx, parentKey{}, p)
}

// ParentOf returns the span of the caller of ctx, or zero.
func ParentOf(ctx context.Context) Parent {
	p, _ := ctx.Value(parentKey{}).(Parent)
	return p
}
