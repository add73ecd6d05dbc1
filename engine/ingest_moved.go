package engine

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// putMoved puts a document with an id that was ingested from another source. If that source is gone, the
// document moves to this one. If it still exists, or is not on this machine, it keeps the id.
func (in *ingester) putMoved(ctx context.Context, d ragctx.Document, root string, conflict error) (store.Put, error) {
	found, err := in.sink.List(ctx, in.opts.Namespace, store.ListOptions{Prefix: d.ExternalID, Limit: 1})
	switch {
	case err != nil:
		return store.Put{}, err
	case len(found) == 0 || found[0].ID != d.ExternalID:
		return store.Put{}, conflict
	}
	if old := found[0].Root; !rootGone(old) {
		return store.Put{}, sourceConflict(old)
	}
	old := store.FileState{ID: d.ExternalID, Root: found[0].Root, Version: found[0].Version}
	if err := in.sink.DeleteIfVersion(ctx, in.opts.Namespace, old); err != nil && !isNotFound(err) {
		return store.Put{}, err
	}
	put, err := in.sink.Put(ctx, in.opts.Namespace, d, root)
	put.Status = store.Replaced
	return put, err
}

// sourceConflict returns the conflict of two sources over an id.
func sourceConflict(old string) error {
	return fmt.Errorf("%w: a file with the same id was ingested from %s; give this one another --prefix, or another namespace",
		ragctx.ErrConflict, old)
}
