package faultfs

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ragctx/ragctx/internal/atomicfile"
)

// OpenFile implements [atomicfile.FS]. Writes always append.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (atomicfile.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	op := Open
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		op = Create
	}
	if _, _, err := f.happens(op, name); err != nil {
		return nil, err
	}
	n := f.files[name]
	switch {
	case f.dirs[name]:
		return nil, pathError(op, name, syscall.EISDIR)
	case n == nil && (flag&os.O_CREATE == 0 || !f.dirs[filepath.Dir(name)]):
		return nil, pathError(op, name, fs.ErrNotExist)
	case n != nil && flag&os.O_EXCL != 0:
		return nil, pathError(op, name, fs.ErrExist)
	case n == nil:
		n = &node{}
		f.files[name] = n
	case flag&os.O_TRUNC != 0:
		n.data = nil
	}
	return &file{fs: f, node: n, name: name, life: f.life}, nil
}

// Rename implements [atomicfile.FS].
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	effect, strikes, err := f.happens(Rename, from)
	n := f.files[from]
	switch {
	case strikes && effect == Tear && n != nil:
		half := slices.Clone(n.data[:len(n.data)/2])
		f.files[to] = &node{data: half, synced: half}
		delete(f.files, from)
		return err
	case strikes || err != nil:
		return err
	case n == nil || !f.dirs[filepath.Dir(to)]:
		return pathError(Rename, from, fs.ErrNotExist)
	}
	f.files[to] = n
	delete(f.files, from)
	return nil
}

// Remove implements [atomicfile.FS].
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, strikes, err := f.happens(Remove, name); strikes || err != nil {
		return err
	}
	switch {
	case f.dirs[name] && len(f.children(name)) > 0:
		return pathError(Remove, name, syscall.ENOTEMPTY)
	case f.dirs[name]:
		delete(f.dirs, name)
	case f.files[name] == nil:
		return pathError(Remove, name, fs.ErrNotExist)
	}
	delete(f.files, name)
	return nil
}

// MkdirAll implements [atomicfile.FS].
func (f *FS) MkdirAll(name string, _ fs.FileMode) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, _, err := f.happens(Mkdir, name); err != nil {
		return err
	}
	for ; !f.dirs[name]; name = filepath.Dir(name) {
		if f.files[name] != nil {
			return pathError(Mkdir, name, syscall.ENOTDIR)
		}
		f.dirs[name] = true
	}
	return nil
}

// ReadDir implements [atomicfile.FS].
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, _, err := f.happens(List, name); err != nil {
		return nil, err
	}
	if !f.dirs[name] {
		return nil, pathError(List, name, fs.ErrNotExist)
	}
	return f.children(name), nil
}

func (f *FS) children(dir string) (entries []fs.DirEntry) {
	for name, n := range f.files {
		if filepath.Dir(name) == dir {
			entries = append(entries, fs.FileInfoToDirEntry(info{filepath.Base(name), int64(len(n.data)), 0o600}))
		}
	}
	for name := range f.dirs {
		if filepath.Dir(name) == dir && name != dir {
			entries = append(entries, fs.FileInfoToDirEntry(info{filepath.Base(name), 0, fs.ModeDir | 0o700}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// Stat implements [atomicfile.FS].
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, _, err := f.happens(Stat, name); err != nil {
		return nil, err
	}
	if f.dirs[name] {
		return info{filepath.Base(name), 0, fs.ModeDir | 0o700}, nil
	}
	if n := f.files[name]; n != nil {
		return info{filepath.Base(name), int64(len(n.data)), 0o600}, nil
	}
	return nil, pathError(Stat, name, fs.ErrNotExist)
}

// SyncDir implements [atomicfile.FS].
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir = filepath.Clean(dir)
	if _, strikes, err := f.happens(SyncDir, dir); strikes || err != nil {
		return err
	}
	if !f.dirs[dir] {
		return pathError(SyncDir, dir, fs.ErrNotExist)
	}
	for name := range f.syncedFiles {
		if filepath.Dir(name) == dir {
			put(f.syncedFiles, name, f.files[name])
		}
	}
	for name, n := range f.files {
		if filepath.Dir(name) == dir {
			f.syncedFiles[name] = n
		}
	}
	for _, known := range []map[string]bool{f.syncedDirs, f.dirs} {
		for name := range known {
			if filepath.Dir(name) == dir {
				f.syncedDirs[name] = f.dirs[name]
			}
		}
	}
	return nil
}

// file is an open file of an FS.
type file struct {
	fs   *FS
	node *node
	name string
	at   int
	life int
}

// happens calls [FS.happens] unless the file was opened before a crash. The caller holds the mutex
// of the file system.
func (f *file) happens(op Op) (Effect, bool, error) {
	if f.life != f.fs.life {
		return 0, false, pathError(op, f.name, ErrCrashed)
	}
	return f.fs.happens(op, f.name)
}

func (f *file) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n, err := f.readAt(p, f.at)
	f.at += n
	if n > 0 {
		return n, nil
	}
	return n, err
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.readAt(p, int(off))
}

func (f *file) readAt(p []byte, off int) (int, error) {
	effect, strikes, err := f.happens(Read)
	if err != nil {
		return 0, err
	}
	if off < 0 || off > len(f.node.data) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[off:])
	if strikes && effect == Flip && n > 0 {
		p[n/2] ^= 0x10
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	effect, strikes, err := f.happens(Write)
	if err != nil && !(strikes && effect == Short) {
		return 0, err
	}
	if err != nil {
		p = p[:len(p)/2]
	}
	f.node.data = append(slices.Clip(f.node.data), p...) // a copy: synced may share the old one
	return len(p), err
}

func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if _, strikes, err := f.happens(Sync); strikes || err != nil {
		return err
	}
	f.node.synced = slices.Clone(f.node.data)
	return nil
}

func (f *file) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if _, _, err := f.happens(Stat); err != nil {
		return nil, err
	}
	return info{filepath.Base(f.name), int64(len(f.node.data)), 0o600}, nil
}

func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	_, _, err := f.happens(Close)
	return err
}

// info describes a file or directory.
type info struct {
	name string
	size int64
	mode fs.FileMode
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
