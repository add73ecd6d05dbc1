package store

import (
	"context"
	"database/sql"
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
)

// DefaultReserve is how many bytes a server reserves for deletes on a full disk.
const DefaultReserve = 8 << 20

// reserveSuffix follows the name of the database in that of the file that reserves space.
const reserveSuffix = "-reserve"

// reserve keeps deletes and erasures possible on a full disk. A file takes up some space. When
// the disk is full that file goes, and from then on only what makes room is written, until
// there is space for the file again, or in the database itself.
type reserve struct {
	path string
	size int64 // 0 reserves nothing

	full   atomic.Bool
	mu     sync.Mutex
	looked time.Time
	// making is held for reading by what makes room: taking up the space would for a moment
	// fill the disk below it.
	making sync.RWMutex
}

// lookForRoomEvery bounds how often a full disk is looked at again.
const lookForRoomEvery = time.Second

// hold takes up the space, if there is somewhat more.
func (r *reserve) hold() error {
	if st, err := os.Stat(r.path); err == nil && st.Size() == r.size {
		return nil
	}
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	noise := make([]byte, 1<<20) // which no file system stores in less
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

// spend gives the space free.
func (r *reserve) spend() {
	r.full.Store(true)
	_ = os.Remove(r.path) // where there is none, nothing is to be had
}

// regained looks whether anything may be written again: see [reserve].
func (s *Store) regained(ctx context.Context) bool {
	r := &s.reserve
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.full.Load() {
		return true
	}
	if time.Since(r.looked) < lookForRoomEvery {
		return false
	}
	r.looked = time.Now()
	if r.making.TryLock() {
		err := r.hold()
		if r.making.Unlock(); err == nil {
			r.full.Store(false)
			return true
		}
	}
	var free int64
	err := s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`).Scan(&free)
	})
	if err == nil && free >= min(r.size, 1<<20) {
		r.looked = time.Time{} // it is worth looking for the next write as well
		return true
	}
	return false
}

// noSpace reports whether an error says that the disk is full. SQLite has an error of its own
// for the file by which its connections share memory.
func noSpace(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// diskFull notes that the disk is full.
func (s *Store) diskFull() {
	if s.reserve.size == 0 {
		return
	}
	s.reserve.spend()
	s.log.committed() // for a short log
}

// MakingRoom keeps the reserve from being taken up again until end is called. It is for what
// makes room beside the database, and may be nested.
func (s *Store) MakingRoom() (end func()) {
	s.reserve.making.RLock()
	return s.reserve.making.RUnlock
}

// MakeRoom gives the reserve free for who meets a full disk beside the database; from then on
// only what makes room is written.
func (s *Store) MakeRoom() {
	s.diskFull()
	s.log.makeRoom()
}

// mayWrite refuses what makes no room while the disk is full.
func (s *Store) mayWrite(ctx context.Context) error {
	if !s.reserve.full.Load() || s.regained(ctx) {
		return nil
	}
	return fmt.Errorf("%w: the disk of the data directory is full; only what makes room is written, deletes and erasures; reads go on", ragctx.ErrNoSpace)
}

// freeing is doIn of the writer for what makes room. fn may run a second time: the first to
// meet the full disk has the reserve spent for it.
func (s *Store) freeing(ctx context.Context, ns int64, p Priority, fn func(context.Context, *sql.Tx) error) error {
	return s.withReserve(func() error { return s.write.doIn(ctx, ns, p|frees, fn) })
}

// withReserve does what makes room, and once more with the reserve where it meets a full disk.
func (s *Store) withReserve(fn func() error) error {
	defer s.MakingRoom()()
	err := fn()
	if errors.Is(err, ragctx.ErrNoSpace) && s.reserve.size > 0 {
		s.MakeRoom()
		err = fn()
	}
	return err
}
