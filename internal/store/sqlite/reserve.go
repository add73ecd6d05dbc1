package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store/sqlstore"
)

// reserveSuffix is appended to the database's name for the reserve file.
const reserveSuffix = "-reserve"

// reserve keeps deletes and erasures possible on a full disk. A file occupies some space. On a full
// disk the file is removed, and only writes that free space are allowed until the file fits again
// or the database has free pages.
type reserve struct {
	path string
	size int64 // 0 reserves nothing

	full      atomic.Bool
	mu        sync.Mutex
	checkedAt time.Time
	// freeing is read-locked by operations that free space: allocating the reserve would briefly
	// fill the disk under them.
	freeing sync.RWMutex
}

// spaceCheckInterval is the shortest interval between checks of a full disk.
const spaceCheckInterval = time.Second

// allocate allocates the reserve if somewhat more space is free.
func (r *reserve) allocate() error {
	if st, err := os.Stat(r.path); err == nil && st.Size() == r.size {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	noise := make([]byte, 1<<20) // incompressible, so that no file system stores it in less
	dice := rand.NewChaCha8([32]byte{})
	for done := int64(0); done <= r.size && err == nil; done += int64(len(noise)) {
		_, _ = dice.Read(noise) // never fails
		_, err = f.Write(noise)
	}
	if err == nil {
		err = f.Truncate(r.size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, os.Remove(r.path))
	}
	return err
}

// release releases the reserve.
func (r *reserve) release() {
	r.full.Store(true)
	_ = os.Remove(r.path) // without a reserve nothing can be released
}

// spaceRegained reports whether all writes are allowed again: see [reserve].
func (s *Store) spaceRegained(ctx context.Context) bool {
	r := &s.reserve
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full.Load() {
		return true
	}
	if time.Since(r.checkedAt) < spaceCheckInterval {
		return false
	}
	r.checkedAt = time.Now()
	if r.freeing.TryLock() {
		err := r.allocate()
		if r.freeing.Unlock(); err == nil {
			r.full.Store(false)
			return true
		}
	}
	var free int64
	err := s.View(ctx, func(tx *sqlstore.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`).Scan(&free)
	})
	if err == nil && free >= min(r.size, 1<<20) {
		r.checkedAt = time.Time{} // check again at the next write
		return true
	}
	return false
}

// noSpace reports whether an error means a full disk. SQLite has a separate code for its
// shared-memory file.
func noSpace(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// diskFull records a full disk and releases the reserve.
func (s *Store) diskFull() {
	if s.reserve.size == 0 {
		return
	}
	s.reserve.release()
	s.log.committed() // shortens the log
}

// BeginFreeing implements [store.Space].
func (s *Store) BeginFreeing() (end func()) {
	s.reserve.freeing.RLock()
	return s.reserve.freeing.RUnlock
}

// ReleaseReserve implements [store.Space].
func (s *Store) ReleaseReserve() {
	s.diskFull()
	s.log.restart()
}

// checkSpace rejects writes that free no space while the disk is full.
func (s *Store) checkSpace(ctx context.Context) error {
	if !s.reserve.full.Load() || s.spaceRegained(ctx) {
		return nil
	}
	return fmt.Errorf("%w: the disk of the data directory is full; only deletes and erasures are accepted; reads "+
		"continue", ragctx.ErrNoSpace)
}

// Freeing implements [sqlstore.Database]. If the operation meets a full disk, the reserve is released and
// fn runs again.
func (s *Store) Freeing(fn func() error) error {
	defer s.BeginFreeing()()
	err := fn()
	if errors.Is(err, ragctx.ErrNoSpace) && s.reserve.size > 0 {
		s.ReleaseReserve()
		err = fn()
	}
	return err
}
