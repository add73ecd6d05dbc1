package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/bench"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

const (
	// How queries are drawn if none are given.
	drawDocuments = 200
	drawQueries   = 200

	maxGenerated = 10_000_000
	// From this many chunks on, an index merges its parts once writes have stopped for a while.
	settleFrom = 20_000
	settleTime = 30 * time.Second
)

// measurement is one run of the command.
type measurement struct {
	benchFlags
	settings

	client   *client
	url      string
	pid      int
	cores    int // the processors that Go uses, before serving raises the number
	progress io.Writer
}

// elsewhere points s to an empty data directory, which remove deletes.
func (s *settings) elsewhere() (remove func(), err error) {
	dir, err := os.MkdirTemp("", "ragctx-bench-")
	if err != nil {
		return nil, fmt.Errorf("directory for --generate: %w", err)
	}
	s.Data = dir
	return func() { _ = os.RemoveAll(dir) }, nil
}

// measure generates documents if requested, runs the loads and collects the results.
func (m *measurement) measure(ctx context.Context, texts []string) (bench.Report, error) {
	o := bench.Options{
		URL: m.url, Loads: m.loads(), Repeat: m.repeat, Requests: m.requests, Duration: m.duration, Warmup: m.warmup,
		Seed: m.benchFlags.seed, Progress: func(line string) { fmt.Fprintln(m.progress, line) },
		Setup: bench.Setup{
			Server: m.url, InProcess: m.client.URL == "", Namespace: m.Namespace, Corpus: "your own",
			Queries: "from " + m.queries, MaxTokens: m.maxTokens, MaxResults: m.maxResults, Tokenizer: m.tokenizer,
			Cores: m.cores, Machine: bench.Machine(), Program: buildVersion(), Time: time.Now().UTC().Format(time.RFC3339),
		},
	}
	if m.pid != 0 {
		o.Usage = m.usage
	}
	filled, err := m.fill(ctx, &o)
	if err != nil {
		return bench.Report{}, err
	}
	if err := m.takeStock(ctx, &o, texts); err != nil {
		return bench.Report{}, err
	}
	r, err := bench.Run(ctx, o)
	if filled != nil {
		r.Ingest = filled
	}
	if err != nil {
		return r, err
	}
	if m.Server == "" {
		sizes := bench.DirSizes(m.Data)
		r.Sizes = &sizes
	}
	r.Recall, err = m.findsOfNearest(ctx)
	return r, err
}

// usage returns the resources that the server's process has used. For this process the system has
// finer numbers.
func (m *measurement) usage() bench.Usage {
	u := bench.ProcessUsage(m.pid)
	if m.pid == os.Getpid() {
		if cpu, ok := processCPU(); ok {
			u.CPU = cpu
		}
	}
	return u
}

// fill writes the documents of --generate. Without the flag it returns nil.
func (m *measurement) fill(ctx context.Context, o *bench.Options) (*bench.Written, error) {
	if m.generate == 0 {
		return nil, nil //nolint:nilnil // as said
	}
	o.Setup.Corpus = fmt.Sprintf("made up for this run: about %s, seed %d", amount(m.generate, "chunk"), o.Seed)
	var told atomic.Int64
	filled, err := bench.Fill(ctx, bench.FillOptions{
		URL: m.url, Namespace: m.Namespace, Chunks: m.generate, Seed: o.Seed, Usage: o.Usage,
		Progress: func(chunks int) {
			if last := told.Load(); int64(chunks)-last >= int64(max(m.generate/10, 1)) && told.CompareAndSwap(last, int64(chunks)) {
				fmt.Fprintf(m.progress, "%s written\n", amount(chunks, "chunk"))
			}
		},
	})
	if err != nil {
		return nil, fmt.Errorf("write documents: %w", err)
	}
	wait := m.settle
	if !m.settleGiven && m.generate >= settleFrom {
		wait = settleTime
	}
	if wait > 0 {
		fmt.Fprintf(m.progress, "waiting %v for the indexes to merge\n", wait)
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return &filled, ctx.Err()
}

// takeStock counts the corpus, and draws queries if none are given.
func (m *measurement) takeStock(ctx context.Context, o *bench.Options, texts []string) error {
	var sample []string
	err := allDocuments(ctx, m.client.ListDocuments, m.Namespace, "", func(page []store.Document) error {
		for _, d := range page {
			o.Setup.Documents++
			o.Setup.Chunks += d.Chunks
			sample = append(sample, d.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(texts) == 0 {
		o.Setup.Queries = "drawn from the documents' own titles and sentences (easier than real questions)"
		if texts, err = draw(ctx, m.client, m.Namespace, sample); err != nil {
			return err
		}
	}
	o.Queries = m.ask(m.settings, texts)
	return nil
}

// draw makes queries from some of the documents.
func draw(ctx context.Context, c *client, namespace string, ids []string) ([]string, error) {
	var texts []bench.Text
	for _, id := range bench.Sample(ids, drawDocuments) {
		d, err := c.Document(ctx, namespace, id, 0)
		if errors.Is(err, ragctx.ErrNotFound) {
			continue // deleted since the list was made
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
		return nil, fmt.Errorf("namespace %s has no documents to draw queries from; ingest some, give --queries, "+
			"or use --generate", namespace)
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

// findsOfNearest measures the recall of the documents' vector index by searching for its own
// vectors, as 'ragctx doctor' does. It returns nil if there are no vectors.
func (m *measurement) findsOfNearest(ctx context.Context) (*bench.Recall, error) {
	if m.recall == 0 {
		return nil, nil //nolint:nilnil // as said
	}
	fmt.Fprintln(m.progress, "measuring what the vector index finds")
	found, err := checkUp(ctx, io.Discard, m.client, engine.DoctorOptions{Searching: m.recall * doctorShare})
	if err != nil {
		return nil, fmt.Errorf("measure recall: %w", err)
	}
	namespace := cmp.Or(m.Namespace, ragctx.DefaultNamespace)
	for _, i := range found.Indexes {
		if i.Namespace != namespace || i.Kind != store.KindDocuments.String() || i.Found == nil || i.Found.Recall == nil {
			continue
		}
		r := i.Found
		return &bench.Recall{
			Value: r.Recall.Value, Low: r.Recall.Low, High: r.Recall.High, Samples: r.Recall.Samples,
			P50MS: r.P50MS, ExactP50MS: r.ExactP50MS,
		}, nil
	}
	return nil, nil //nolint:nilnil // there are no vectors
}

// doctorShare is the number of parts into which a checkup divides its search time; each index gets
// one.
const doctorShare = 5
