package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

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
	// Paths are files and folders.
	Paths []string
	// Prefix starts the ids of a folder's documents, which go on with the path
	// inside the folder; "" is the folder's name.
	Prefix string
	Walk   docs.WalkOptions
	Tags   []string
	// Workers prepare documents in parallel; 0 is one per processor.
	Workers int
	// Progress is called after each file, one call at a time; nil for none.
	Progress func(IngestProgress)
}

// IngestProgress tells how far an ingest has come.
type IngestProgress struct {
	Path   string // the file just done
	Report IngestReport
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
// skipped with its reason. Documents of a folder that were there after the last
// ingest of the same folder and are gone now are deleted. The report is valid
// also when an error ends the ingest.
func Ingest(ctx context.Context, sink Sink, o IngestOptions) (IngestReport, error) {
	in := ingester{sink: sink, opts: o, seen: make(map[string]bool)}
	in.report.Skipped = []Skipped{}
	for _, path := range o.Paths {
		abs, err := filepath.Abs(path)
		if err != nil {
			return in.report, fmt.Errorf("ingest %s: %w", path, err)
		}
		if err := in.root(ctx, abs); err != nil {
			return in.report, fmt.Errorf("ingest %s: %w", path, err)
		}
	}
	return in.report, nil
}

type ingester struct {
	sink Sink
	opts IngestOptions

	mu     sync.Mutex
	report IngestReport
	seen   map[string]bool
}

// root ingests one file or folder, given as an absolute path.
func (in *ingester) root(ctx context.Context, root string) error {
	info, err := os.Stat(root)
	if err != nil {
		return ragctx.Invalid("path", "%v; give a file or folder that exists", err)
	}
	prefix, key := "", ""
	if info.IsDir() {
		// Only a folder can lose files: a file that came alone has no root.
		prefix, key = cmp.Or(in.opts.Prefix, filepath.Base(root))+"/", root
	}
	workers := in.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	var kept []string // paths inside root that are there but were not taken
	var walkErr error
	for f, err := range docs.Walk(gctx, []string{root}, in.opts.Walk) {
		var skip *docs.Skip
		switch {
		case errors.As(err, &skip):
			in.skip(skip.Path, skip.Reason)
			if rel, err := filepath.Rel(root, skip.Path); err == nil {
				kept = append(kept, prefix+filepath.ToSlash(rel))
			}
			continue
		case err != nil:
			walkErr = err
		}
		if walkErr != nil {
			break
		}
		g.Go(func() error { return in.file(gctx, prefix+f.ExternalID, key, f) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if walkErr != nil || key == "" {
		return walkErr
	}
	return in.vanished(ctx, key, kept)
}

// file reads and stores one file. Only an error that would meet every further
// file as well ends the ingest.
func (in *ingester) file(ctx context.Context, id, root string, f docs.File) error {
	in.mu.Lock()
	in.seen[id] = true
	in.mu.Unlock()
	d, err := f.Read()
	if err != nil {
		if skip, ok := errors.AsType[*docs.Skip](err); ok {
			in.skip(skip.Path, skip.Reason)
			return nil
		}
		return err
	}
	d.ExternalID, d.Source, d.Tags = id, "file:"+id, in.opts.Tags
	put, err := in.sink.PutDocument(ctx, in.opts.Namespace, d, root)
	if err != nil {
		if _, status := ragctx.CodeOf(err); status >= 500 || ctx.Err() != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		in.skip(f.Path, err.Error())
		return nil
	}
	in.done(f.Path, put, len(d.Text))
	return nil
}

func (in *ingester) done(path string, put store.Put, size int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch put.Status {
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
		in.opts.Progress(IngestProgress{Path: path, Report: in.report})
	}
}

// vanished deletes the documents of a folder that this ingest did not meet.
// What is there and could not be taken, or lies below a folder that could not
// be read, stays as it was.
func (in *ingester) vanished(ctx context.Context, root string, kept []string) error {
	isKept := func(id string) bool {
		return slices.ContainsFunc(kept, func(k string) bool {
			return id == k || strings.HasPrefix(id, k+"/")
		})
	}
	after := ""
	for {
		page, err := in.sink.ListDocuments(ctx, in.opts.Namespace, store.ListOptions{After: after, Limit: MaxPage, Root: root})
		if err != nil {
			return fmt.Errorf("look for vanished files: %w", err)
		}
		for _, d := range page {
			after = d.ID
			if in.seen[d.ID] || isKept(d.ID) {
				continue
			}
			if err := in.sink.DeleteDocument(ctx, in.opts.Namespace, d.ID); err != nil && !isNotFound(err) {
				return fmt.Errorf("delete vanished file: %w", err)
			}
			in.report.Deleted++
		}
		if len(page) < MaxPage {
			return nil
		}
	}
}
