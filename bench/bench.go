// Package bench measures a running server from outside: clients that ask for
// context over HTTP and note how long every answer took.
//
// The loop is closed: each client waits for an answer before it asks again. So
// the load adapts to the server, and a slow answer delays the questions behind
// it instead of piling them up. Latencies of a closed loop are those of a fixed
// number of callers; they say nothing about a fixed arrival rate.
package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ragctx/ragctx"
)

// Defaults of [Options].
const (
	DefaultClients  = 4
	DefaultDuration = 10 * time.Second
	DefaultTimeout  = 30 * time.Second
)

// MaxClients is the largest number of concurrent clients.
const MaxClients = 4096

// Options says what to measure. URL and Queries are required.
type Options struct {
	// URL is the server's base URL, such as http://127.0.0.1:7700.
	URL string
	// Queries are asked in turn by all clients together, over and over.
	Queries []ragctx.ContextQuery
	// Clients ask at the same time; 0 is [DefaultClients].
	Clients int
	// Requests ends the run after that many answers, Duration after that time;
	// with both, what comes first. With neither it is [DefaultDuration].
	Requests int
	Duration time.Duration
	// Warmup requests come first and are not measured.
	Warmup int
	// Timeout bounds one request; 0 is [DefaultTimeout].
	Timeout time.Duration
	// CPU returns the CPU time used so far by the server's process; nil or false
	// if it is not known.
	CPU func() (time.Duration, bool)
	// Setup describes what is measured; it is copied into the report.
	Setup Setup
}

func (o Options) withDefaults() Options {
	if o.Clients == 0 {
		o.Clients = DefaultClients
	}
	if o.Requests == 0 && o.Duration == 0 {
		o.Duration = DefaultDuration
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.CPU == nil {
		o.CPU = func() (time.Duration, bool) { return 0, false }
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
	case o.Clients < 1 || o.Clients > MaxClients:
		return ragctx.Invalid("clients", "is %d; use 1 to %d", o.Clients, MaxClients)
	case o.Requests < 0:
		return ragctx.Invalid("requests", "is %d; it cannot be negative", o.Requests)
	case o.Duration < 0:
		return ragctx.Invalid("duration", "is %v; it cannot be negative", o.Duration)
	case o.Warmup < 0:
		return ragctx.Invalid("warmup", "is %d; it cannot be negative", o.Warmup)
	case o.Timeout < 0:
		return ragctx.Invalid("timeout", "is %v; it cannot be negative", o.Timeout)
	}
	return nil
}

// Run measures a server. If ctx ends early, the report holds what was measured
// until then and the error is ctx's. That no request succeeded is an error too.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return Report{}, err
	}
	load, err := newLoad(o)
	if err != nil {
		return Report{}, err
	}
	defer load.client.CloseIdleConnections()
	if o.Warmup > 0 {
		load.run(ctx, o.Warmup, 0)
	}
	cpu, known := o.CPU()
	samples, took := load.run(ctx, o.Requests, o.Duration)
	r := summarize(samples, took)
	r.Clients, r.Warmup, r.Setup = o.Clients, o.Warmup, o.Setup
	r.Setup.Distinct = len(o.Queries)
	if after, ok := o.CPU(); known && ok {
		r.CPU = newCPU(after-cpu, len(samples))
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case r.Succeeded == 0:
		return r, fmt.Errorf("no request succeeded: %w", firstError(samples))
	}
	return r, nil
}

func firstError(samples []sample) error {
	for _, s := range samples {
		if s.err != nil {
			return s.err
		}
	}
	return errors.New("none was answered in time")
}

// newClient returns a client that keeps one connection per worker open and does
// not let a proxy or compression into the figures.
func newClient(o Options) *http.Client {
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			MaxIdleConns:        o.Clients,
			MaxIdleConnsPerHost: o.Clients,
			IdleConnTimeout:     o.Timeout,
			DisableCompression:  true,
		},
	}
}
