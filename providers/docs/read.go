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

// File is a file that a walk found.
type File struct {
	// ExternalID is the slash-separated path relative to the root, for a root
	// that is a file its name.
	ExternalID string
	Path       string // as the operating system takes it
	Info       fs.FileInfo

	at    located
	limit int64
	rules *rules
}

// Skip says why a file, or a file inside of it, was left out. It is the error of
// [Walk] and [File.Read] that concerns that one only.
type Skip struct {
	Path, Reason string
	// Inside is where in the file the one stands that was left out; "" is the file
	// itself, or what is left of it.
	Inside string
	// Unread says that what else is in the file is not known.
	Unread bool
	// Gone says that it is known to be there no more.
	Gone bool
}

// Error implements error.
func (s *Skip) Error() string { return s.Path + ": " + s.Reason }

// ExtractFunc finds the texts in a file. [extract.Read] is one.
type ExtractFunc func(context.Context, extract.File, extract.Options) iter.Seq2[extract.Text, error]

// Texts calls x; nil is [extract.Read].
func (x ExtractFunc) Texts(ctx context.Context, f extract.File, o extract.Options) iter.Seq2[extract.Text, error] {
	if x == nil {
		return extract.Read(ctx, f, o)
	}
	return x(ctx, f, o)
}

// Read yields the file as a document, an archive or a mail as several, whose ids
// go on with a slash and the path inside. nil is [extract.Read]. The error is a
// [*Skip] of the file, if that is too large or cannot be read, or of one file
// inside; any other is the end of ctx. What [File.Takes] refuses is not there.
//
// Occurred is zero unless the file itself says when what it tells happened: the
// time of a file says when it was copied, and a fresh checkout must not look
// like new content.
func (f File) Read(ctx context.Context, x ExtractFunc) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		b, err := f.at.read(f.limit)
		if err != nil {
			yield(Document{}, &Skip{Path: f.Path, Reason: reason(err), Unread: true})
			return
		}
		for t, err := range x.Texts(ctx, extract.File{Name: f.ExternalID, Data: b}, extract.Options{Take: f.Takes}) {
			d, err := f.document(t, err)
			if !yield(d, err) {
				return
			}
		}
	}
}

// Takes reports whether the options of the walk take the file at a path inside
// of this one.
func (f File) Takes(inside string) bool {
	return f.rules == nil || f.rules.takesInside(f.ExternalID, inside)
}

// document makes a document of a text that was found in the file.
func (f File) document(t extract.Text, err error) (Document, error) {
	if bad, ok := errors.AsType[*extract.Error](err); ok {
		s := f.skip(bad.Path, bad.Reason)
		s.Unread = bad.Path == ""
		return Document{}, s
	}
	switch {
	case err != nil:
		return Document{}, err
	case t.Path != "" && !fs.ValidPath(t.Path):
		return Document{}, f.skip(t.Path, "has a path that is none; rename it")
	case blank(t.Text) && blank(t.Title):
		s := f.skip(t.Path, "has no text")
		s.Gone = true
		return Document{}, s
	}
	return FromText(path.Join(f.ExternalID, t.Path), t), nil
}

// FromText makes a document of what a file says. What the file says of itself is
// left out as far as it cannot be stored.
func FromText(id string, t extract.Text) Document {
	d := Document{
		ExternalID: id, Source: "file:" + id, Text: t.Text, MIME: t.MIME,
		Title: sentence.Clip(t.Title, maxTitleRunes), Metadata: formatMetadata(t),
	}
	if format, ok := formatByExt(path.Base(id)); ok && t.MIME == "" && t.Format == "" {
		d.MIME = format.mime
	}
	if ragctx.ValidTime("occurred", t.Occurred) == nil { // a mail can be of any year
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

// MetaFormat is the key, in the metadata of a document that was converted, of
// what it was: "pdf", "docx", as [extract.ShortName] has it.
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

// reason is an error's text without the path, which a Skip already names.
func reason(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return err.Error()
}
