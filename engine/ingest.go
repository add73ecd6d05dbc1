package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/chunk"
	"github.com/ragctx/ragctx/providers/docs"
)

// Sink is where ingested documents go: an [Engine]. A server that has one is sent
// what [Collect] yields.
type Sink interface {
	PutDocument(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error)
	DropDocument(ctx context.Context, namespace string, f store.FileState) error
	NoteFiles(ctx context.Context, namespace string, files []store.FileState) error
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
	// Chunk is how long the chunks of every document are; zero means the defaults.
	Chunk chunk.Options
	// Extract finds the texts in files; nil is [extract.Read].
	Extract docs.ExtractFunc
	// Reread reads files whose state is that of the last time, too.
	Reread bool
	// KeepEmpty deletes nothing of a folder in which there are no files at all: the
	// drive may not be there.
	KeepEmpty bool
	// Now is the clock; nil is the system's.
	Now func() time.Time
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
	// LeftOut counts what was not looked at, because of its type or its name.
	LeftOut docs.LeftOut `json:"left_out,omitzero"`
}

// Skipped says why a file was left out.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Files returns the number of files that were looked at and taken.
func (r IngestReport) Files() int { return r.Created + r.Replaced + r.Unchanged }

// Changed reports whether an ingest changed anything.
func (r IngestReport) Changed() bool { return r.Created+r.Replaced+r.Deleted > 0 }

// Ingest puts files and folders into sink. A file that cannot be ingested is
// skipped with its reason. Documents of a folder are deleted when their file is
// gone or ignored by git, those of an archive when it was read and has them no
// more; other options than last time delete nothing. Of what was ingested from a
// place that exists no document is replaced from another. A file in the state of
// the last time is not read; it counts as unchanged.
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
