package main

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/ragctx/ragctx/store"
)

// What is drawn when no queries are given.
const (
	drawDocuments = 200
	drawQueries   = 200
)

// benchFlags are the flags of the command.
type benchFlags struct {
	queries               string
	clients, requests     int
	duration              time.Duration
	maxTokens, maxResults int
	tokenizer             string
	warmup                int
	json                  bool
}

const benchHelp = `Bench measures how long answers take on your own data. Clients ask a server for
context over HTTP, each waiting for its answer before it asks again (a closed
loop), and every latency counts: percentiles are exact.

If a server has the data directory open, or --server names one, that is what is
measured. Otherwise one is started in this process for the run; it is asked over
HTTP too, but then clients and server share the processors.

Queries come from a file, one per line or as JSON lines with a field "text".
Without a file they are drawn from the documents' own titles and sentences, which
are easier to answer than real questions; the report says so.`

const benchExample = `  ragctx bench --requests 1000
  ragctx bench --queries questions.txt --clients 8 --duration 30s
  ragctx bench --server http://127.0.0.1:7700 --max-tokens 8000 --json`

func newBench(env lookupEnv) *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure answer times on your own data",
		Long:    benchHelp,
		Example: benchExample,
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runBench(cmd, env, f) },
	}
	flags := cmd.Flags()
	addSettings(flags, "server", "vector_graph")
	flags.StringVar(&f.queries, "queries", "", "file of queries (default: drawn from the documents)")
	countVar(flags, &f.clients, "clients", bench.DefaultClients, 1, bench.MaxClients, "clients that ask at the same time")
	countVar(flags, &f.requests, "requests", 0, 1, noLimit, "end after so many requests")
	flags.DurationVar(&f.duration, "duration", 0, fmt.Sprintf("end after this time (default %v without --requests)", bench.DefaultDuration))
	countVar(flags, &f.maxTokens, "max-tokens", ragctx.DefaultMaxTokens, 1, ragctx.MaxTokensLimit, "token budget of each answer")
	countVar(flags, &f.maxResults, "max-results", ragctx.DefaultMaxResults, 1, ragctx.MaxResultsLimit, "most items in each answer")
	flags.StringVar(&f.tokenizer, "tokenizer", ragctx.DefaultTokenizer, "tokenizer that counts the budget")
	countVar(flags, &f.warmup, "warmup", 50, 0, noLimit, "requests before the measured ones")
	flags.BoolVar(&f.json, "json", false, "print the report as JSON")
	cmd.AddCommand(newSoak(env))
	return cmd
}

func runBench(cmd *cobra.Command, env lookupEnv, f benchFlags) (err error) {
	ctx := cmd.Context()
	s, err := load(cmd, env)
	if err != nil {
		return err
	}
	texts, err := readQueries(f.queries)
	if err != nil {
		return err
	}
	if err := f.check(s, texts); err != nil {
		return asUsage(err)
	}
	b, err := s.open(ctx, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	defer finish(b, &err)
	url := b.URL
	if eng, ok := b.backend.(local); ok {
		stop, base, err := serveHere(ctx, eng.Engine)
		if err != nil {
			return err
		}
		defer stop()
		url = base
	}
	o, err := f.options(ctx, s, b, texts)
	if err != nil {
		return err
	}
	o.URL, o.Setup.Server = url, url
	report, err := bench.Run(ctx, o)
	if report.Requests > 0 {
		err = errors.Join(err, f.write(cmd.OutOrStdout(), report))
	}
	return err
}

func (f benchFlags) write(w io.Writer, r bench.Report) error {
	if f.json {
		return writeJSON(w, r)
	}
	return bench.WriteTable(w, r)
}

// check finds mistakes in the flags before anything is started.
func (f benchFlags) check(s settings, texts []string) error {
	if err := knownTokenizer(f.tokenizer); err != nil {
		return err
	}
	if f.duration < 0 {
		return badUsage("--duration: is %v; it cannot be negative", f.duration)
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

// ask returns the queries as they are sent.
func (f benchFlags) ask(s settings, texts []string) []ragctx.ContextQuery {
	out := make([]ragctx.ContextQuery, len(texts))
	for i, text := range texts {
		out[i] = ragctx.ContextQuery{
			Query: text, Namespace: s.Namespace, MaxTokens: f.maxTokens, MaxResults: f.maxResults, Tokenizer: f.tokenizer,
		}.WithDefaults()
	}
	return out
}

// options puts the run together and takes stock of the corpus.
func (f benchFlags) options(ctx context.Context, s settings, b opened, texts []string) (bench.Options, error) {
	o := bench.Options{
		Clients: f.clients, Requests: f.requests, Duration: f.duration, Warmup: f.warmup,
		Setup: bench.Setup{
			Namespace: s.Namespace, MaxTokens: f.maxTokens, Tokenizer: f.tokenizer, Cores: runtime.GOMAXPROCS(0),
			Queries: "from " + f.queries, InProcess: b.URL == "",
		},
	}
	if o.Setup.InProcess {
		o.CPU = processCPU
	}
	var sample []string
	err := allDocuments(ctx, b, s.Namespace, "", func(page []store.Document) error {
		for _, d := range page {
			o.Setup.Documents++
			o.Setup.Chunks += d.Chunks
			sample = append(sample, d.ID)
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	if len(texts) == 0 {
		o.Setup.Queries = "drawn from the documents' own titles and sentences (easier than real questions)"
		if texts, err = draw(ctx, b, s.Namespace, sample); err != nil {
			return o, err
		}
	}
	o.Queries = f.ask(s, texts)
	return o, nil
}

// draw makes queries of some of the documents.
func draw(ctx context.Context, b backend, namespace string, ids []string) ([]string, error) {
	var texts []bench.Text
	for _, id := range bench.Sample(ids, drawDocuments) {
		d, err := b.Document(ctx, namespace, id, 0)
		if errors.Is(err, ragctx.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		t := bench.Text{ID: d.ID, Title: d.Title}
		if d.Text != nil {
			t.Body = *d.Text
		}
		texts = append(texts, t)
	}
	queries := bench.DrawQueries(texts, drawQueries)
	if len(queries) == 0 {
		return nil, fmt.Errorf("namespace %s has no documents to draw queries from; ingest some, or give --queries", namespace)
	}
	return queries, nil
}

func readQueries(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	defer f.Close()
	queries, err := bench.ReadQueries(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return queries, nil
}

// serveHere serves eng on a free port until stop is called.
func serveHere(ctx context.Context, eng *engine.Engine) (stop func(), url string, err error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Its end shows in the requests that fail.
		_ = api.New(eng, api.Options{Log: slog.New(slog.DiscardHandler)}).Serve(ctx, ln)
	}()
	return func() { cancel(); <-done }, "http://" + ln.Addr().String(), nil
}
