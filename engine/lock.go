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

// lock is the hold on a data directory: on the directory itself, where that can be, and on
// the lock file in it, which anybody can remove. The operating system drops both when the
// process ends, however it ends.
type lock struct {
	dir   *os.File // nil where a directory cannot be locked
	flock *flock.Flock
}

// Owner says who has a data directory open. It is the content of the lock file.
type Owner struct {
	PID int `json:"pid"`
	// Address is where the owner serves HTTP, host:port; empty if it does not.
	Address string `json:"address,omitempty"`
	// Token is a key that the server takes besides API keys, as that of an admin: who
	// can read the lock file could read and write everything beside it.
	Token string `json:"token,omitempty"`
	// Certificate is the SHA-256, in hex, of the certificate that the server shows;
	// empty if it does not use TLS.
	Certificate string `json:"certificate,omitempty"`
}

// LockedError says that another process has the data directory open.
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
	case !ok: // by a version that locks only the file
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
		_ = json.Unmarshal(b, &o) // half-written: the address is then unknown
	}
	return o
}

func (l *lock) write(o Owner) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := os.Chmod(l.flock.Path(), 0o600); err != nil { // an earlier version may have made it
		return fmt.Errorf("write lock file: %w", err)
	}
	if err := os.WriteFile(l.flock.Path(), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write lock file: %w", err)
	}
	return nil
}

// release gives the directory free. The lock file says then that nobody has it, unless the
// disk is too full for that.
func (l *lock) release() error {
	if err := l.write(Owner{}); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, l.flock.Unlock(), l.closeDir())
	}
	return errors.Join(l.flock.Unlock(), l.closeDir())
}

// Announce writes the address at which this process serves the data directory into its
// lock file, where commands look for it, with a token for them. certificate is as in
// [Owner].
func (e *Engine) Announce(address, certificate string) error {
	return e.lock.write(Owner{PID: os.Getpid(), Address: address, Token: e.keys.localToken(), Certificate: certificate})
}
