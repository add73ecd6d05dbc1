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

// tempSuffix marks the unfinished files of [WriteFile].
const tempSuffix = ".tmp"

// bufferSize keeps system calls few when rows of about a kilobyte are written.
const bufferSize = 1 << 16

// WriteFile replaces the file name atomically with the output of write. It writes and syncs a
// temporary file in the same directory, renames it and syncs the directory. On an error the old
// file stays and the temporary file is removed. [Clean] removes temporary files that a crash left.
//
// If syncing the directory fails, name has the complete new contents, but a crash may restore the
// old ones. After an error the caller must be able to continue with either.
//
// The directory must exist. Only one goroutine may write a name at a time. Only the owner can read
// the file.
func WriteFile(fsys FS, name string, write func(io.Writer) error) error {
	temp := name + tempSuffix
	err := writeSynced(fsys, temp, write)
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		_ = fsys.Remove(temp) // it may not exist; otherwise Clean removes it later
		return fmt.Errorf("atomicfile: write %s: %w", filepath.Base(name), err)
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("atomicfile: sync directory of %s: %w", filepath.Base(name), err)
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

// ReadFile returns the contents of a file that has at most limit bytes.
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
		return nil, fmt.Errorf("atomicfile: %s is longer than the limit of %d bytes", filepath.Base(name), limit)
	}
	return b, nil
}

// Clean removes the temporary files of interrupted [WriteFile] calls from a directory. It ignores a
// directory that does not exist.
func Clean(fsys FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("atomicfile: clean: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() && IsTemporary(e.Name()) {
			errs = append(errs, fsys.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("atomicfile: clean: %w", err)
	}
	return nil
}

// IsTemporary reports whether name is the name of an unfinished [WriteFile] file. Callers must not
// use such names for files of their own.
func IsTemporary(name string) bool { return strings.HasSuffix(name, tempSuffix) }
