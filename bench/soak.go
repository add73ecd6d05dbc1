package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// Defaults of [SoakOptions].
const (
	DefaultSoakDuration = 30 * time.Minute
	DefaultSoakShare    = 0.7
	DefaultSoakEvery    = 5 * time.Second
	DefaultSoakPool     = 200
)

// SoakOptions says how to keep a server busy, and what to watch. URL is required.
type SoakOptions struct {
	// URL is the server's base URL.
	URL string
	// Namespace is written to; what is in it under the soak's own ids is replaced
	// and deleted. "" is "soak".
	Namespace string
	Duration  time.Duration // 0 is [DefaultSoakDuration]
	// Rate is how many operations are due per second, whether those before are done or
	// not; 0 is Share of what the server does in a closed loop, which is measured first.
	Rate float64
	// Share is part of what the server can do; 0 is [DefaultSoakShare].
	Share float64
	// MaxTail is how many times its p50 the p99 of a kind of operation may be; 0 does
	// not judge it.
	MaxTail float64
	// Clients work at the same time; 0 is [DefaultClients].
	Clients int
	// Pool is how many documents, how many memories and how many turns are alive, about; 0 is
	// [DefaultSoakPool].
	Pool int
	// History has nothing erased, as a caller does who keeps every conversation. Then
	// the data grows with every turn, and the memory with it. Without it sessions are
	// erased when newer ones have taken their place, so that what grows is not data.
	History bool
	// Every is the time between readings; 0 is [DefaultSoakEvery].
	Every time.Duration
	// Probe reads what the server's process takes up. nil reads nothing.
	Probe func() Reading
	// Progress is called after each reading; nil for none.
	Progress func(Reading)
	Timeout  time.Duration // of one request; 0 is [DefaultTimeout]
	// Seed of the operations; 0 draws one. It is part of the ids of turns, which
	// cannot be sent again once they were deleted.
	Seed uint64
}

func (o SoakOptions) withDefaults() SoakOptions {
	or := func(d *time.Duration, preset time.Duration) {
		if *d == 0 {
			*d = preset
		}
	}
	or(&o.Duration, DefaultSoakDuration)
	or(&o.Every, DefaultSoakEvery)
	or(&o.Timeout, DefaultTimeout)
	if o.Namespace == "" {
		o.Namespace = "soak"
	}
	if o.Share == 0 {
		o.Share = DefaultSoakShare
	}
	if o.Clients == 0 {
		o.Clients = DefaultClients
	}
	if o.Pool == 0 {
		o.Pool = DefaultSoakPool
	}
	for o.Seed == 0 {
		o.Seed = uint64(rand.Uint32())
	}
	if o.Probe == nil {
		o.Probe = NewReading
	}
	if o.Progress == nil {
		o.Progress = func(Reading) {}
	}
	return o
}

func (o SoakOptions) validate() error {
	switch {
	case o.Rate < 0 || o.Rate > 100_000:
		return ragctx.Invalid("rate", "is %v operations per second; use 1 to 100000", o.Rate)
	case o.Share < 0 || o.Share > 1:
		return ragctx.Invalid("share", "is %v; use a part of what the server can do, above 0 and at most 1", o.Share)
	case o.MaxTail < 0:
		return ragctx.Invalid("max_tail", "is %v; it cannot be negative", o.MaxTail)
	case o.Pool < o.Clients:
		return ragctx.Invalid("pool", "is %d; use at least one item for each of the %d clients", o.Pool, o.Clients)
	case o.Every < 0:
		return ragctx.Invalid("every", "is %v; it cannot be negative", o.Every)
	}
	return Options{
		URL: o.URL, Queries: make([]ragctx.ContextQuery, 1), Loads: []Load{{Clients: o.Clients}}, Repeat: 1, Duration: o.Duration, Timeout: o.Timeout,
	}.validate()
}

// soak is a run.
type soak struct {
	opts   SoakOptions
	base   string
	client *http.Client

	workers  []*worker
	capacity float64 // operations per second in a closed loop; 0 if it was not measured

	counts   [operationKinds]atomic.Int64
	failures atomic.Int64
	mu       sync.Mutex                // guards what follows
	errors   map[string]int            // by kind
	took     [operationKinds][]float64 // ms from when an operation was due
}

