package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
)

// Source is a source that an ingest keeps documents in sync with: a folder, a file, or one supplied
// by the caller, such as a website. It is used for one ingest.
type Source interface {
	// Name identifies the source and is stored with each document: a folder's absolute path, a URL.
	Name() string
	// Prefix is the common prefix of the ids of all documents of the source.
	Prefix() string
	// Entries yields the entries of the source, in any order. A [*docs.Skip] error concerns one
	// entry; any other error ends the ingest without deletions. An entry may be read while later
	// ones are being listed.
	Entries(ctx context.Context) iter.Seq2[Entry, error]
	// Gone reports whether the origin of a document no longer exists, rather than being excluded
	// this time. It is called one call at a time, after all entries were yielded without an error,
	// for documents of the source without an entry.
	Gone(id string) bool
}

// leftOutCounter is a [Source] that counts excluded files while its entries are yielded.
type leftOutCounter interface{ LeftOut() docs.LeftOut }

// Entry is one element of a [Source], usually a file: one document, or several.
type Entry struct {
	// ID is the id of its document. Further documents have ids that begin with ID and a slash. It
	// is unique within the source.
	ID   string
	Path string // for display
	// Bytes is the memory needed to read it, if known; it limits how many entries are read in
	// parallel.
	Bytes int64
	// State changes whenever reading it with the same options would yield something else; at most
	// 400 bytes. "" is unknown: the entry is read.
	State string
	// Single is set for exactly one document: an id that continues with a slash belongs to another
	// entry.
	Single bool
	// Ask, if not nil, returns the current state if only a server knows it. last is the state of
	// the last ingest, or "". Ask is called before Read, which is skipped if the state is
	// unchanged. Errors are as in Read; one that is Gone deletes the documents.
	Ask func(ctx context.Context, last string) (state string, err error)
	// Takes reports whether the document at an inner path is wanted; nil takes all. Unwanted
	// documents are neither yielded nor deleted.
	Takes func(inside string) bool
	// Read yields the documents with their full ids. A [*docs.Skip] error concerns one of them; any
	// other ends the ingest.
	Read func(ctx context.Context) iter.Seq2[ragctx.Document, error]
}

// OpenPath opens the file or folder at a path of this machine as a source. The options decide which
// files are read and what ids their documents have.
func OpenPath(path string, o IngestOptions) (Source, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the path: %w", err)
	}
	info, err := o.Walk.Stat(abs)
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err
		}
		remedy := "give a file or folder that exists"
		if errors.Is(err, fs.ErrPermission) {
			remedy = "allow ragctx to read it, or give another path"
		}
		return nil, ragctx.Invalid("path", "%s: %v; %s", ragctx.Clip(abs), err, remedy)
	}
	r := &localSource{path: abs, root: abs, folder: info.IsDir(), info: info, opts: o}
	if r.prefix = o.Prefix; r.folder {
		r.prefix = cmp.Or(o.Prefix, filepath.Base(abs))
	}
	if r.prefix != "" {
		r.prefix += "/"
	}
	r.readingHash = o.readingHash()
	r.ignored = func(string) bool { return false }
	if !o.Walk.NoIgnore {
		// Ignore rules are only evaluated for documents without an entry.
		look := sync.OnceValue(func() func(string) bool { return docs.Ignored(abs) })
		r.ignored = func(rel string) bool { return look()(rel) }
	}
	return r, nil
}

// open opens the source at a path of the options.
func (o IngestOptions) open(path string) (Source, error) {
	if o.Open != nil {
		return o.Open(path, o)
	}
	return OpenPath(path, o)
}

// localSource is a folder or a file of this machine.
type localSource struct {
	path        string // absolute
	root        string // path, or the folder that contains it in an earlier ingest
	folder      bool
	info        fs.FileInfo
	prefix      string // of ids, before the inner path or the file's name
	opts        IngestOptions
	ignored     func(rel string) bool
	readingHash string // hash of the reading options, as part of file states
	left        docs.LeftOut
}

// Name implements [Source].
func (r *localSource) Name() string { return r.root }

// Prefix implements [Source].
func (r *localSource) Prefix() string {
	if r.folder {
		return r.prefix
	}
	return r.prefix + filepath.Base(r.path)
}

// Entries implements [Source].
func (r *localSource) Entries(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		o := r.opts.Walk
		r.left = docs.LeftOut{}
		o.LeftOut = &r.left
		for f, err := range docs.Walk(ctx, []string{r.path}, o) {
			e := Entry{}
			if err == nil {
				e = r.entry(f)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// LeftOut returns the excluded files of the last walk.
func (r *localSource) LeftOut() docs.LeftOut { return r.left }

func (r *localSource) entry(f docs.File) Entry {
	return Entry{
		ID: r.prefix + f.ExternalID, Path: f.Path, Bytes: f.Info.Size(), State: r.state(f), Takes: f.Accepts,
		Read: func(ctx context.Context) iter.Seq2[ragctx.Document, error] {
			return func(yield func(ragctx.Document, error) bool) {
				for d, err := range f.Read(ctx, r.opts.Extract) {
					d.ExternalID = r.prefix + d.ExternalID
					given := ragctx.Document{
						Source: "file:" + d.ExternalID, Tags: r.opts.Tags,
						Metadata: r.opts.Metadata, Chunk: r.opts.Chunk,
					}
					if !yield(overlay(given, d), err) {
						return
					}
				}
			}
		},
	}
}

// Gone implements [Source]: the file is gone, or git now ignores it. A file that is ingested by name
// has no other documents. If the folder itself is gone or was replaced, as when a drive was
// unmounted, nothing counts as gone.
func (r *localSource) Gone(id string) bool {
	rel := strings.TrimPrefix(id, r.prefix)
	if !r.folder || !r.isGone(rel) {
		return false
	}
	now, err := r.opts.Walk.Stat(r.path)
	return err == nil && os.SameFile(r.info, now)
}

// isGone reports whether no file exists at a path in the folder, or git now ignores it. A path may
// continue inside a file such as an archive. That file was not read this time (otherwise Gone would
// not be called), so its documents stay while it exists and is not ignored.
func (r *localSource) isGone(rel string) bool {
	for i := 0; i <= len(rel); i++ {
		if (i == len(rel) || rel[i] == '/') && !fileGone(filepath.Join(r.path, filepath.FromSlash(rel[:i]))) {
			return r.ignored(rel[:i])
		}
	}
	return true
}

// fileGone reports whether a path is no longer a regular file. If that is unknown, it returns false.
func fileGone(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return isNotExist(err)
	}
	return !info.Mode().IsRegular()
}

// notExist reports whether there is nothing at a path.
func notExist(path string) bool {
	_, err := os.Lstat(path)
	return isNotExist(err)
}

// isNotExist reports whether an error means that nothing exists at a path, as opposed to being
// unreadable.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
