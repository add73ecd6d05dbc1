package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
	"github.com/ragctx/ragctx/internal/store"
)

// Suffixes of the name of a database being restored and of the database it replaces.
const (
	restoring = ".restoring-"
	replaced  = ".replaced"
)

// Restore restores the database of a snapshot into a data directory that no process has open; the
// caller holds its lock. The new database is written and verified next to the old one and then
// replaces it in one step. Indexes are removed and rebuilt from the database.
func Restore(ctx context.Context, file, dir string, o store.RestoreOptions) (info store.SnapshotInfo, err error) {
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if err := checkVacant(dir, o.Force); err != nil {
		return info, err
	}
	name := filepath.Join(dir, store.DatabaseName)
	f, err := os.CreateTemp(dir, store.DatabaseName+restoring+"*")
	if err != nil {
		return info, fmt.Errorf("restore: %w", store.DiskError(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()), ignoreGone(os.Remove(f.Name())))
		}
	}()
	if info, err = store.UnpackSnapshot(ctx, file, f, o.Progress); err != nil {
		return info, err
	}
	if err := inOrder(f.Sync, f.Close); err != nil {
		return info, fmt.Errorf("restore: %w", store.DiskError(err))
	}
	if err := verifyDatabase(ctx, f.Name(), info); err != nil {
		return info, fmt.Errorf("restore: %s: %w", file, err)
	}
	if err := inOrder(replaceSteps(name, f.Name())...); err != nil {
		return info, fmt.Errorf("restore: %w", store.DiskError(err))
	}
	return info, nil
}

// checkVacant checks that a restored database may be placed in dir.
func checkVacant(dir string, force bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), store.DatabaseName+restoring): // of an interrupted restore
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("restore: %w", err)
			}
		case e.Name() != store.LockName && !force:
			return fmt.Errorf("restore: %w: the data directory %s is not empty; use another one",
				ragctx.ErrConflict, dir)
		}
	}
	return nil
}

// verifyDatabase checks that an unpacked database is intact and that this program can open it.
func verifyDatabase(ctx context.Context, name string, info store.SnapshotInfo) error {
	known, err := schemaFiles()
	if err != nil {
		return err
	}
	if info.Schema > len(known) {
		return fmt.Errorf("%w: it was written by a newer version of ragctx (schema %d, this program knows %d); use that version",
			ragctx.ErrConflict, info.Schema, len(known))
	}
	db, err := sql.Open("sqlite", dsnPlain(name, "mode=ro", "_pragma=query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return wrap(err)
	}
	if verdict != "ok" {
		return ragctx.Invalid("snapshot", "its database is damaged: %s; use another copy", verdict)
	}
	return nil
}

// replaceSteps returns the steps that replace a database by the file fresh. The old database is kept
// aside until the new one is durable. A crash between two steps leaves one of them, intact; see
// [tidy].
func replaceSteps(name, fresh string) []func() error {
	dir, aside := filepath.Dir(name), name+replaced
	sync := func() error { return atomicfile.OS{}.SyncDir(dir) }
	return []func() error{
		func() error { return settle(name) }, // leftovers of an interrupted restore
		func() error { return os.RemoveAll(filepath.Join(dir, store.IndexName)) },
		func() error { return ignoreGone(os.Remove(name + stateSuffix)) }, // describes the old database
		func() error { return ignoreGone(os.Link(name, aside)) },
		sync,
		// The log of the old database must not be applied to the new one.
		func() error { return ignoreGone(os.Rename(name+"-wal", aside+"-wal")) },
		func() error { return ignoreGone(os.Remove(name + "-shm")) },
		sync,
		func() error { return os.Rename(fresh, name) },
		sync,
		func() error { return ignoreGone(os.Remove(aside + "-wal")) },
		func() error { return ignoreGone(os.Remove(aside)) },
	}
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
