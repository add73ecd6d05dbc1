package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api"
	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/engine"
)

// benchFlags are the flags of the command.
type benchFlags struct {
	queries  string
	generate int
	settle   time.Duration
	clients  []int
	// whether these flags were given
	clientsGiven, settleGiven bool

	rates                 []float64
	arrivals              string
	ingest                []float64
	repeat, requests      int
	duration              time.Duration
	maxTokens, maxResults int
	tokenizer             string
	warmup, pid           int
	seed                  uint64
	recall                time.Duration

	json string
}

const benchHelp = `Bench measures how fast a server answers. It uses your own data. With --generate it makes
documents in a new directory, and removes them afterwards.

A load is a number of clients that ask for context over HTTP. --clients 1,2,4 runs three
loads. Each client waits for its answer before it asks again. With --rate, requests follow a
schedule instead, and a latency counts from the time at which the request was due. --ingest
runs each load again while documents are written. --repeat runs all loads several times.

The answer cache is avoided: each query is sent with another time. Only at the end, the first
load is run with repeated queries, and the report counts the answers of the cache.

Bench measures the server that --server names, or the one that has the data directory open.
If there is none, it starts one in this process, and both share the processors.

--queries names a file with one query per line, or with JSON lines that have a field "text".
Without it, queries are titles and sentences of the documents. These are easier than real
questions, and the report says so.`

const benchExample = `  ragctx bench --clients 1,2,4
  ragctx bench --generate 20000 --rate 50,100 --ingest 10
  ragctx bench --queries questions.txt --repeat 10 --json report.json`

func newBench(env lookupEnv) *cobra.Command {
	f := benchFlags{clients: []int{bench.DefaultClients}}
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure answer times, on your own data or on made up documents",
		Long:    benchHelp,
		Example: benchExample,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runBench(cmd, env, f) },
	}
	flags := cmd.Flags()
	addSettings(flags, "server", "vector_graph")
	flags.StringVar(&f.queries, "queries", "", "file of queries (default: drawn from the documents)")
	countVar(flags, &f.generate, "generate", 0, 1, maxGenerated, "measure so many chunks of made up documents "+
		"instead of the data directory")
	durationVar(flags, &f.settle, "settle", 0, fmt.Sprintf("how long to wait once they are written, so that indexes "+
		"have merged (default %v from %s on)", settleTime, amount(settleFrom, "chunk")))
	flags.Var(counts{&f.clients, 1, bench.MaxClients}, "clients",
		"clients that ask at the same time, one load for each of a list; with --rate the most requests under way")
	flags.Var(numbers{&f.rates, 0.001, bench.MaxRate, noLimit}, "rate",
		"requests per second, due whether or not earlier ones were answered; one load for each of a list")
	flags.StringVar(&f.arrivals, "arrivals", poisson, "how requests of a rate come: "+poisson+" (by chance) or "+evenly)
	flags.Var(numbers{&f.ingest, 0, bench.MaxRate, 2}, "ingest",
		"measure each load also while so many documents per second are written into a namespace of their own, and, "+
			"by a second number, into the one that is asked")
	countVar(flags, &f.repeat, "repeat", bench.DefaultRepeat, 1, bench.MaxRepeat, "runs of each load")
	countVar(flags, &f.requests, "requests", 0, 1, noLimit, "end a run after so many requests")
	durationVar(flags, &f.duration, "duration", 0,
		fmt.Sprintf("end a run after this time (default %v without --requests)", bench.DefaultDuration))
	countVar(flags, &f.maxTokens, "max-tokens", ragctx.DefaultMaxTokens, 1, ragctx.MaxTokensLimit, "token budget of each answer")
	limitFlag(flags, &f.maxResults, ragctx.DefaultMaxResults, 1, ragctx.MaxResultsLimit)
	tokenizerFlag(flags, &f.tokenizer)
	countVar(flags, &f.warmup, "warmup", 50, 0, noLimit, "requests before the measured ones")
	countVar(flags, &f.pid, "pid", 0, 1, 1<<31-1, "the server's process, for processor time and memory (default: "+
		"that of the data directory)")
	flags.Uint64Var(&f.seed, "seed", 1, "of the documents that are made up and of when requests are due")
	durationVar(flags, &f.recall, "recall-time", 2*time.Second, "how long to measure what the vector index finds; 0 does not")
	flags.StringVar(&f.json, "json", "", `write the report as JSON to a file; "-" prints it in place of the table`)
	return cmd
}

// The arrivals of requests at a rate.
const (
	poisson = "poisson"
	evenly  = "even"
)

