package index

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx/internal/trace"
)

// GaugeOptions says how a [Gauge] samples. The zero value works.
type GaugeOptions struct {
	// Share is the share of searches that are done again exactly, within 0..1; 0 means
	// [DefaultGaugeShare], negative none.
	Share float64
	// PerSecond is how many are done again each second at most; 0 means
	// [DefaultGaugePerSecond].
	PerSecond float64
	// Load is what share of the time is spent on that at most; 0 means
	// [DefaultGaugeLoad]. One is done at a time, so it is the share of one processor.
	Load float64

	Now  func() time.Time // nil is the system's
	Draw func() float64   // a number from 0 to below 1, for concurrent use; nil draws at random
}

// Defaults of [GaugeOptions]. A busy server does two exact searches a second, or
// fewer if they take longer than 5 ms: that is a hundredth of a processor.
const (
	DefaultGaugeShare     = 0.01
	DefaultGaugePerSecond = 2
	DefaultGaugeLoad      = 0.01
)

// gaugeWindow is how many samples recall is told from: the interval of a recall of
// .98 is then ± .01. It is as many of the newest ones.
const gaugeWindow = 1000

// Gauge measures searches of vector legs: how long they take, and, on a sample that
// is done again exactly, how much of the truth they find. It is safe for concurrent
// use, and keeps numbers only: nothing of an index.
type Gauge struct {
	above   *Gauge // counts all that this one does; nil at the top
	sampler *sampler

	took, exact trace.Histogram

	mu      sync.Mutex // guards what follows
	samples []sample   // a ring once it is full
	oldest  int
	skipped uint64
}

// sample is one search that was done again.
type sample struct {
	at    time.Time
	share float64 // of the nearest that it found
}

// Measured is what a [Gauge] has measured.
type Measured struct {
	// Took are the searches that may approximate, Exact those that were asked for as
	// exact ones, by a query or for a sample.
	Took, Exact trace.Durations
	// Recall is told from the newest 1,000 samples; nil without any.
	Recall *Recall
	// Skipped counts searches that were chosen and not compared: because others were
	// in the way or the index changed too much meanwhile.
	Skipped uint64
}

// NewGauge returns a gauge that samples by itself.
func NewGauge(o GaugeOptions) *Gauge {
	o.Share = cmp.Or(o.Share, DefaultGaugeShare)
	o.PerSecond = cmp.Or(o.PerSecond, DefaultGaugePerSecond)
	o.Load = cmp.Or(o.Load, DefaultGaugeLoad)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Draw == nil {
		o.Draw = rand.Float64
	}
	return &Gauge{sampler: &sampler{opts: o}}
}

// Part returns a gauge whose measurements count in g as well. Its samples are
// among those of g.
func (g *Gauge) Part() *Gauge { return &Gauge{above: g, sampler: g.sampler} }

// Measured returns what was measured so far.
func (g *Gauge) Measured() Measured {
	m := Measured{Took: g.took.Durations(), Exact: g.exact.Durations()}
	g.mu.Lock()
	defer g.mu.Unlock()
	m.Recall = recallOf(slices.Concat(g.samples[g.oldest:], g.samples[:g.oldest]))
	m.Skipped = g.skipped
	return m
}

// searched counts a search.
func (g *Gauge) searched(exact bool, took time.Duration) {
	for ; g != nil; g = g.above {
		if exact {
			g.exact.Add(took)
		} else {
			g.took.Add(took)
		}
	}
}

// sampled counts a comparison, skip one that was not to be had.
func (g *Gauge) sampled(share float64) {
	s := sample{g.sampler.opts.Now(), share}
	for ; g != nil; g = g.above {
		g.mu.Lock()
		if len(g.samples) < gaugeWindow {
			g.samples = append(g.samples, s)
		} else {
			g.samples[g.oldest] = s
			g.oldest = (g.oldest + 1) % gaugeWindow
		}
		g.mu.Unlock()
	}
}

func (g *Gauge) skip() {
	for ; g != nil; g = g.above {
		g.mu.Lock()
		g.skipped++
		g.mu.Unlock()
	}
}

// sampler decides which searches are done again. Nothing waits: what cannot be done
// at once is not done.
type sampler struct {
	opts GaugeOptions

	mu   sync.Mutex
	busy bool
	next time.Time // not before
}

// chosen draws lots for a search.
func (s *sampler) chosen() bool { return s.opts.Share > 0 && s.opts.Draw() < s.opts.Share }

// begin reports whether a search may be done again now. If so the caller calls end.
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

// end lets the next one begin after a pause that keeps both limits.
func (s *sampler) end(took time.Duration) {
	pause := max(float64(took)*(1/s.opts.Load-1), float64(time.Second)/s.opts.PerSecond-float64(took), 0)
	now := s.opts.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy, s.next = false, now.Add(time.Duration(pause))
}
