package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/docs/extract"
)

// PutFile is [Documents.Put] for a file, such as a PDF or a web page. d has no text; its MIME
// is the declared type, "" derives it from the id's extension. Other fields of d override what the
// file declares. A file that cannot be read, or holds several documents, is [ragctx.ErrInvalid] for
// the field body.
func (e Documents) PutFile(
	ctx context.Context, namespace string, d ragctx.Document, data []byte, root string,
) (store.Put, error) {
	return e.If(store.Condition{}).PutFile(ctx, namespace, d, data, root)
}

// Parse yields the documents in a file as they would be stored: one, or several of an archive
// or a mail, with ids that end in a slash and the inner path. d is as in [Documents.PutFile]. With an
// error the document has only its id; the error concerns that document only, unless ctx ended.
func (e Documents) Parse(ctx context.Context, d ragctx.Document, data []byte) iter.Seq2[ragctx.Document, error] {
	return documentsIn(ctx, e.opts.Extract, extract.File{Name: d.ExternalID, MIME: d.MIME, Data: data},
		extract.Options{}, d)
}

// fromFile returns d completed from a file.
func (e *core) fromFile(ctx context.Context, d ragctx.Document, data []byte) (ragctx.Document, error) {
	e.priority.yield(ctx)
	found := 0
	out := d
	for f, err := range e.Documents().Parse(ctx, d, data) {
		found++
		switch {
		case err == nil && f.ExternalID == d.ExternalID && found == 1:
			out = f
		case err == nil || isInside(err):
			return d, ragctx.Invalid("body",
				"holds several documents where one is expected; send the file in a form to POST /v1/documents:bulk")
		default:
			return d, err
		}
	}
	if found == 0 {
		return d, ragctx.Invalid("body", "holds no documents")
	}
	return out, nil
}

// isInside reports whether an error concerns a file inside another one.
func isInside(err error) bool {
	_, ok := errors.AsType[*insideError](err)
	return ok
}

// insideError is the error of a file inside another one.
type insideError struct {
	path string
	err  error
}

// Error implements error.
func (e *insideError) Error() string { return e.err.Error() }

// Unwrap returns the underlying error.
func (e *insideError) Unwrap() error { return e.err }

// documentsIn yields the documents in a file. d has their id and the fields that override the
// file's. An [*insideError] concerns one of several documents; any other error is the last.
func documentsIn(
	ctx context.Context, x docs.ExtractFunc, file extract.File, o extract.Options, d ragctx.Document,
) iter.Seq2[ragctx.Document, error] {
	return func(yield func(ragctx.Document, error) bool) {
		for t, err := range x.Texts(ctx, file, o) {
			at := t.Path
			if bad, ok := errors.AsType[*extract.Error](err); ok {
				err = ragctx.Invalid("body", "%s", bad.Reason)
				if at = bad.Path; at != "" {
					err = &insideError{at, err}
				}
			}
			if !yield(documentOf(t, file.MIME, at, d), err) || err != nil && !isInside(err) {
				return
			}
		}
	}
}

// documentOf returns the document of a text at a path inside a file of the declared type.
func documentOf(t extract.Text, declared, at string, d ragctx.Document) ragctx.Document {
	id := d.ExternalID
	if at != "" {
		id += "/" + at
	}
	out := docs.FromText(id, t)
	if at == "" && t.MIME == "" && t.Format == "" { // the text is the file itself
		media, _, _ := strings.Cut(declared, ";")
		out.MIME = cmp.Or(strings.TrimSpace(media), out.MIME)
	}
	return overlay(d, out)
}

// overlay returns the file's document f with the caller's fields of d on top.
func overlay(d, f ragctx.Document) ragctx.Document {
	f.Source, f.Tags, f.Chunk = d.Source, d.Tags, d.Chunk
	f.Title = cmp.Or(d.Title, f.Title)
	if !d.Occurred.IsZero() {
		f.Occurred = d.Occurred
	}
	if len(d.Metadata) > 0 {
		meta := maps.Clone(f.Metadata)
		if meta == nil {
			meta = make(map[string]any, len(d.Metadata))
		}
		maps.Copy(meta, d.Metadata)
		f.Metadata = meta
	}
	return f
}

// convert returns d with its text converted, if its MIME type is one that is not stored as it is:
// a web page, a notebook, a mail.
func (e *core) convert(ctx context.Context, d ragctx.Document) (ragctx.Document, error) {
	media, _, _ := strings.Cut(d.MIME, ";")
	if !extract.Converts(media) || d.Text == "" {
		return d, nil
	}
	d.MIME = media // the text is decoded, so its charset no longer applies
	out, err := e.fromFile(ctx, d, []byte(d.Text))
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok && f.Field == "body" {
		err = ragctx.Invalid("text", "%s", f.Problem)
	}
	if err != nil {
		return d, err
	}
	return out, docs.Validate(out, docs.Options{})
}
