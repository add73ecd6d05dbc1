// Package otlp sends traces of queries to a collector of OpenTelemetry: OTLP over HTTP, in JSON. It has no
// dependency, because the SDK with its exporter adds 8 MB to a program (see docs/operations.md).
package otlp

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx/internal/httpclient"
	"github.com/ragctx/ragctx/internal/trace"
)

// Limits of the exporter.
const (
	queued      = 1024 // traces that wait
	batch       = 128  // traces of a request
	every       = time.Second
	timeout     = 10 * time.Second
	retries     = 2
	maxAnswer   = 64 << 10
	closeWithin = 5 * time.Second
)

// Options configures an [Exporter]. URL is required: the collector's, without /v1/traces.
type Options struct {
	URL, Key string
	// Version is the version of this program.
	Version string
	Log     *slog.Logger

	// NewTraceID and NewSpanID return identifiers of 16 and 8 random bytes.
	NewTraceID func() [16]byte
	NewSpanID  func() [8]byte
}

// Exporter sends traces in the background. While the collector is slow or away, traces are dropped.
type Exporter struct {
	opts    Options
	client  *httpclient.Client
	queue   chan trace.Record
	dropped atomic.Uint64
	closing chan struct{}
	done    sync.WaitGroup
}

// New starts an exporter. Its errors are about the fields url and key.
func New(o Options) (*Exporter, error) {
	u, err := httpclient.ParseEndpoint(o.URL, o.Key)
	if err != nil {
		return nil, err
	}
	e := &Exporter{
		opts: o, queue: make(chan trace.Record, queued), closing: make(chan struct{}),
		client: httpclient.New(httpclient.Options{URL: u.JoinPath("v1/traces"), Key: o.Key, Parallel: 1}),
	}
	e.done.Go(e.run)
	return e, nil
}

// Add queues a trace, and never waits. A trace whose caller does not sample is left out.
func (e *Exporter) Add(r trace.Record) {
	if r.Parent.TraceID != "" && !r.Parent.Sampled {
		return
	}
	select {
	case e.queue <- r:
	default:
		e.dropped.Add(1)
	}
}

// Close sends the traces that wait, for a few seconds at most. Nothing may be added afterwards.
func (e *Exporter) Close() {
	close(e.closing)
	e.done.Wait()
	e.client.Close()
}

func (e *Exporter) run() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e.done.Go(func() {
		<-e.closing
		t := time.AfterFunc(closeWithin, cancel)
		<-ctx.Done()
		t.Stop()
	})
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	var waiting []trace.Record
	failing := false
	for {
		closing := false
		select {
		case r := <-e.queue:
			if waiting = append(waiting, r); len(waiting) < batch {
				continue
			}
		case <-tick.C:
		case <-e.closing:
			closing = true
		}
		for closing && len(e.queue) > 0 {
			waiting = append(waiting, <-e.queue)
		}
		if len(waiting) > 0 {
			err := e.send(ctx, waiting)
			switch lost := e.dropped.Swap(0); {
			case err != nil && !failing:
				e.opts.Log.Warn("cannot send traces", "error", err, "traces", len(waiting))
			case lost > 0:
				e.opts.Log.Warn("dropped traces, because the collector is slow or away", "traces", lost)
			}
			failing = err != nil
			waiting = waiting[:0]
		}
		if closing {
			return
		}
	}
}

func (e *Exporter) send(ctx context.Context, list []trace.Record) error {
	body, err := json.Marshal(e.request(list))
	if err != nil {
		return err
	}
	_, err = e.client.Post(ctx, httpclient.Request{
		Body: body, AllowEmpty: true, MaxAnswer: maxAnswer, Timeout: timeout, Total: 3 * timeout, Retries: retries, Backoff: every,
	})
	return err
}
