package engine

import (
	"context"
	"path/filepath"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// This file alone names the implementation of the store.

// openDatabase opens the database of the data directory.
func (o Options) openDatabase(ctx context.Context, failed func(*ragctx.RepairError)) (store.Store, error) {
	s, err := sqlite.Open(ctx, filepath.Join(o.Dir, store.DatabaseName), sqlite.Options{
		Now: o.Now, KeepVersions: o.KeepVersions, Reserve: o.Reserve, AcceptLoss: o.AcceptLoss, Failed: failed,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// restoreDatabase creates the contents of a data directory from a snapshot.
func restoreDatabase(ctx context.Context, file, dir string, o store.RestoreOptions) (store.SnapshotInfo, error) {
	return sqlite.Restore(ctx, file, dir, o)
}
