package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// MonitorOptions configure the sampling of a [RecallMonitor]. The zero value works.
type MonitorOptions struct {
	// Share is the share of searches that are repeated exactly, within 0..1; 0 means
	// [DefaultMonitorShare], negative none.
	Share float64
	// PerSecond is the maximum number of repetitions per second; 0 means [DefaultMonitorPerSecond].
	PerSecond float64
	// Load is the maximum share of time spent on repetitions; 0 means [DefaultMonitorLoad]. They
	// run one at a time, so it is the share of one processor.
	Load float64

	Now  func() time.Time // nil is the system's
	Draw func() float64   // a number within [0,1), for concurrent use; nil draws at random
}

// Defaults of [MonitorOptions]. A busy server does two exact searches a second, or fewer if they
// take longer than 5 ms: a hundredth of a processor.
const (
	DefaultMonitorShare     = 0.01
	DefaultMonitorPerSecond = 2
	DefaultMonitorLoad      = 0.01
)

// monitorWindow is the number of newest samples from which recall is computed. The interval of a
// recall of .98 is then ± .01.
const monitorWindow = 1000

// RecallMonitor measures searches of vector indexes: their duration and, for a sample that is
// repeated exactly, their recall. It is safe for concurrent use. It keeps only numbers and no
// references to an index.
type RecallMonitor struct {
	parent  *RecallMonitor // also records everything; nil at the top
	sampler *sampler

	took, exact trace.Histogram

	mu      sync.Mutex // guards the fields below
	samples []sample   // a ring buffer once full
	oldest  int
	skipped uint64
}

// sample is one search that was repeated.
type sample struct {
	at    time.Time
	share float64 // share of the nearest chunks that it found
}

// Measurements are the results of a [RecallMonitor].
type Measurements struct {
	// Took has the durations of searches that may approximate; Exact has those of exact searches,
	// requested by a query or for a sample.
	Took, Exact trace.Durations
	// Recall is computed from the newest 1,000 samples; nil without samples.
	Recall *Recall
	// Skipped counts searches that were sampled but not compared: because another comparison was
	// running or the index changed too much.
	Skipped uint64
}

// NewRecallMonitor returns a monitor with its own sampling.
func NewRecallMonitor(o MonitorOptions) *RecallMonitor {
	o.Share = cmp.Or(o.Share, DefaultMonitorShare)
	o.PerSecond = cmp.Or(o.PerSecond, DefaultMonitorPerSecond)
	o.Load = cmp.Or(o.Load, DefaultMonitorLoad)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Draw == nil {
		o.Draw = rand.Float64
	}
	return &RecallMonitor{sampler: &sampler{opts: o}}
}

// child returns a monitor that also records its measurements in g. Both share the sampling limits.
func (g *RecallMonitor) child() *RecallMonitor { return &RecallMonitor{parent: g, sampler: g.sampler} }

// Measurements returns the results so far.
func (g *RecallMonitor) Measurements() Measurements {
	m := Measurements{Took: g.took.Durations(), Exact: g.exact.Durations()}
	g.mu.Lock()
	defer g.mu.Unlock()
	m.Recall = recallOf(slices.Concat(g.samples[g.oldest:], g.samples[:g.oldest]))
	m.Skipped = g.skipped
	return m
}

// searched records a search.
func (g *RecallMonitor) searched(exact bool, took time.Duration) {
	for ; g != nil; g = g.parent {
		if exact {
			g.exact.Add(took)
		} else {
			g.took.Add(took)
		}
	}
}

// sampled records a comparison.
func (g *RecallMonitor) sampled(share float64) {
	s := sample{g.sampler.opts.Now(), share}
	for ; g != nil; g = g.parent {
		g.mu.Lock()
		if len(g.samples) < monitorWindow {
			g.samples = append(g.samples, s)
		} else {
			g.samples[g.oldest] = s
			g.oldest = (g.oldest + 1) % monitorWindow
		}
		g.mu.Unlock()
	}
}

func (g *RecallMonitor) skip() {
	for ; g != nil; g = g.parent {
		g.mu.Lock()
		g.skipped++
		g.mu.Unlock()
	}
}

// sampler decides which searches are repeated. It never waits: a repetition that cannot run at once
// is skipped.
type sampler struct {
	opts MonitorOptions

	mu   sync.Mutex
	busy bool
	next time.Time // not before this time
}

// chosen decides randomly whether to sample a search.
func (s *sampler) chosen() bool { return s.opts.Share > 0 && s.opts.Draw() < s.opts.Share }

// begin reports whether a repetition may run now. If so, the caller must call end.
func (s *sampler) begin() bool {
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy || now.Before(s.next) {
		return false
	}
	s.busy = true
	return true
}

// end allows the next repetition after a pause that keeps both limits.
func (s *sampler) end(took time.Duration) {
	pause := max(float64(took)*(1/s.opts.Load-1), float64(time.Second)/s.opts.PerSecond-float64(took), 0)
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.next = false, now.Add(time.Duration(pause))
}
