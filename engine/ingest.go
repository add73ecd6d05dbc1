package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
)

// Sink stores ingested documents: [Documents]. A remote server is sent what [Collect] yields
// instead.
type Sink interface {
	Put(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error)
	DeleteIfVersion(ctx context.Context, namespace string, f store.FileState) error
	RecordFileStates(ctx context.Context, namespace string, files []store.FileState) error
	List(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error)
}

var _ Sink = Documents{}

// IngestOptions configures an ingest. Only Paths is required.
type IngestOptions struct {
	Namespace string
	// Paths are files and folders, or other names that Open understands.
	Paths []string
	// Open opens the source at a path; nil is [OpenPath].
	Open func(path string, o IngestOptions) (Source, error)
	// Prefix begins the ids of documents; the path inside the folder or the file's name follows. ""
	// is the folder's name, or nothing for a file, preceded by as many parent folders as tell the path
	// from others of the namespace.
	Prefix string
	Walk   docs.WalkOptions
	Tags   []string
	// Metadata is added to every document. It overrides equal keys of a file's own metadata.
	Metadata map[string]any
	// Chunk bounds the chunk length of every document; zero means the defaults.
	Chunk ragctx.ChunkSizes
	// Extract extracts texts from files; nil is [extract.Read].
	Extract docs.ExtractFunc
	// Reread also reads files that are unchanged since the last ingest.
	Reread bool
	// KeepEmpty deletes no documents of a folder without any files: its drive may be unmounted.
	KeepEmpty bool
	// Now is the clock; nil is the system clock.
	Now func() time.Time
	// Workers is how many documents are prepared in parallel; 0 is one per processor.
	Workers int
	// Progress, if not nil, is called after each file, one call at a time.
	Progress func(IngestProgress)
}

// IngestProgress reports the progress of an ingest.
type IngestProgress struct {
	Stage  string // the action on the files; "" stores them
	Path   string // the file just processed
	Report IngestReport
	// Skipped is the number of files skipped so far, even if Report does not list them.
	Skipped int
}

// IngestReport counts the changes of an ingest.
type IngestReport struct {
	Created   int `json:"created"`
	Replaced  int `json:"replaced"`
	Unchanged int `json:"unchanged"`
	Deleted   int `json:"deleted"`
	// Chunks and Bytes count only written documents, not unchanged ones.
	Chunks int   `json:"chunks"`
	Bytes  int64 `json:"bytes"`
	// Skipped lists the skipped files with reasons.
	Skipped []Skipped `json:"skipped"`
	// LeftOut counts the files that were excluded by type or name.
	LeftOut docs.LeftOut `json:"left_out,omitzero"`
}

// Skipped is a file that was skipped, and the reason.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	// Field is the option that the reason is about: "prefix" if another source has the document's id.
	Field string `json:"field,omitempty"`
}

// IsConflict reports whether another source has the document's id.
func (s Skipped) IsConflict() bool { return s.Field == prefixField }

// Files returns the number of files that were ingested or unchanged.
func (r IngestReport) Files() int { return r.Created + r.Replaced + r.Unchanged }

// Changed reports whether an ingest changed anything.
func (r IngestReport) Changed() bool { return r.Created+r.Replaced+r.Deleted > 0 }

// Ingest stores files and folders in sink. A file that cannot be ingested is skipped with a reason.
// Documents of a folder are deleted if their file is gone or now ignored by git, and documents of
// an archive if the archive was read and no longer has them. The first ingest of a folder deletes the
// documents that folders inside it have of the same files. Files excluded only by changed options
// keep their documents. A document of one existing source is not replaced by another source's. A
// file in the state of the last ingest is not read and counts as unchanged.
//
// The report is valid even if an error ends the ingest.
func Ingest(ctx context.Context, sink Sink, o IngestOptions) (IngestReport, error) {
	in := ingester{sink: sink, opts: o}
	in.report.Skipped = []Skipped{}
	opener := newSourceOpener(sink.List, o)
	for _, path := range o.Paths {
		root, err := opener.open(ctx, path)
		if err == nil {
			err = in.ingestSource(ctx, opener, root)
		}
		if err != nil {
			return in.report, fmt.Errorf("ingest %s: %w", path, err)
		}
	}
	return in.report, nil
}
