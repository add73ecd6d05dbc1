package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// Sink is where ingested documents go: an [Engine], or a client of a server
// that has one.
type Sink interface {
	PutDocument(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error)
	DeleteDocument(ctx context.Context, namespace, id string) error
	ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)
}

var _ Sink = (*Engine)(nil)

// IngestOptions says what to ingest. Only Paths is required.
type IngestOptions struct {
	Namespace string
	// Paths are files and folders, or whatever else Open opens.
	Paths []string
	// Open returns what a path names; nil is [OpenPath].
	Open func(path string, o IngestOptions) (Root, error)
	// Prefix starts the ids of documents, which go on with the path inside the
	// folder, or the name of a file. "" is the folder's name, nothing for a file.
	Prefix string
	Walk   docs.WalkOptions
	Tags   []string
	// Metadata is that of every document; of the same keys it wins over what a file
	// says of itself.
	Metadata map[string]any
	// Extract finds the texts in files; nil is [extract.Read].
	Extract docs.ExtractFunc
	// Workers prepare documents in parallel; 0 is one per processor.
	Workers int
	// Progress is called after each file, one call at a time; nil for none.
	Progress func(IngestProgress)
}

// IngestProgress tells how far an ingest has come.
type IngestProgress struct {
	Stage  string // what is done with the files; "" is to store them
	Path   string // the file just done
	Report IngestReport
	// Skipped is the number of files left out so far, also where Report does not
	// list them.
	Skipped int
}

// IngestReport counts what an ingest did.
type IngestReport struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"`
	Deleted   int `json:"deleted"`
	// Chunks and Bytes count what was written, not what was unchanged.
	Chunks int   `json:"chunks"`
	Bytes  int64 `json:"bytes"`
	// Skipped lists what was left out, each with its reason.
	Skipped []Skipped `json:"skipped"`
}

// Skipped says why a file was left out.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Files returns the number of files that were looked at and taken.
func (r IngestReport) Files() int { return r.Created + r.Replaced + r.Unchanged }

// Ingest puts files and folders into sink. A file that cannot be ingested is
// skipped with its reason. Documents of a folder are deleted when their file is
// gone or ignored by git; other options than last time delete nothing. Of what
// was ingested from a place that exists no document is replaced from another.
// The report is valid also when an error ends the ingest.
func Ingest(ctx context.Context, sink Sink, o IngestOptions) (IngestReport, error) {
	in := ingester{sink: sink, opts: o}
	in.report.Skipped = []Skipped{}
	for _, path := range o.Paths {
		root, err := o.open(path)
		if err == nil {
			err = in.root(ctx, root)
		}
		if err != nil {
			return in.report, fmt.Errorf("ingest %s: %w", path, err)
		}
	}
	return in.report, nil
}

// maxInFlight bounds the files that are in memory at a time, in bytes. One that is
// larger is read alone.
const maxInFlight = 64 << 20

type ingester struct {
	sink Sink
	opts IngestOptions

	mu     sync.Mutex
	report IngestReport
}

// root ingests one root.
func (in *ingester) root(ctx context.Context, root Root) error {
	workers := in.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	room := semaphore.NewWeighted(maxInFlight)
	seen, skipped := make(map[string]bool), false
	var walkErr error
	for e, err := range root.Entries(gctx) {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			in.skip(skip.Path, skip.Reason)
			skipped = true
			continue
		}
		if walkErr = err; err != nil {
			break
		}
		seen[e.ID] = true
		size := min(e.Bytes, maxInFlight)
		if walkErr = room.Acquire(gctx, size); walkErr != nil {
			break
		}
		g.Go(func() error {
			defer room.Release(size)
			return in.entry(gctx, root, e)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if walkErr != nil || skipped && len(seen) == 0 {
		return walkErr
	}
	return in.vanished(ctx, root, seen)
}

// entry reads and stores one entry.
func (in *ingester) entry(ctx context.Context, root Root, e Entry) error {
	for d, err := range e.Read(ctx) {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			in.skip(skip.Path, skip.Reason)
			continue
		}
		if err != nil {
			return err
		}
		if err := in.document(ctx, root, e, d); err != nil {
			return err
		}
	}
	return nil
}

// document stores one document. Only an error that would meet every further one
// as well ends the ingest.
func (in *ingester) document(ctx context.Context, root Root, e Entry, d docs.Document) error {
	put, err := in.sink.PutDocument(ctx, in.opts.Namespace, d, root.Name())
	if errors.Is(err, ragctx.ErrConflict) {
		put, err = in.moved(ctx, d, root.Name(), err)
	}
	if err != nil {
		if _, status := ragctx.CodeOf(err); status >= 500 || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
		in.skip(e.Path+strings.TrimPrefix(d.ExternalID, e.ID), err.Error())
		return nil
	}
	in.done(e.Path, put, len(d.Text))
	return nil
}

func (in *ingester) done(path string, put store.Put, size int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch put.Status { //nolint:exhaustive // a put deletes nothing
	case store.Created:
		in.report.Created++
	case store.Replaced:
		in.report.Replaced++
	case store.Unchanged:
		in.report.Unchanged++
	}
	if put.Status != store.Unchanged {
		in.report.Chunks += put.Chunks
		in.report.Bytes += int64(size)
	}
	in.progress(path)
}

func (in *ingester) skip(path, reason string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.report.Skipped = append(in.report.Skipped, Skipped{Path: path, Reason: reason})
	in.progress(path)
}

// progress reports; the caller holds the lock, so calls come one at a time.
func (in *ingester) progress(path string) {
	if in.opts.Progress != nil {
		in.opts.Progress(IngestProgress{Path: path, Report: in.report, Skipped: len(in.report.Skipped)})
	}
}
