//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package engine

import (
	"errors"
	"os"
	"syscall"
)

// lockDir locks a directory, which cannot be removed while it holds the database. ok is false if
// it is locked by another process. held is nil on file systems that do not support it.
func lockDir(dir string) (held *os.File, ok bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) //nolint:gosec // a descriptor fits
	switch {
	case err == nil:
		return f, true, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, false, f.Close()
	}
	return nil, true, f.Close()
}
