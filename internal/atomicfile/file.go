package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tempSuffix marks what a [WriteFile] has not finished.
const tempSuffix = ".tmp"

// bufferSize saves system calls where rows of a kilobyte are written.
const bufferSize = 1 << 16

// WriteFile makes name hold what write writes, or leaves it as it was: the
// contents go to a temporary file beside it, which is synced and then renamed,
// and the directory is synced. On an error the temporary file is removed; what a
// crash leaves of it, [Clean] removes.
//
// If syncing the directory fails, name holds the new contents, whole, but a
// crash may bring the old ones back: after an error a caller that keeps what
// belongs to either is safe.
//
// The directory must exist. Only one goroutine may write a name at a time. The
// file is readable by its owner only.
func WriteFile(fsys FS, name string, write func(io.Writer) error) error {
	temp := name + tempSuffix
	err := writeSynced(fsys, temp, write)
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		_ = fsys.Remove(temp) // may not be there; Clean gets it otherwise
		return fmt.Errorf("durable: write %s: %w", filepath.Base(name), err)
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("durable: sync directory of %s: %w", filepath.Base(name), err)
	}
	return nil
}

func writeSynced(fsys FS, name string, write func(io.Writer) error) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, bufferSize)
	err = write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ReadFile returns the contents of a file of at most limit bytes.
func ReadFile(fsys FS, name string, limit int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("durable: %s is longer than %d bytes", filepath.Base(name), limit)
	}
	return b, nil
}

// Clean removes what interrupted calls of [WriteFile] left in a directory. A
// directory that does not exist is clean.
func Clean(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("durable: clean: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() && IsTemporary(e.Name()) {
			errs = append(errs, fsys.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("durable: clean: %w", err)
	}
	return nil
}

// IsTemporary reports whether a file of that name is an unfinished one of
// [WriteFile]. Callers give their own files other names.
func IsTemporary(name string) bool { return strings.HasSuffix(name, tempSuffix) }