func runBench(cmd *cobra.Command, env lookupEnv, f benchFlags) (err error) {
	ctx := cmd.Context()
	f.clientsGiven, f.settleGiven = cmd.Flags().Changed("clients"), cmd.Flags().Changed("settle")
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	texts, err := readQueries(f.queries)
	if err != nil {
		return err
	}
	f.tokenizer = cmp.Or(f.tokenizer, ragctx.DefaultTokenizer)
	if err := f.check(s, texts); err != nil {
		return asUsage(err)
	}
	if err := f.writable(); err != nil {
		return err
	}
	if f.generate > 0 {
		remove, err := s.elsewhere()
		if err != nil {
			return err
		}
		defer remove()
	}
	c, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(c, &err)
	m := measurement{
		benchFlags: f, settings: s, client: c, url: c.URL, pid: c.PID, cores: runtime.GOMAXPROCS(0),
		progress: cmd.ErrOrStderr(),
	}
	if c.local != nil {
		stop, base, err := serveHere(ctx, env, c.local)
		if err != nil {
			return err
		}
		defer stop()
		m.url, m.pid = base, os.Getpid()
	}
	if f.pid != 0 {
		m.pid = f.pid
	}
	report, err := m.measure(ctx, texts)
	if report.Loads == nil {
		return err
	}
	return errors.Join(err, f.write(cmd.OutOrStdout(), report))
}

// check finds mistakes in the flags before the measurement starts.
func (f benchFlags) check(s settings, texts []string) error {
	if err := knownTokenizer(f.tokenizer); err != nil {
		return err
	}
	switch {
	case f.duration < 0:
		return badUsage("--duration: is %v; it cannot be negative", f.duration)
	case f.settle < 0:
		return badUsage("--settle: is %v; it cannot be negative", f.settle)
	case f.recall < 0 || f.recall > time.Hour:
		return badUsage("--recall-time: is %v; use 0 to 1h", f.recall)
	case f.arrivals != poisson && f.arrivals != evenly:
		return badUsage("--arrivals: is %q; use %s or %s", ragctx.Clip(f.arrivals), poisson, evenly)
	case len(f.rates) > 0 && len(f.clients) > 1:
		return badUsage("--clients: is a list; with --rate it is one number, the most requests under way")
	case f.generate > 0 && s.Server != "":
		return badUsage("--generate: fills a directory of its own; leave --server out")
	case f.generate > 0 && s.origin["data"] == fromFlag:
		return badUsage("--generate: fills a directory of its own; leave --data out")
	}
	if err := bench.CheckLoads(bench.Options{Loads: f.loads(), Requests: f.requests, Duration: f.duration}); err != nil {
		return err
	}
	if len(texts) == 0 {
		texts = []string{""}
	}
	for _, q := range f.ask(s, texts) {
		if err := q.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// ask returns the requests of the queries.
func (f benchFlags) ask(s settings, texts []string) []ragctx.ContextQuery {
	out := make([]ragctx.ContextQuery, len(texts))
	for i, text := range texts {
		out[i] = ragctx.ContextQuery{
			Query: text, Namespace: s.Namespace, MaxTokens: f.maxTokens, MaxResults: f.maxResults, Tokenizer: f.tokenizer,
		}.WithDefaults()
	}
	return out
}

// loads returns the loads to measure: each number of clients or rate, each again during an ingest,
// and the first again with questions from the answer cache.
func (f benchFlags) loads() (out []bench.Load) {
	var writes bench.Ingest
	if len(f.ingest) > 0 {
		writes.Own = f.ingest[0]
	}
	if len(f.ingest) > 1 {
		writes.Same = f.ingest[1]
	}
	add := func(l bench.Load) {
		out = append(out, l)
		if writes != (bench.Ingest{}) {
			l.Ingest = writes
			out = append(out, l)
		}
	}
	for _, r := range f.rates {
		l := bench.Load{Rate: r, Constant: f.arrivals == evenly}
		if f.clientsGiven {
			l.Clients = f.clients[0]
		}
		add(l)
	}
	if len(f.rates) == 0 {
		for _, n := range f.clients {
			add(bench.Load{Clients: n})
		}
	}
	again := out[0]
	again.Repeated = true
	return append(out, again)
}

// serveHere serves eng on a free port, as serve does, until stop is called.
func serveHere(ctx context.Context, env lookupEnv, eng *engine.Engine) (stop func(), url string, err error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	_, back := forServing(env, processMemory())
	done := make(chan struct{})
	go func() {
		defer close(done)
		// a failure to serve shows in the failed requests
		_ = api.New(eng, api.Options{Log: slog.New(slog.DiscardHandler)}).Serve(ctx, ln)
	}()
	return func() { cancel(); <-done; back() }, "http://" + ln.Addr().String(), nil
}