// RunSoak keeps a server busy with turns, documents that come, change and go,
// memories, and questions, in an open loop of a steady rate, and reads from time to
// time what its process takes up. If ctx ends early, the report holds what was read until then
// and the error is ctx's.
func RunSoak(ctx context.Context, o SoakOptions) (SoakReport, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return SoakReport{}, err
	}
	s := &soak{
		opts: o, base: strings.TrimRight(o.URL, "/"), errors: make(map[string]int),
		client: newClient(o.Clients, o.Timeout),
	}
	defer s.client.CloseIdleConnections()
	if err := s.fill(ctx); err != nil {
		return SoakReport{}, fmt.Errorf("first writes: %w", err)
	}
	if err := s.findRate(ctx); err != nil {
		return SoakReport{}, err
	}
	readings := s.run(ctx)
	return s.report(readings), ctx.Err()
}

// findRate measures what the server can do, unless the rate is given: operations of a
// closed loop, after the first third, in which caches get warm.
func (s *soak) findRate(ctx context.Context) error {
	if s.opts.Rate > 0 {
		return nil
	}
	span := min(mostMeasured, s.opts.Duration/4)
	s.loop(ctx, span/3, nil)
	begun, warm := time.Now(), s.sum()
	for s.sum()-warm < leastCounted && time.Since(begun) < mostMeasured && ctx.Err() == nil {
		s.loop(ctx, span, nil)
		span *= 2 // each cuts off what is under way
	}
	s.capacity = float64(s.sum()-warm) / time.Since(begun).Seconds()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.capacity == 0 {
		return fmt.Errorf("what the server can do: no operation succeeded in %v%s", time.Since(begun).Round(time.Millisecond), kinds(s.errors))
	}
	s.opts.Rate = s.opts.Share * s.capacity
	for k := range s.counts {
		s.counts[k].Store(0)
	}
	s.took = [operationKinds][]float64{}
	return nil // failures stay: there should be none at any time
}

// What the server can do is measured for some time, and for longer if too little has
// succeeded by then.
const (
	mostMeasured = 30 * time.Second
	leastCounted = 20
)

// loop has all clients work for a time.
func (s *soak) loop(ctx context.Context, span time.Duration, p *pace) {
	timed, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range s.workers {
		wg.Go(func() { w.work(timed, p) })
	}
	wg.Wait()
}

// run works until the time is over, and returns the readings.
func (s *soak) run(ctx context.Context) []Reading {
	start, ended := time.Now(), make(chan struct{})
	go func() {
		defer close(ended)
		s.loop(ctx, s.opts.Duration, newPace(start, s.opts.Rate, s.opts.Seed))
	}()
	tick := time.NewTicker(s.opts.Every)
	defer tick.Stop()
	var readings []Reading
	read := func() {
		r := s.opts.Probe()
		r.Seconds, r.Operations = time.Since(start).Seconds(), s.sum()
		readings = append(readings, r)
		s.opts.Progress(r)
	}
	for {
		read()
		select {
		case <-tick.C:
		case <-ended:
			read()
			return readings
		}
	}
}

func (s *soak) sum() (n int64) {
	for i := range s.counts {
		n += s.counts[i].Load()
	}
	return n
}

// fillVersions is how often each document is put before a long soak: earlier versions
// are kept, ten of each, and what the server can do depends on how much there is.
const (
	fillVersions = 11
	longSoak     = 5 * time.Minute
)

// fill writes the whole pool, so that it does not grow while it is watched.
func (s *soak) fill(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for n := range s.opts.Clients {
		w := s.newWorker(n)
		s.workers = append(s.workers, w)
		wg.Go(func() {
			if err := w.fill(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (s *soak) failed(kind operationKind, err error) {
	s.failures.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors[kind.String()+" "+errorClass(err)]++
}

func (s *soak) succeeded(kind operationKind, took time.Duration) {
	s.counts[kind].Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took[kind] = append(s.took[kind], millis(took))
}

func (s *soak) newWorker(n int) *worker {
	return &worker{soak: s, number: n, rand: rand.New(rand.NewPCG(s.opts.Seed, uint64(n)))} //nolint:gosec // n is small
}
