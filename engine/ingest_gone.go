package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// vanished deletes the documents of a folder that this ingest did not meet and
// whose files are gone. Files that are there but were not taken this time keep
// their documents.
func (in *ingester) vanished(ctx context.Context, root, prefix string, seen map[string]bool) error {
	ignored := func(string) bool { return false }
	if !in.opts.Walk.NoIgnore {
		ignored = docs.Ignored(root)
	}
	o := store.ListOptions{Limit: MaxPage, Prefix: prefix, Root: root}
	for {
		page, err := in.sink.ListDocuments(ctx, in.opts.Namespace, o)
		if err != nil {
			return fmt.Errorf("look for vanished files: %w", err)
		}
		for _, d := range page {
			o.After = d.ID
			rel := strings.TrimPrefix(d.ID, prefix)
			if seen[d.ID] || !lost(filepath.Join(root, filepath.FromSlash(rel))) && !ignored(rel) {
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

// moved puts a document whose id was ingested from another root. If that is
// gone, the document has moved with it; if it is there, or not a place of this
// machine, the id stays with it.
func (in *ingester) moved(ctx context.Context, d docs.Document, root string, conflict error) (store.Put, error) {
	found, err := in.sink.ListDocuments(ctx, in.opts.Namespace, store.ListOptions{Prefix: d.ExternalID, Limit: 1})
	switch {
	case err != nil:
		return store.Put{}, err
	case len(found) == 0 || found[0].ID != d.ExternalID:
		return store.Put{}, conflict
	}
	if old := found[0].Root; !filepath.IsAbs(old) || !missing(old) {
		return store.Put{}, otherRoot(old)
	}
	if err := in.sink.DeleteDocument(ctx, in.opts.Namespace, d.ExternalID); err != nil && !isNotFound(err) {
		return store.Put{}, err
	}
	put, err := in.sink.PutDocument(ctx, in.opts.Namespace, d, root)
	put.Status = store.Replaced
	return put, err
}

// otherRoot is the conflict of two roots over an id.
func otherRoot(old string) error {
	return fmt.Errorf("%w: a file with the same id was ingested from %s; give this one another --prefix, or another namespace",
		ragctx.ErrConflict, old)
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
