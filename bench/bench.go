// Package bench measures a running server from outside. Its clients ask for context over HTTP and
// record the latency of every answer.
//
// In a closed loop each client waits for its answer before it asks again. The load adapts to the
// server: a slow answer delays the next questions instead of queueing them.
//
// In an open loop questions are due by a schedule that is independent of the answers. Each latency
// counts from the time when the question was due, not from the time when it could be sent. A server
// that stalls for a second therefore shows a second of delayed questions, as its callers would see
// it; a closed loop would show one slow answer (Gil Tene, "How NOT to Measure Latency": coordinated
// omission).
package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Defaults of [Options].
const (
	DefaultClients  = 4
	DefaultRepeat   = 5
	DefaultDuration = 2 * time.Second
	DefaultTimeout  = 30 * time.Second
	DefaultInFlight = 256
)

// MaxClients is the largest number of concurrent clients, MaxRate of requests per second, and
// MaxRepeat of runs per load.
const (
	MaxClients = 4096
	MaxRate    = 1_000_000
	MaxRepeat  = 50
)

// maxScheduled is the largest number of scheduled requests in one run.
const maxScheduled = 10_000_000

// Options says what to measure. URL and Queries are required.
type Options struct {
	// URL is the server's base URL, such as http://127.0.0.1:7700.
	URL string
	// Queries are asked in turn by all clients together, over and over. Each request has a "now" of
	// its own unless Load.Repeated is set.
	Queries []ragctx.ContextQuery
	// Loads are measured in turns; an empty list is one closed loop of [DefaultClients].
	Loads []Load
	// Repeat is how many runs each load gets; 0 is [DefaultRepeat].
	Repeat int
	// A run ends after Requests answers or after Duration, whichever comes first. With neither it
	// takes [DefaultDuration].
	Requests int
	Duration time.Duration
	// Warmup requests come first and are not measured.
	Warmup int
	// Timeout bounds one request; 0 is [DefaultTimeout].
	Timeout time.Duration
	// Seed determines the arrival times of an open loop and the generated documents.
	Seed uint64
	// Usage returns what the server's process has used so far; nil if that is unknown.
	Usage func() Usage
	// Progress receives one line about what is being measured; nil discards it.
	Progress func(string)
	// Setup describes what is measured; it is copied into the report.
	Setup Setup
}

// Load describes how requests are sent.
type Load struct {
	// Clients is the number of concurrent clients of a closed loop (0 is [DefaultClients]). In an
	// open loop it is the largest number of requests under way (0 is [DefaultInFlight]).
	Clients int `json:"clients"`
	// Rate is the number of requests due per second; 0 is a closed loop. With Constant they are
	// evenly spaced, otherwise their arrivals are a Poisson process.
	Rate     float64 `json:"rate,omitempty"`
	Constant bool    `json:"constant,omitempty"`
	// Ingest is the number of documents written per second during the run.
	Ingest Ingest `json:"ingest,omitzero"`
	// Repeated sends the same questions unchanged, so that the server may answer from its answer
	// cache. Otherwise each request has a "now" of its own and is searched for.
	Repeated bool `json:"repeated,omitempty"`
}

// Ingest is the number of documents written per second during a run: Own into a namespace of their
// own, Same into the namespace that is queried.
type Ingest struct {
	Own  float64 `json:"own,omitempty"`
	Same float64 `json:"same,omitempty"`
}

// String describes the load in a few words. Reports use them as its name.
func (l Load) String() string {
	name := fmt.Sprintf("%d clients", l.Clients)
	switch {
	case l.Rate > 0 && l.Constant:
		name = fmt.Sprintf("%g/s evenly", l.Rate)
	case l.Rate > 0:
		name = fmt.Sprintf("%g/s", l.Rate)
	case l.Clients == 1:
		name = "1 client"
	}
	if l.Repeated {
		name += ", repeated questions"
	}
	if l.Ingest.Own > 0 {
		name += fmt.Sprintf(" + %g docs/s", l.Ingest.Own)
	}
	if l.Ingest.Same > 0 {
		name += fmt.Sprintf(" + %g docs/s in the same namespace", l.Ingest.Same)
	}
	return name
}

func (l Load) withDefaults() Load {
	switch {
	case l.Clients != 0:
	case l.Rate > 0:
		l.Clients = DefaultInFlight
	default:
		l.Clients = DefaultClients
	}
	return l
}

