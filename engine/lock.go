package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// lock is the lock on a data directory: on the directory itself where the system supports it, and
// on the lock file in it, which other processes could remove. The operating system releases both
// when the process ends.
type lock struct {
	dir   *os.File // nil if directories cannot be locked
	flock *flock.Flock
}

// Owner describes the process that has a data directory open. It is the content of the lock file.
type Owner struct {
	PID int `json:"pid"`
	// Address is where the owner serves HTTP, host:port; empty if it does not.
	Address string `json:"address,omitempty"`
	// Token is accepted by the server like an admin's API key. Only users who can read the lock
	// file, and so the whole data directory, can read it.
	Token string `json:"token,omitempty"`
	// Certificate is the SHA-256, in hex, of the server's certificate; empty without TLS.
	Certificate string `json:"certificate,omitempty"`
}

// LockedError reports that another process has the data directory open.
type LockedError struct {
	Dir   string
	Owner Owner
}

// Error implements error.
func (e *LockedError) Error() string {
	if e.Owner.PID == 0 {
		return fmt.Sprintf("data directory %s is in use by another process, which its lock file does not name", e.Dir)
	}
	where := ""
	if e.Owner.Address != "" {
		where = " and serves http://" + e.Owner.Address
	}
	return fmt.Sprintf("data directory %s is in use by process %d%s", e.Dir, e.Owner.PID, where)
}

// Unwrap returns [ragctx.ErrUnavailable].
func (e *LockedError) Unwrap() error { return ragctx.ErrUnavailable }

func lockPath(dir string) string { return filepath.Join(dir, store.LockName) }

func acquire(dir string) (*lock, error) {
	held, ok, err := lockDir(dir)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	if !ok {
		return nil, &LockedError{Dir: dir, Owner: readOwner(dir)}
	}
	l := &lock{dir: held, flock: flock.New(lockPath(dir))}
	ok, err = l.flock.TryLock()
	switch {
	case err != nil:
		err = fmt.Errorf("lock data directory: %w", err)
	case !ok: // locked by a version that locks only the file
		err = &LockedError{Dir: dir, Owner: readOwner(dir)}
	default:
		if err = l.write(Owner{PID: os.Getpid()}); err == nil {
			return l, nil
		}
		err = errors.Join(store.DiskError(err), l.flock.Unlock())
	}
	return nil, errors.Join(err, l.closeDir())
}

func (l *lock) closeDir() error {
	if l.dir == nil {
		return nil
	}
	if err := l.dir.Close(); !errors.Is(err, os.ErrClosed) { // closing twice is harmless
		return err
	}
	return nil
}

func readOwner(dir string) Owner {
	var o Owner
	b, err := os.ReadFile(lockPath(dir))
	if err == nil {
		_ = json.Unmarshal(b, &o) // partly written: the address stays unknown
	}
	return o
}

func (l *lock) write(o Owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := os.Chmod(l.flock.Path(), 0o600); err != nil { // created by an earlier version?
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := os.WriteFile(l.flock.Path(), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

// release unlocks the directory. It first clears the owner in the lock file, unless the disk is
// full.
func (l *lock) release() error {
	if err := l.write(Owner{}); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, l.flock.Unlock(), l.closeDir())
	}
	return errors.Join(l.flock.Unlock(), l.closeDir())
}
