package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
)

// Names in a data directory. Indexes are caches; LockName is the lock file of the process that has
// the directory open.
const (
	DatabaseName = "ragctx.db"
	IndexName    = "index"
	LockName     = "LOCK"
)

// DefaultReserve is the number of bytes that a server reserves for deletes on a full disk; see [Space].
const DefaultReserve = 8 << 20

// LostError reports that a data directory has lost acknowledged writes, and the remedies.
type LostError struct{ What string }

// Error implements error.
func (e *LostError) Error() string {
	return "the data directory has lost acknowledged writes: " + e.What +
		"; put the missing files back, restore a snapshot (ragctx restore FILE --force), " +
		"or continue with the remaining data (ragctx serve --accept-loss)"
}

// Unwrap returns [ragctx.ErrUnavailable].
func (e *LostError) Unwrap() error { return ragctx.ErrUnavailable }

// SnapshotTempPrefix begins the names of the temporary files and folders of snapshots.
const SnapshotTempPrefix = ".ragctx-snapshot-"

// RemoveUnfinished removes the temporary files of snapshots, and those whose names have another prefix, that a crash has
// left in a data directory: they are as large as the database and contain data that was erased since. The caller holds
// the directory's lock.
func RemoveUnfinished(dir string, prefixes ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	prefixes = append(prefixes, SnapshotTempPrefix)
	for _, e := range entries {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(e.Name(), p) }) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("remove interrupted files: %w", err)
			}
		}
	}
	return nil
}
