package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench"
)

// Defaults of [SoakOptions].
const (
	DefaultSoakDuration = 30 * time.Minute
	DefaultSoakShare    = 0.7
	DefaultSoakEvery    = 5 * time.Second
	DefaultSoakPool     = 200
)

// SoakOptions are the options of [RunSoak]. URL is required.
type SoakOptions struct {
	// URL is the server's base URL.
	URL string
	// Namespace receives the writes; items with the soak's own ids are replaced and deleted. "" is
	// "soak".
	Namespace string
	Duration  time.Duration // 0 is [DefaultSoakDuration]
	// Rate is the number of operations due per second, whether or not earlier ones are done. 0 is
	// Share of the server's capacity, which is measured first in a closed loop.
	Rate float64
	// Share is a part of the server's capacity; 0 is [DefaultSoakShare].
	Share float64
	// MaxTail is the largest allowed ratio of p99 to p50 of each kind of operation; 0 does not
	// check it.
	MaxTail float64
	// Clients is the number of concurrent clients; 0 is [bench.DefaultClients].
	Clients int
	// Pool is the approximate number of live documents, memories and turns each; 0 is
	// [DefaultSoakPool].
	Pool int
	// History erases nothing, like a caller that keeps every conversation. The data and the memory
	// then grow with every turn. Without it, sessions are erased once newer ones replace them, so
	// growth is not caused by data.
	History bool
	// Every is the time between readings; 0 is [DefaultSoakEvery].
	Every time.Duration
	// Probe reads the resource usage of the server's process; nil reads nothing.
	Probe func() Reading
	// Progress receives each reading; may be nil.
	Progress func(Reading)
	Timeout  time.Duration // of one request; 0 is [bench.DefaultTimeout]
	// Seed of the operations; 0 draws one. It is part of turn ids, which cannot be used again after
	// their deletion.
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
	or(&o.Timeout, bench.DefaultTimeout)
	if o.Namespace == "" {
		o.Namespace = "soak"
	}
	if o.Share == 0 {
		o.Share = DefaultSoakShare
	}
	if o.Clients == 0 {
		o.Clients = bench.DefaultClients
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
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "":
		return ragctx.Invalid("url", "%q is not a server; use one like http://127.0.0.1:7700", ragctx.Clip(o.URL))
	case o.Clients < 1 || o.Clients > bench.MaxClients:
		return ragctx.Invalid("clients", "is %d; use 1 to %d", o.Clients, bench.MaxClients)
	case o.Duration < 0:
		return ragctx.Invalid("duration", "is %v; it cannot be negative", o.Duration)
	}
	return nil
}

// soak is the state of one run.
type soak struct {
	opts   SoakOptions
	base   string
	client *http.Client

	workers  []*worker
	capacity float64 // operations per second in a closed loop; 0 if it was not measured

	counts   [operationKinds]atomic.Int64
	failures atomic.Int64
	mu       sync.Mutex                // guards the fields below
	errors   map[string]int            // by kind
	took     [operationKinds][]float64 // ms since an operation was due
}

// RunSoak keeps a server busy with turns, changing documents, memories and questions, in an open
// loop of a steady rate. It reads the resource usage of the server's process at intervals. If ctx
// ends early, the report holds what was read until then, and the error is ctx's.
func RunSoak(ctx context.Context, o SoakOptions) (SoakReport, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return SoakReport{}, err
	}
	s := &soak{
		opts: o, base: strings.TrimRight(o.URL, "/"), errors: make(map[string]int),
		client: &http.Client{Timeout: o.Timeout, Transport: &http.Transport{MaxIdleConnsPerHost: o.Clients}},
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

// findRate measures the server's capacity unless a rate is set: the operations per second of a
// closed loop after a warm-up of a third of its time.
func (s *soak) findRate(ctx context.Context) error {
	if s.opts.Rate > 0 {
		return nil
	}
	span := min(mostMeasured, s.opts.Duration/4)
	s.loop(ctx, span/3, nil)
	begun, warm := time.Now(), s.sum()
	for s.sum()-warm < leastCounted && time.Since(begun) < mostMeasured && ctx.Err() == nil {
		s.loop(ctx, span, nil)
		span *= 2 // the end of each loop cuts off operations under way
	}
	s.capacity = float64(s.sum()-warm) / time.Since(begun).Seconds()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.capacity == 0 {
		return fmt.Errorf("what the server can do: no operation succeeded in %v%s",
			time.Since(begun).Round(time.Millisecond), kinds(s.errors))
	}
	s.opts.Rate = s.opts.Share * s.capacity
	for k := range s.counts {
		s.counts[k].Store(0)
	}
	s.took = [operationKinds][]float64{}
	return nil // failures remain: there should be none at any time
}

// The capacity is measured for mostMeasured at most, and until leastCounted operations have
// succeeded.
const (
	mostMeasured = 30 * time.Second
	leastCounted = 20
)

// loop has all clients work for the given time.
func (s *soak) loop(ctx context.Context, span time.Duration, p *pace) {
	timed, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range s.workers {
		wg.Go(func() { w.work(timed, p) })
	}
	wg.Wait()
}

// run works until the time is over and returns the readings.
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

// fillVersions is how often each document is written before a long soak. The server keeps ten
// earlier versions of each, and its capacity depends on the amount of data.
const (
	fillVersions = 11
	longSoak     = 5 * time.Minute
)

// fill writes the whole pool, so that it does not grow during the soak.
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
	s.took[kind] = append(s.took[kind], float64(took)/float64(time.Millisecond))
}

func (s *soak) newWorker(n int) *worker {
	return &worker{soak: s, number: n, rand: rand.New(rand.NewPCG(s.opts.Seed, uint64(n)))} //nolint:gosec // n is small
}
