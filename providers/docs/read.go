package docs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"path/filepath"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/sentence"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// File is a file found by a walk.
type File struct {
	// ExternalID is the slash-separated path relative to the root, or the file name if the root is
	// a file.
	ExternalID string
	Path       string // for the operating system
	Info       fs.FileInfo

	at    rootedPath
	limit int64
	rules *rules
}

// Skip is the error of [Walk] and [File.Read] for one file, or one file inside it, that was
// skipped.
type Skip struct {
	Path, Reason string
	// Inside is the path of the skipped file inside the file; "" means the file itself, or the rest
	// of it.
	Inside string
	// Unread says that the other contents of the file are unknown.
	Unread bool
	// Gone says that the document is known to no longer exist.
	Gone bool
}

// Error implements error.
func (s *Skip) Error() string { return s.Path + ": " + s.Reason }

// ExtractFunc extracts the texts of a file. [extract.Read] is one.
type ExtractFunc func(context.Context, extract.File, extract.Options) iter.Seq2[extract.Text, error]

// Texts calls x, or [extract.Read] if x is nil.
func (x ExtractFunc) Texts(ctx context.Context, f extract.File, o extract.Options) iter.Seq2[extract.Text, error] {
	if x == nil {
		return extract.Read(ctx, f, o)
	}
	return x(ctx, f, o)
}

// Read yields the file as a document. An archive or a mail yields several, with the inner path
// appended to the id. If x is nil, [extract.Read] is used. An error is a [*Skip] for the file, if
// it is too large or unreadable, or for one file inside; any other error is the end of ctx. Inner
// files for which [File.Accepts] returns false are omitted.
//
// Occurred is zero unless the file itself has a time for its content. The file's modification time
// is not used, because a fresh checkout must not look like new content.
func (f File) Read(ctx context.Context, x ExtractFunc) iter.Seq2[ragctx.Document, error] {
	return func(yield func(ragctx.Document, error) bool) {
		b, err := f.at.read(f.limit)
		if err != nil {
			yield(ragctx.Document{}, &Skip{Path: f.Path, Reason: reason(err), Unread: true})
			return
		}
		for t, err := range x.Texts(ctx, extract.File{Name: f.ExternalID, Data: b}, extract.Options{Take: f.Accepts}) {
			d, err := f.document(t, err)
			if !yield(d, err) {
				return
			}
		}
	}
}

// Accepts reports whether the options of the walk accept the file at a path inside this one.
func (f File) Accepts(inside string) bool {
	return f.rules == nil || f.rules.acceptsInside(f.ExternalID, inside)
}

// document converts an extracted text to a document.
func (f File) document(t extract.Text, err error) (ragctx.Document, error) {
	if bad, ok := errors.AsType[*extract.Error](err); ok {
		s := f.skip(bad.Path, bad.Reason)
		s.Unread = bad.Path == ""
		return ragctx.Document{}, s
	}
	switch {
	case err != nil:
		return ragctx.Document{}, err
	case t.Path != "" && !fs.ValidPath(t.Path):
		return ragctx.Document{}, f.skip(t.Path, "has an invalid path; rename it")
	case isBlank(t.Text) && isBlank(t.Title):
		s := f.skip(t.Path, "has no text")
		s.Gone = true
		return ragctx.Document{}, s
	}
	return FromText(path.Join(f.ExternalID, t.Path), t), nil
}

// FromText converts an extracted text to a document. Metadata that cannot be stored is omitted.
func FromText(id string, t extract.Text) ragctx.Document {
	d := ragctx.Document{
		ExternalID: id, Source: "file:" + id, Text: t.Text, MIME: t.MIME,
		Title: sentence.Clip(t.Title, maxTitleRunes), Metadata: formatMetadata(t),
	}
	if format, ok := formatByExt(path.Base(id)); ok && t.MIME == "" && t.Format == "" {
		d.MIME = format.mime
	}
	if ragctx.ValidTime("occurred", t.Occurred) == nil { // a mail can have any year
		d.Occurred = t.Occurred
	}
	return d
}

func (f File) skip(inside, why string) *Skip {
	name := f.Path
	if inside != "" {
		name = filepath.Join(f.Path, filepath.FromSlash(inside))
	}
	return &Skip{Path: name, Reason: why, Inside: inside}
}

// MetaFormat is the metadata key of a converted document's original format, such as "pdf" or "docx"
// (see [extract.ShortName]).
const MetaFormat = "format"

func formatMetadata(t extract.Text) map[string]any {
	meta := make(map[string]any, len(t.Metadata)+1)
	if ragctx.ValidMetadata("metadata", t.Metadata, MaxMetadataBytes/2) == nil {
		maps.Copy(meta, t.Metadata)
	}
	if t.Format != "" {
		meta[MetaFormat] = extract.ShortName(t.Format)
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}

func tooBig(size, limit int64) error {
	return fmt.Errorf("is %d bytes or more; the limit is %d: split the file, or raise the limit (--max-file-size)", size, limit)
}

// reason returns an error's text without the path, which a Skip already has.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return err.Error()
}
