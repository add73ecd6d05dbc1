package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ragctx/ragctx/store"
)

// Snapshot writes one state of the data directory into a new file, while reads
// and writes go on. [Restore] makes a data directory of it.
func (e *Engine) Snapshot(ctx context.Context, path string, o store.SnapshotOptions) (store.SnapshotInfo, error) {
	if err := managesAll(ctx); err != nil {
		return store.SnapshotInfo{}, err
	}
	return e.store.Snapshot(ctx, path, o)
}

// Restore makes a data directory of a snapshot, which is verified from end to
// end first. A directory that is not empty is refused unless o.Force is set; what
// it holds is then replaced in one step. If another process has it open, the
// error is a [*LockedError].
func Restore(ctx context.Context, file, dir string, o store.RestoreOptions) (info store.SnapshotInfo, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return info, fmt.Errorf("data directory: %w", err)
	}
	l, err := acquire(dir)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	return store.Restore(ctx, file, dir, o)
}

// WriteSnapshot writes what [Engine.Snapshot] does to w. The data directory needs
// room for an uncompressed copy meanwhile.
func (e *Engine) WriteSnapshot(ctx context.Context, w io.Writer, o store.SnapshotOptions) (store.SnapshotInfo, error) {
	if err := managesAll(ctx); err != nil {
		return store.SnapshotInfo{}, err
	}
	return e.store.WriteSnapshot(ctx, w, e.opts.Dir, o)
}
