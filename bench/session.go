package bench

import (
	"cmp"
	"context"
	"net/http"
	"time"
)

// session holds what the runs of one report share.
type session struct {
	opts   Options
	client *http.Client
	writes *http.Client // has a long timeout, because erasing takes time
	asker  *asker
	own    *writer // writes to OwnNamespace, or nil
	same   *writer
}

func newSession(o Options) (*session, error) {
	s := &session{opts: o}
	most, own, same := 1, false, false
	for _, l := range o.Loads {
		most = max(most, l.Clients)
		own, same = own || l.Ingest.Own > 0, same || l.Ingest.Same > 0
	}
	s.client, s.writes = newClient(most, o.Timeout), newClient(freeWriters, cleanTimeout)
	var err error
	if s.asker, err = newAsker(o, s.client); err != nil {
		return nil, err
	}
	if own || same {
		s.own = newWriter(s.writes, o.URL, OwnNamespace, o.Seed)
	}
	if same {
		s.same = newWriter(s.writes, o.URL, o.Setup.Namespace, o.Seed+1)
	}
	return s, nil
}

func (s *session) close() {
	s.client.CloseIdleConnections()
	s.writes.CloseIdleConnections()
}

// clean removes the documents written during the runs, even if ctx is done.
func (s *session) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	if err := s.own.clean(ctx); err != nil {
		return err
	}
	return s.same.clean(ctx)
}

// ingestAlone writes to a namespace without queries for as long as a run takes, without other load. It
// returns nil if the loads write nothing.
func (s *session) ingestAlone(ctx context.Context) *Written {
	if s.own == nil {
		return nil
	}
	s.opts.Progress("ingest alone")
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(s.opts.Duration, DefaultDuration))
	defer cancel()
	before := s.opts.Usage()
	out := writtenOf(0, s.own.writeUnpaced(ctx, 0, func(int) {}))
	out.perChunk(s.opts.Usage().CPU - before.CPU)
	return out
}

// run is one run of a load.
type run struct {
	samples   []sample
	took      time.Duration
	gen       generator
	cpu       time.Duration // 0 if unknown
	memory    Memory
	own, same *written
}

func (s *session) run(ctx context.Context, l Load, n int) run {
	var r run
	writing, stop := context.WithCancel(ctx)
	written := s.ingest(writing, l.Ingest, &r)
	watched, memory := s.watch(writing)
	before := s.opts.Usage()
	if l.Rate > 0 {
		due := schedule(l, s.opts.Requests, s.opts.Duration, s.opts.Seed+uint64(n)) //nolint:gosec // n is small
		r.samples, r.gen, r.took = s.asker.openLoop(ctx, l, time.Now(), due)
	} else {
		r.samples, r.took = s.asker.closedLoop(ctx, l, s.opts.Requests, s.opts.Duration)
	}
	r.cpu = s.opts.Usage().CPU - before.CPU
	stop()
	<-written
	<-watched
	r.memory = *memory
	return r
}

// ingest writes until ctx is done, and then closes the returned channel.
func (s *session) ingest(ctx context.Context, l Ingest, r *run) <-chan struct{} {
	done := make(chan struct{})
	own := s.own.start(ctx, l.Own)
	same := s.same.start(ctx, l.Same)
	go func() {
		defer close(done)
		r.own, r.same = <-own, <-same
	}()
	return done
}

// watchEvery is the interval between readings of the server's memory.
const watchEvery = 100 * time.Millisecond

