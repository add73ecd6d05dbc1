// Package atomicfile writes files atomically: after a crash, a disk failure or a power loss, a file
// has either its old or its new contents.
//
// [WriteFile] replaces a file in one step. [AppendFrame] and [NextFrame] add and verify checksums.
// All functions use an [FS], so that tests can make any single operation fail; see package faultfs.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// FS is the file system interface of this package. Names are paths of the operating system. The
// methods behave like the functions of package os.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	MkdirAll(name string, perm fs.FileMode) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the names in a directory durable. Until then a crash of the machine may undo
	// creations, renames and removals.
	SyncDir(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (fs.FileInfo, error)
	// Sync makes the contents durable.
	Sync() error
}

// OS implements [FS] with the file system of the operating system. Its files have the type
// *os.File.
type OS struct{}

var _ FS = OS{}

// OpenFile implements [FS].
func (OS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err // not f: an interface with a nil *os.File is not nil
	}
	return f, nil
}

// Rename implements [FS].
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements [FS].
func (OS) Remove(name string) error { return os.Remove(name) }

// MkdirAll implements [FS].
func (OS) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }

// ReadDir implements [FS].
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat implements [FS].
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir implements [FS]. It does nothing where directories cannot be synced.
func (OS) SyncDir(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // some file systems do not support it
	}
	return errors.Join(err, d.Close())
}

// MakeDir creates a directory and its missing parents, durably. After an error it removes the
// directories it created, as far as possible, so that the caller can retry.
func MakeDir(fsys FS, dir string, perm fs.FileMode) error {
	var missing []string // from the bottom up
	for d := filepath.Clean(dir); ; d = filepath.Dir(d) {
		_, err := fsys.Stat(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(d) == d {
			return fmt.Errorf("atomicfile: make directory: %w", err)
		}
		missing = append(missing, d)
	}
	if len(missing) == 0 {
		return nil
	}
	err := fsys.MkdirAll(dir, perm)
	for _, d := range missing {
		if err == nil {
			err = fsys.SyncDir(filepath.Dir(d))
		}
	}
	if err == nil {
		return nil
	}
	for _, d := range missing {
		_ = fsys.Remove(d)
	}
	return fmt.Errorf("atomicfile: make directory: %w", err)
}
