package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/klauspost/compress/zstd"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// Names in a data directory. Indexes are caches; LockName is the lock file of the process that has
// the directory open.
const (
	DatabaseName = "ragctx.db"
	IndexName    = "index"
	LockName     = "LOCK"
)

// Suffixes of the name of a database being restored and of the database it replaces.
const (
	restoring = ".restoring-"
	replaced  = ".replaced"
)

// RestoreOptions configures [Restore]. The zero value works.
type RestoreOptions struct {
	// Force replaces the contents of the data directory.
	Force bool
	// Progress is called with the bytes done and the total.
	Progress func(done, total int64)
}

// ReadSnapshot verifies a complete snapshot file and returns its header.
func ReadSnapshot(ctx context.Context, file string) (SnapshotInfo, error) {
	return UnpackSnapshot(ctx, file, io.Discard, func(int64, int64) {})
}

// Restore restores the database of a snapshot into a data directory that no process has open; the
// caller holds its lock. The new database is written and verified next to the old one and then
// replaces it in one step. Indexes are removed and rebuilt from the database.
func Restore(ctx context.Context, file, dir string, o RestoreOptions) (info SnapshotInfo, err error) {
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if err := checkVacant(dir, o.Force); err != nil {
		return info, err
	}
	name := filepath.Join(dir, DatabaseName)
	f, err := os.CreateTemp(dir, DatabaseName+restoring+"*")
	if err != nil {
		return info, fmt.Errorf("restore: %w", DiskError(err))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()), ignoreGone(os.Remove(f.Name())))
		}
	}()
	if info, err = UnpackSnapshot(ctx, file, f, o.Progress); err != nil {
		return info, err
	}
	if err := inOrder(f.Sync, f.Close); err != nil {
		return info, fmt.Errorf("restore: %w", DiskError(err))
	}
	if err := verifyDatabase(ctx, f.Name(), info); err != nil {
		return info, fmt.Errorf("restore: %s: %w", file, err)
	}
	if err := inOrder(replaceSteps(name, f.Name())...); err != nil {
		return info, fmt.Errorf("restore: %w", DiskError(err))
	}
	return info, nil
}

// checkVacant checks that a restored database may be placed in dir.
func checkVacant(dir string, force bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), DatabaseName+restoring): // of an interrupted restore
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
				return fmt.Errorf("restore: %w", err)
			}
		case e.Name() != LockName && !force:
			return fmt.Errorf("restore: %w: the data directory %s is not empty; use another one, "+
				"or force the replacement of its contents", ragctx.ErrConflict, dir)
		}
	}
	return nil
}

// badSnapshot returns the error for an invalid snapshot file.
func badSnapshot(file, format string, args ...any) error {
	return ragctx.Invalid("snapshot", "%s %s; use another copy", file, fmt.Sprintf(format, args...))
}

// UnpackSnapshot writes the database of a snapshot to w. It fails if any byte of the file has changed.
func UnpackSnapshot(ctx context.Context, file string, w io.Writer, progress func(done, total int64)) (info SnapshotInfo, err error) {
	f, err := os.Open(file)
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", ragctx.Invalid("snapshot", "%v", err))
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", err)
	}
	size := st.Size() - sha256.Size
	sum := sha256.New()
	read := &progressReader{ctx: ctx, r: io.LimitReader(f, max(size, 0)), report: func(n int64) { progress(n, size) }}
	in := bufio.NewReaderSize(io.TeeReader(read, sum), 1<<20)
	if info, err = readHeader(in, file); err != nil {
		return info, err
	}
	if err := inflate(ctx, in, w, file, info); err != nil {
		return info, err
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // the checksum covers the rest
		return info, fmt.Errorf("snapshot: %w", err)
	}
	trailer := make([]byte, sha256.Size)
	if _, err := io.ReadFull(f, trailer); err != nil || !bytes.Equal(trailer, sum.Sum(nil)) {
		return info, badSnapshot(file, "is damaged: its checksum differs")
	}
	return info, nil
}

