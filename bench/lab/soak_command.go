package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/engine"
)

// soakRows bounds the readings in the table, progressEvery the lines about progress.
const (
	soakRows      = 20
	progressEvery = 10 * time.Second
)

// runSoak runs a soak against the server of -url, or against one in this process.
func runSoak(ctx context.Context, args []string, stdout io.Writer) (err error) {
	var o SoakOptions
	set := flag.NewFlagSet("soak", flag.ContinueOnError)
	data := set.String("data", "", "data directory; without -url, a server is started for it in this process")
	set.StringVar(&o.URL, "url", "", "base URL of a server that runs already")
	pid := set.Int("pid", 0, "process of that server; 0 reads nothing of it")
	set.StringVar(&o.Namespace, "namespace", "soak", "namespace that receives the writes")
	set.DurationVar(&o.Duration, "duration", DefaultSoakDuration, "length of the soak")
	set.DurationVar(&o.Every, "every", DefaultSoakEvery, "time between readings")
	set.Float64Var(&o.Rate, "rate", 0, "operations per second; 0 is -share of the capacity")
	set.Float64Var(&o.Share, "share", DefaultSoakShare, "share of the server's capacity")
	set.Float64Var(&o.MaxTail, "max-tail", 5, "largest p99 of a kind of operation, in multiples of its p50; 0 does not check it")
	set.IntVar(&o.Clients, "clients", bench.DefaultClients, "concurrent clients")
	set.IntVar(&o.Pool, "pool", DefaultSoakPool, "documents, and turns, that exist at a time")
	set.BoolVar(&o.History, "history", false, "erase no sessions")
	set.Uint64Var(&o.Seed, "seed", 0, "seed of the operations; 0 draws one")
	asJSON := set.Bool("json", false, "print the report, with every reading, as JSON")
	if err := set.Parse(args); err != nil {
		return err
	}
	if o.URL == "" {
		if *data == "" {
			return errors.New("soak: give -data DIR, -url URL, or both")
		}
		stop, url, err := serve(ctx, *data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		o.URL, *pid = url, os.Getpid()
	}
	o.Probe = ProcessProbe(*pid, *data)
	var reported time.Time
	o.Progress = func(r Reading) {
		if time.Since(reported) >= progressEvery {
			reported = time.Now()
			fmt.Fprintf(os.Stderr, "%.0f s, %d operations\n", r.Seconds, r.Operations)
		}
	}
	report, err := RunSoak(ctx, o)
	if len(report.Readings) == 0 {
		return err
	}
	if len(report.Faults) > 0 {
		err = errors.Join(err, fmt.Errorf("the soak failed: %s", strings.Join(report.Faults, "; ")))
	}
	if *asJSON {
		return errors.Join(err, json.NewEncoder(stdout).Encode(report))
	}
	return errors.Join(err, WriteSoakTable(stdout, report, soakRows))
}

// serve opens a data directory and serves it on a free port, with the defaults of "ragctx serve",
// until stop is called.
func serve(ctx context.Context, data string) (stop func() error, url string, err error) {
	eng, err := engine.Open(ctx, engine.Options{Dir: data})
	if err != nil {
		return nil, "", err
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", errors.Join(err, eng.Close())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		// A failure to serve shows in the failed operations.
		_ = api.New(eng, api.Options{Log: slog.New(slog.DiscardHandler)}).Serve(ctx, ln)
	}()
	return func() error { cancel(); <-done; return eng.Close() }, "http://" + ln.Addr().String(), nil
}