func (o Options) withDefaults() Options {
	if len(o.Loads) == 0 {
		o.Loads = []Load{{}}
	}
	loads := make([]Load, len(o.Loads))
	for i, l := range o.Loads {
		loads[i] = l.withDefaults()
	}
	o.Loads = loads
	if o.Repeat == 0 {
		o.Repeat = DefaultRepeat
	}
	if o.Requests == 0 && o.Duration == 0 {
		o.Duration = DefaultDuration
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Usage == nil {
		o.Usage = func() Usage { return Usage{} }
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

func (o Options) validate() error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return ragctx.Invalid("url", "%q is not a server; use one like http://127.0.0.1:7700", ragctx.Clip(o.URL))
	case len(o.Queries) == 0:
		return ragctx.Invalid("queries", "is empty; there is nothing to ask")
	case o.Repeat < 1 || o.Repeat > MaxRepeat:
		return ragctx.Invalid("repeat", "is %d; use 1 to %d", o.Repeat, MaxRepeat)
	case o.Requests < 0:
		return ragctx.Invalid("requests", "is %d; it cannot be negative", o.Requests)
	case o.Duration < 0:
		return ragctx.Invalid("duration", "is %v; it cannot be negative", o.Duration)
	case o.Warmup < 0:
		return ragctx.Invalid("warmup", "is %d; it cannot be negative", o.Warmup)
	case o.Timeout < 0:
		return ragctx.Invalid("timeout", "is %v; it cannot be negative", o.Timeout)
	}
	return o.checkLoads()
}

// CheckLoads checks the loads and the length of their runs as [Run] does, before anything is
// prepared for them.
func CheckLoads(o Options) error { return o.withDefaults().checkLoads() }

func (o Options) checkLoads() error {
	for i, l := range o.Loads {
		if err := o.check(l, o.Loads[:i]); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) check(l Load, before []Load) error {
	if slices.Contains(before, l) {
		return ragctx.Invalid("loads", "has %s twice", l)
	}
	expected := l.Rate * o.Duration.Seconds()
	if o.Requests > 0 {
		expected = float64(o.Requests)
	}
	switch {
	case l.Clients < 1 || l.Clients > MaxClients:
		return ragctx.Invalid("clients", "is %d; use 1 to %d", l.Clients, MaxClients)
	case !(l.Rate >= 0 && l.Rate <= MaxRate):
		return ragctx.Invalid("rate", "is %v requests per second; use at most %d", l.Rate, MaxRate)
	case l.Rate > 0 && expected > maxScheduled:
		return ragctx.TooLarge("rate", "makes %.0f requests due in one run; the limit is %d", expected, maxScheduled)
	case !(l.Ingest.Own >= 0 && l.Ingest.Own <= MaxRate && l.Ingest.Same >= 0 && l.Ingest.Same <= MaxRate):
		return ragctx.Invalid("ingest", "is %v and %v documents per second; use at most %d", l.Ingest.Own,
			l.Ingest.Same, MaxRate)
	}
	return nil
}

// Run measures a server. The loads take turns, so that a machine whose speed drifts favours none of
// them. If ctx ends early, the report holds what was measured until then, and the error is ctx's.
// Run also fails if no request succeeded.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	r := newReport(o)
	s, err := newSession(o)
	if err != nil {
		return r, err
	}
	defer s.close()
	if o.Warmup > 0 {
		s.asker.closedLoop(ctx, o.Loads[0], o.Warmup, 0)
	}
	r.Ingest = s.ingestAlone(ctx)
	runs := make([][]run, len(o.Loads))
	for n := range o.Repeat {
		for i, l := range o.Loads {
			if ctx.Err() != nil {
				break
			}
			o.Progress(fmt.Sprintf("run %d of %d: %s", n+1, o.Repeat, l))
			r.Control = append(r.Control, millis(control()))
			runs[i] = append(runs[i], s.run(ctx, l, n))
		}
	}
	for i, l := range o.Loads {
		if len(runs[i]) > 0 {
			r.Loads = append(r.Loads, measured(l, runs[i]))
		}
	}
	if err := s.clean(ctx); err != nil {
		return r, err
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.succeeded() == 0:
		return r, fmt.Errorf("no request succeeded: %w", firstError(runs))
	}
	return r, nil
}

func firstError(runs [][]run) error {
	for _, of := range runs {
		for _, r := range of {
			for _, s := range r.samples {
				if s.err != nil {
					return s.err
				}
			}
		}
	}
	return errors.New("no request was answered in time")
}

// newClient returns a client that keeps at most the given number of connections open. It uses no
// proxy and no compression, so neither affects the figures.
func newClient(connections int, timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext:         httpclient.Dial(net.Dialer{}),
			MaxIdleConns:        connections,
			MaxIdleConnsPerHost: connections,
			IdleConnTimeout:     timeout,
			DisableCompression:  true,
		},
	}
}