// watch records the largest memory until ctx is done, and then closes the returned channel.
func (s *session) watch(ctx context.Context) (<-chan struct{}, *Memory) {
	done, most := make(chan struct{}), new(Memory)
	go func() {
		defer close(done)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			u := s.opts.Usage()
			most.Anon, most.File = max(most.Anon, u.Anon), max(most.File, u.File)
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return done, most
}

// measured merges the runs of a load.
func measured(l Load, runs []run) Measurement {
	m := Measurement{Load: l, Timeline: timelineOf(runs)}
	var took time.Duration
	var all []sample
	var late []float64
	var cpu time.Duration
	var memory Memory
	var own, same []*written
	for _, r := range runs {
		all = append(all, r.samples...)
		took += r.took
		late = append(late, r.gen.late...)
		m.Waited += r.gen.waited
		cpu += r.cpu
		memory.Anon, memory.File = max(memory.Anon, r.memory.Anon), max(memory.File, r.memory.File)
		own, same = append(own, r.own), append(same, r.same)
		m.Runs = append(m.Runs, figuresOf(r))
	}
	m.Seconds = took.Seconds()
	m.count(all)
	times := latencies(all, func(s sample) time.Duration { return s.took })
	m.Latency = LatencyOf(times)
	m.Curve = curveOf(times)
	m.Stages = stageLatencies(all)
	m.splitByCache(all)
	if m.Succeeded > 0 && took > 0 {
		m.PerSecond = float64(m.Succeeded) / took.Seconds()
	}
	if l.Rate > 0 {
		sent := LatencyOf(latencies(all, func(s sample) time.Duration { return s.sent }))
		lateness := LatencyOf(late)
		m.Sent, m.Late = &sent, &lateness
	}
	if cpu > 0 {
		m.CPU = newCPU(cpu, len(all))
	}
	if memory != (Memory{}) {
		m.Memory = &memory
	}
	m.Own, m.Same = writtenBy(l.Ingest.Own, own), writtenBy(l.Ingest.Same, same)
	return m
}

// latencies returns the durations of the requests that succeeded, in milliseconds.
func latencies(samples []sample, of func(sample) time.Duration) []float64 {
	var out []float64
	for _, s := range samples {
		if s.err == nil {
			out = append(out, millis(of(s)))
		}
	}
	return out
}

// splitByCache separates answers from the answer cache from the others, if the server reports its
// stages.
func (m *Measurement) splitByCache(samples []sample) {
	var cached, searched []float64
	reported := false
	for _, s := range samples {
		switch {
		case s.err != nil:
		case s.cached:
			cached = append(cached, millis(s.took))
		default:
			searched = append(searched, millis(s.took))
		}
		reported = reported || len(s.stages) > 0
	}
	if reported {
		m.FromCache, m.Searched = new(LatencyOf(cached)), new(LatencyOf(searched))
	}
}

func figuresOf(r run) Figures {
	times := latencies(r.samples, func(s sample) time.Duration { return s.took })
	l := LatencyOf(times)
	f := Figures{P50: l.P50, P95: l.P95, P99: l.P99}
	if r.took > 0 {
		f.PerSecond = float64(l.Count) / r.took.Seconds()
	}
	if n := len(r.samples); n > 0 {
		f.CPU = millis(r.cpu) / float64(n)
	}
	return f
}

func newCPU(d time.Duration, requests int) *CPU {
	c := &CPU{Seconds: d.Seconds()}
	if requests > 0 {
		c.PerRequestMS = millis(d) / float64(requests)
	}
	return c
}

// count fills in the counts of requests and answers.
func (m *Measurement) count(samples []sample) {
	m.Requests = len(samples)
	errs := make(map[string]int)
	for _, s := range samples {
		if s.err != nil {
			m.Failed++
			errs[s.class]++
			continue
		}
		m.Succeeded++
		if s.items == 0 {
			m.Empty++
		}
		if s.degraded {
			m.Degraded++
		}
		m.Bytes.add(s.bytes)
		m.Tokens.add(s.tokens)
		m.Items.add(s.items)
	}
	if len(errs) > 0 {
		m.Errors = errs
	}
	for _, size := range []*Size{&m.Bytes, &m.Tokens, &m.Items} {
		size.Mean /= float64(max(m.Succeeded, 1))
	}
}

// add keeps the sum in Mean until it is divided.
func (s *Size) add(n int) {
	s.Mean += float64(n)
	s.Max = max(s.Max, n)
}
