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

// Root is something that an ingest keeps documents in step with: a folder, a
// file, or what a caller brings along, such as a site. It is for one ingest.
type Root interface {
	// Name is kept with each document and tells roots apart: a folder's absolute
	// path, a URL.
	Name() string
	// Prefix is what the ids of all documents of the root begin with.
	Prefix() string
	// Entries yields what is there, in any order. An error that is a [*docs.Skip]
	// concerns one entry; any other ends the ingest, and nothing is deleted. An
	// entry may be read while the next ones are looked for.
	Entries(ctx context.Context) iter.Seq2[Entry, error]
	// Gone reports whether what a document came from is there no more, rather than
	// left out this time. It is asked, one call at a time, after all entries came
	// without an error, about documents of the root that no entry stands for.
	Gone(id string) bool
}

// leaver is a [Root] that counts what it leaves out, while its entries are yielded.
type leaver interface{ LeftOut() docs.LeftOut }

// Entry is one thing in a [Root], usually a file: one document, or several.
type Entry struct {
	// ID is the id of its document, and what the ids of further ones begin with,
	// followed by a slash. No two entries of a root have the same.
	ID   string
	Path string // as people know it
	// Bytes is what reading it holds in memory, as far as that is known; entries
	// are read side by side as far as there is room for them.
	Bytes int64
	// State is whatever tells that reading it would yield the same as when it was
	// last read, with the same options; at most 400 bytes. "" is unknown, and has it
	// read.
	State string
	// Alone says that it is one document: one whose id goes on with a slash is that
	// of another entry.
	Alone bool
	// Ask, unless it is nil, finds out the state now, where only a server knows it.
	// It is given that of the last time, or "", and asked before Read, which is not
	// called if the state is the same. An error is as in Read; one that is Gone has
	// the documents deleted.
	Ask func(ctx context.Context, last string) (state string, err error)
	// Takes reports whether a document is wanted whose id goes on with this path; nil
	// wants all. What is not wanted is not yielded, and not gone.
	Takes func(inside string) bool
	// Read yields the documents, with their whole ids. An error that is a
	// [*docs.Skip] concerns one of them; any other ends the ingest.
	Read func(ctx context.Context) iter.Seq2[docs.Document, error]
}

// OpenPath returns the root at a path of this machine. What is read and what ids
// the documents have is up to the options.
func OpenPath(path string, o IngestOptions) (Root, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the path: %w", err)
	}
	info, err := o.Walk.Stat(abs)
	if err != nil {
		if failed, ok := errors.AsType[*fs.PathError](err); ok {
			err = failed.Err
		}
		return nil, ragctx.Invalid("path", "%s: %v; give a file or folder that exists", ragctx.Clip(abs), err)
	}
	r := &place{path: abs, folder: info.IsDir(), info: info, opts: o}
	if r.prefix = o.Prefix; r.folder {
		r.prefix = cmp.Or(o.Prefix, filepath.Base(abs))
	}
	if r.prefix != "" {
		r.prefix += "/"
	}
	r.reading = o.reading()
	r.ignored = func(string) bool { return false }
	if !o.Walk.NoIgnore {
		// What is ignored is looked up only when a document's file was not met.
		look := sync.OnceValue(func() func(string) bool { return docs.Ignored(abs) })
		r.ignored = func(rel string) bool { return look()(rel) }
	}
	return r, nil
}

// open opens what a path of the options names.
func (o IngestOptions) open(path string) (Root, error) {
	if o.Open != nil {
		return o.Open(path, o)
	}
	return OpenPath(path, o)
}

// place is a folder or a file of this machine.
type place struct {
	path    string // absolute
	folder  bool
	info    fs.FileInfo
	prefix  string // of ids, before the path inside the folder or the file's name
	opts    IngestOptions
	ignored func(rel string) bool
	reading string // how files are read, as part of their states
	left    docs.LeftOut
}

// Name implements [Root].
func (r *place) Name() string { return r.path }

// Prefix implements [Root].
func (r *place) Prefix() string {
	if r.folder {
		return r.prefix
	}
	return r.prefix + filepath.Base(r.path)
}

// Entries implements [Root].
func (r *place) Entries(ctx context.Context) iter.Seq2[Entry, error] {
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

// LeftOut returns what the last walk left out.
func (r *place) LeftOut() docs.LeftOut { return r.left }

func (r *place) entry(f docs.File) Entry {
	return Entry{
		ID: r.prefix + f.ExternalID, Path: f.Path, Bytes: f.Info.Size(), State: r.state(f), Takes: f.Takes,
		Read: func(ctx context.Context) iter.Seq2[docs.Document, error] {
			return func(yield func(docs.Document, error) bool) {
				for d, err := range f.Read(ctx, r.opts.Extract) {
					d.ExternalID = r.prefix + d.ExternalID
					said := docs.Document{Source: "file:" + d.ExternalID, Tags: r.opts.Tags, Metadata: r.opts.Metadata, Chunk: r.opts.Chunk}
					if !yield(over(said, d), err) {
						return
					}
				}
			}
		},
	}
}

// Gone implements [Root]: the file is gone, or git ignores it now. A file that is
// ingested by its name has nothing beside it. If the folder itself is gone, or
// another one, as where a drive was just unmounted, nothing is known.
func (r *place) Gone(id string) bool {
	rel := strings.TrimPrefix(id, r.prefix)
	if !r.folder || !r.lost(rel) {
		return false
	}
	now, err := r.opts.Walk.Stat(r.path)
	return err == nil && os.SameFile(r.info, now)
}

// lost reports whether there is no file any more at a path in the folder, or git
// ignores it now. A path may go on inside of a file, such as an archive, whatever its
// name: that was not read this time, or Gone would not be asked; as long as it is
// there, and git does not ignore it, so is what it holds.
func (r *place) lost(rel string) bool {
	for i := 0; i <= len(rel); i++ {
		if (i == len(rel) || rel[i] == '/') && !lost(filepath.Join(r.path, filepath.FromSlash(rel[:i]))) {
			return r.ignored(rel[:i])
		}
	}
	return true
}

// lost reports whether a path is no regular file any more. What cannot be told
// is not lost.
func lost(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return absent(err)
	}
	return !info.Mode().IsRegular()
}

// missing reports whether there is nothing at a path.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return absent(err)
}

// absent reports whether an error says that there is nothing at a path, and not
// that it cannot be looked at.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
