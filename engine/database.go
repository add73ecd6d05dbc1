package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/store/postgres"
	"github.com/ragctx/ragctx/internal/store/sqlite"
)

// This file alone names the implementations of the store.

// openDatabase opens the database of the data directory, or the one that the options name.
func (o Options) openDatabase(ctx context.Context, failed func(*ragctx.RepairError)) (store.Store, error) {
	if o.Store != "" {
		return o.openServer(ctx, failed)
	}
	s, err := sqlite.Open(ctx, filepath.Join(o.Dir, store.DatabaseName), sqlite.Options{
		Now: o.Now, KeepVersions: o.KeepVersions, Reserve: o.Reserve, AcceptLoss: o.AcceptLoss, Failed: failed,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// openServer opens a database of a server.
func (o Options) openServer(ctx context.Context, failed func(*ragctx.RepairError)) (store.Store, error) {
	if _, err := os.Stat(filepath.Join(o.Dir, store.DatabaseName)); err == nil {
		return nil, fmt.Errorf("%w: the data directory %s has a database of its own; use another directory, or move its contents: "+
			"ragctx snapshot FILE, then ragctx restore FILE --store URL", ragctx.ErrConflict, o.Dir)
	}
	if err := store.RemoveUnfinished(o.Dir); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if o.AcceptLoss {
		if err := os.RemoveAll(filepath.Join(o.Dir, store.IndexName)); err != nil { // indexes may contain lost writes
			return nil, fmt.Errorf("open store: %w", err)
		}
	}
	s, err := postgres.Open(ctx, o.Store, postgres.Options{
		Now: o.Now, KeepVersions: o.KeepVersions, Dir: o.Dir, Follow: o.Follow, AcceptLoss: o.AcceptLoss, Failed: failed,
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// restoreDatabase creates the contents of a data directory, or of a server's database, from a snapshot.
func restoreDatabase(ctx context.Context, file, dir string, o store.RestoreOptions) (store.SnapshotInfo, error) {
	if o.Store == "" {
		return sqlite.Restore(ctx, file, dir, o)
	}
	info, err := postgres.Restore(ctx, file, dir, o)
	if err != nil {
		return info, err
	}
	return info, os.RemoveAll(filepath.Join(dir, store.IndexName))
}
