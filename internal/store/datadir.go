package store

import "github.com/ragctx/ragctx"

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

// SnapshotTempPrefix begins the names of the temporary files of snapshots for slow readers. Earlier
// versions used directories of such names.
const SnapshotTempPrefix = ".ragctx-snapshot-"
