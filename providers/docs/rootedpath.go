package docs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// rootedPath is a path that is opened step by step below a folder, never through a link. A process
// that can write to the folder can replace any checked entry with a link; the opened file is still
// below the folder.
type rootedPath struct {
	base string // a folder configured by the operator
	rel  string // relative to base; "." is base itself
}

var (
	errNoFolder   = errors.New("is no longer a folder")
	errNoFile     = errors.New("is no longer a regular file")
	errReplaced   = errors.New("was replaced while it was opened; ingest it again")
	errNotBeneath = errors.New("is not below an allowed folder")
)

// maxOpenAttempts is the number of attempts to open a file that is replaced during opening.
const maxOpenAttempts = 5

// locate resolves a root. It follows links on the way to the root, unless Within is set: then the
// root must be below one of these folders, without links.
func (o WalkOptions) locate(root string) (rootedPath, error) {
	if len(o.Within) == 0 {
		resolved, err := filepath.EvalSymlinks(root)
		if err != nil {
			return rootedPath{}, err
		}
		return folderOf(resolved, ".")
	}
	for _, base := range o.Within {
		rel, err := filepath.Rel(base, root)
		if err == nil && filepath.IsLocal(rel) {
			return folderOf(base, rel)
		}
	}
	return rootedPath{}, errNotBeneath
}

// folderOf returns a path below base. If base is a file, the path is below the file's folder.
func folderOf(base, rel string) (rootedPath, error) {
	info, err := os.Stat(base)
	if err == nil && rel == "." && !info.IsDir() {
		base, rel = filepath.Split(base)
	}
	return rootedPath{base, rel}, err
}

// path returns the path for display.
func (l rootedPath) path() string { return filepath.Join(l.base, l.rel) }

// Stat returns the file info of a root, opened as [Walk] does.
func (o WalkOptions) Stat(root string) (fs.FileInfo, error) {
	at, err := o.locate(root)
	if err != nil {
		return nil, err
	}
	return at.stat()
}

func (l rootedPath) stat() (fs.FileInfo, error) {
	dir, name, err := l.parent()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		err = errNotBeneath
	}
	return info, err
}

// parent opens the folder that contains the path. The caller closes it.
func (l rootedPath) parent() (dir *os.Root, name string, err error) {
	if l.rel == "." {
		dir, err = os.OpenRoot(l.base)
		return dir, ".", err
	}
	dir, err = rootedPath{l.base, filepath.Dir(l.rel)}.open()
	return dir, filepath.Base(l.rel), err
}

// open opens a folder. The caller closes it.
func (l rootedPath) open() (*os.Root, error) {
	dir, err := os.OpenRoot(l.base)
	if err != nil || l.rel == "." {
		return dir, err
	}
	for name := range strings.SplitSeq(l.rel, string(filepath.Separator)) {
		next, err := openFolder(dir, name)
		_ = dir.Close() // nothing was written
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// read returns the contents of a regular file of at most limit bytes.
func (l rootedPath) read(limit int64) ([]byte, error) {
	dir, name, err := l.parent()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readRegular(dir, name, limit)
}

// openFolder opens a folder below another one, which it never leaves. The caller closes it.
func openFolder(in *os.Root, name string) (*os.Root, error) {
	info, err := in.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errNoFolder
	}
	dir, err := in.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	opened, err := dir.Stat(".")
	if err == nil && !os.SameFile(info, opened) { // perhaps replaced by a link within the same folder
		err = errReplaced
	}
	if err != nil {
		_ = dir.Close() // nothing was written
		return nil, err
	}
	return dir, nil
}

// readRegular returns the contents of a regular file of at most limit bytes. It does not follow
// links, and pipes and devices do not block it.
func readRegular(in *os.Root, name string, limit int64) ([]byte, error) {
	f, err := openRegular(in, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = tooBig(int64(len(b)), limit)
	}
	return b, err
}

func openRegular(in *os.Root, name string) (*os.File, error) {
	for range maxOpenAttempts { // an editor may be saving the file
		info, err := in.Lstat(name)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, errNoFile
		}
		f, err := in.OpenFile(name, os.O_RDONLY|nonblockFlag(), 0)
		if err != nil {
			return nil, err
		}
		opened, err := f.Stat()
		if err == nil && os.SameFile(info, opened) {
			return f, nil
		}
		_ = f.Close() // nothing was written
		if err != nil {
			return nil, err
		}
	}
	return nil, errReplaced
}

// nonblockFlag returns the flag that makes opening a pipe return at once.
func nonblockFlag() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return syscall.O_NONBLOCK
}
