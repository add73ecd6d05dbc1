package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx/bench"
)

const soakHelp = `Soak keeps a server busy with a mix of what agents do (half questions, a fifth
turns, a fifth documents put or replaced, the rest memories and deletes), and
reads from time to time what its process takes up: memory, open files, threads,
and the size of its data directory.

First it writes as much as will be there all the time, earlier versions of documents
included. Then it measures what the server can do, with clients that each wait for their
answers, for a quarter of the duration, about 30 s at most. Then operations are due
at 70 % of that, at random times, whether those before are done or not (an open
loop; --rate and --share change that); their time counts from when they are due.
At the end a line is fitted to the second half of the readings: so "memory does
not grow" is a number.

It ends with status 1 if an operation failed, if less than 97 % of what was due was
done, if something of the process grows, or if the p99 of a kind of operation is more than five times its p50 (--max-tail).

Documents and memories have ids of a fixed pool, and the oldest session is erased
when its turns are more than the pool, so that as much is there at the end as at the
start, but for earlier versions of memories; in a soak of less than five minutes also
for those of documents, ten of each. With --history sessions stay, as they do for a
caller who never erases anything; then there is ever more to look through, and what
the server could do at the beginning it cannot in the end: give --rate.

It writes into the namespace "soak" unless --namespace says otherwise. If no
server has the data directory open, one is started in this process; then clients
count as well.`

const soakExample = `  ragctx serve --data ./soak-data &
  ragctx bench soak --data ./soak-data --duration 10m
  ragctx bench soak --data ./soak-data --duration 2m --rate 40 --every 1s --json > soak.json`

// soakRows bounds the readings in the table.
const soakRows = 20

func newSoak(env lookupEnv) *cobra.Command {
	var o bench.SoakOptions
	var pid int
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "soak",
		Short:   "Watch whether a busy server grows",
		Long:    soakHelp,
		Example: soakExample,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runSoak(cmd, env, o, pid, asJSON) },
	}
	flags := cmd.Flags()
	addSettings(flags, "server", "vector_graph")
	flags.DurationVar(&o.Duration, "duration", bench.DefaultSoakDuration, "how long")
	flags.DurationVar(&o.Every, "every", bench.DefaultSoakEvery, "time between readings")
	flags.Float64Var(&o.Rate, "rate", 0, "operations per second (default: --share of what the server can do)")
	flags.Float64Var(&o.Share, "share", bench.DefaultSoakShare, "part of what the server can do")
	flags.Float64Var(&o.MaxTail, "max-tail", 5, "how many times its p50 the p99 of a kind of operation may be; 0 does not judge it")
	countVar(flags, &o.Clients, "clients", bench.DefaultClients, 1, bench.MaxClients, "clients that work at the same time")
	countVar(flags, &o.Pool, "pool", bench.DefaultSoakPool, 1, noLimit, "documents, and turns, that are alive at a time")
	flags.BoolVar(&o.History, "history", false, "erase no sessions")
	flags.Uint64Var(&o.Seed, "seed", 0, "of the operations (default: a new one)")
	countVar(flags, &pid, "pid", 0, 1, math.MaxInt32, "the server's process (default: that of the data directory)")
	flags.BoolVar(&asJSON, "json", false, "print the report, with every reading, as JSON")
	return cmd
}

func runSoak(cmd *cobra.Command, env lookupEnv, o bench.SoakOptions, pid int, asJSON bool) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	if s.origin["namespace"] != fromDefault {
		o.Namespace = s.Namespace
	}
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	o.URL = c.URL
	dir := s.Data
	switch {
	case c.local != nil:
		stop, base, err := serveHere(ctx, env, c.local)
		if err != nil {
			return err
		}
		defer stop()
		o.URL, pid = base, os.Getpid()
	case s.Server != "":
		dir = "" // another directory, perhaps on another machine
	case pid == 0:
		pid = c.PID
	}
	o.Probe = bench.ProcessProbe(pid, dir)
	var told time.Time
	o.Progress = func(r bench.Reading) {
		if time.Since(told) < lineEvery {
			return
		}
		told = time.Now()
		fmt.Fprintf(cmd.ErrOrStderr(), "%.0f s, %d operations\n", r.Seconds, r.Operations)
	}
	report, err := bench.RunSoak(ctx, o)
	if len(report.Readings) == 0 {
		return err
	}
	if len(report.Faults) > 0 {
		err = errors.Join(err, fmt.Errorf("the soak has found: %s", strings.Join(report.Faults, "; ")))
	}
	if asJSON {
		return errors.Join(err, writeJSON(cmd.OutOrStdout(), report))
	}
	return errors.Join(err, bench.WriteSoakTable(cmd.OutOrStdout(), report, soakRows))
}
