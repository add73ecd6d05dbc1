package engine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/store"
)

// vanished deletes the documents of a root that this ingest did not meet and that
// are gone. What is there but was not taken this time keeps its documents.
func (in *ingester) vanished(ctx context.Context, root Root, seen map[string]bool) error {
	o := store.ListOptions{Limit: MaxPage, Prefix: root.Prefix(), Root: root.Name()}
	for {
		page, err := in.sink.ListDocuments(ctx, in.opts.Namespace, o)
		if err != nil {
			return fmt.Errorf("look for vanished files: %w", err)
		}
		for _, d := range page {
			o.After = d.ID
			if met(seen, d.ID) || !root.Gone(d.ID) {
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

// met reports whether a document came from one of the entries with these ids.
func met(entries map[string]bool, id string) bool {
	for i := range len(id) {
		if id[i] == '/' && entries[id[:i]] {
			return true
		}
	}
	return entries[id]
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