func readHeader(in *bufio.Reader, file string) (info SnapshotInfo, err error) {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(in, magic); err != nil || string(magic) != snapshotMagic {
		return info, badSnapshot(file, "is not a ragctx snapshot")
	}
	line, err := io.ReadAll(&headerReader{in, maxHeader})
	if err != nil || json.Unmarshal(line, &info) != nil {
		return info, badSnapshot(file, "is damaged: its header cannot be read")
	}
	if info.Format > SnapshotFormat {
		return info, fmt.Errorf("snapshot: %w: %s was written by a newer version of ragctx; use that version", ragctx.ErrConflict, file)
	}
	return info, nil
}

// headerReader reads one line of limited length.
type headerReader struct {
	r    *bufio.Reader
	left int
}

// Read implements [io.Reader].
func (h *headerReader) Read(p []byte) (int, error) {
	b, err := h.r.ReadByte()
	switch {
	case err != nil:
		return 0, io.ErrUnexpectedEOF
	case b == '\n':
		return 0, io.EOF
	case h.left == 0:
		return 0, bufio.ErrTooLong
	}
	h.left--
	p[0] = b
	return 1, nil
}

// inflate decompresses exactly info.Bytes bytes to w.
func inflate(ctx context.Context, in io.Reader, w io.Writer, file string, info SnapshotInfo) error {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return badSnapshot(file, "is damaged: %v", err)
	}
	defer z.Close()
	out := &errorWriter{w: w}
	n, err := io.Copy(out, io.LimitReader(z, info.Bytes+1))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.err != nil:
		return fmt.Errorf("snapshot: %w", DiskError(out.err))
	case err != nil:
		return badSnapshot(file, "is damaged: %v", err)
	case n != info.Bytes:
		return badSnapshot(file, "is damaged: it does not contain the expected %d bytes", info.Bytes)
	}
	return nil
}

// errorWriter distinguishes write errors from read errors.
type errorWriter struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (o *errorWriter) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// verifyDatabase checks that an unpacked database is intact and that this program can open it.
func verifyDatabase(ctx context.Context, name string, info SnapshotInfo) error {
	known, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	if info.Schema > len(known) {
		return fmt.Errorf("%w: it was written by a newer version of ragctx (schema %d, this program knows %d); use that version",
			ragctx.ErrConflict, info.Schema, len(known))
	}
	db, err := sql.Open("sqlite", dsnPlain(name, "mode=ro", "_pragma=query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	var verdict string
	if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&verdict); err != nil {
		return wrap(err)
	}
	if verdict != "ok" {
		return ragctx.Invalid("snapshot", "its database is damaged: %s; use another copy", verdict)
	}
	return nil
}

// replaceSteps returns the steps that replace a database by the file fresh. The old database is kept
// aside until the new one is durable. A crash between two steps leaves one of them, intact; see
// [tidy].
func replaceSteps(name, fresh string) []func() error {
	dir, aside := filepath.Dir(name), name+replaced
	sync := func() error { return atomicfile.OS{}.SyncDir(dir) }
	return []func() error{
		func() error { return settle(name) }, // leftovers of an interrupted restore
		func() error { return os.RemoveAll(filepath.Join(dir, IndexName)) },
		func() error { return ignoreGone(os.Remove(name + stateSuffix)) }, // describes the old database
		func() error { return ignoreGone(os.Link(name, aside)) },
		sync,
		// The log of the old database must not be applied to the new one.
		func() error { return ignoreGone(os.Rename(name+"-wal", aside+"-wal")) },
		func() error { return ignoreGone(os.Remove(name + "-shm")) },
		sync,
		func() error { return os.Rename(fresh, name) },
		sync,
		func() error { return ignoreGone(os.Remove(aside + "-wal")) },
		func() error { return ignoreGone(os.Remove(aside)) },
	}
}

// inOrder runs steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// DiskError wraps the error of a full disk in its sentinel.
func DiskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %v", ragctx.ErrNoSpace, err)
	}
	return err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func ignoreClosed(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}
