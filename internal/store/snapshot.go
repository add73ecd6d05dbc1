package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// RestoreOptions configures the restoration of a snapshot. The zero value works.
type RestoreOptions struct {
	// Force replaces the contents of the data directory or of the database.
	Force bool
	// Progress is called with the bytes done and the total.
	Progress func(done, total int64)
	// Store is the URL of the PostgreSQL database to fill; "" is a file in the data directory.
	Store string
}

// SaveSnapshot writes one consistent state of a database into a new file at path, concurrently with
// reads and writes. It does not replace an existing file.
func SaveSnapshot(ctx context.Context, from Snapshots, path string, o SnapshotOptions) (info SnapshotInfo, err error) {
	if _, err := os.Lstat(path); err == nil {
		return info, fmt.Errorf("snapshot: %w: %s exists; name another file", ragctx.ErrConflict, path)
	}
	err = atomicfile.WriteFile(atomicfile.OS{}, path, func(w io.Writer) (err error) {
		info, err = from.WriteSnapshot(ctx, w, o)
		return err
	})
	return info, DiskError(err)
}

// ReadSnapshot verifies a complete snapshot file and returns its header.
func ReadSnapshot(ctx context.Context, file string) (SnapshotInfo, error) {
	return UnpackSnapshot(ctx, file, io.Discard, func(int64, int64) {})
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

// DiskError wraps the error of a full disk in its sentinel.
func DiskError(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %v", ragctx.ErrNoSpace, err)
	}
	return err
}

// A snapshot file is the line snapshotMagic, a line of JSON (SnapshotInfo), a zstd stream of the
// database in the form of its store, and the SHA-256 of all these.
const (
	snapshotMagic  = "ragctx snapshot\n"
	SnapshotFormat = 1
	maxHeader      = 64 << 10
)

// SnapshotInfo is the header of a snapshot.
type SnapshotInfo struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	// Schema is the version of the database's schema. A program restores its own and older ones.
	Schema     int `json:"schema"`
	Namespaces int `json:"namespaces"`
	Documents  int `json:"documents" doc:"current ones"`
	Memories   int `json:"memories" doc:"current ones"`
	Turns      int `json:"turns"`
	Messages   int `json:"messages" doc:"of ledgers"`
	// Bytes is the size of the database; the file is smaller.
	Bytes int64 `json:"bytes"`
}

// SnapshotOptions configures [Snapshots.WriteSnapshot]. The zero value works.
type SnapshotOptions struct {
	// Progress is called with the bytes done and the total.
	Progress func(done, total int64)
}

// FrameSnapshot writes a snapshot file whose contents data writes.
func FrameSnapshot(w io.Writer, info SnapshotInfo, data func(io.Writer) error) error {
	header, err := json.Marshal(info)
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := bufio.NewWriterSize(w, 1<<20)
	both := io.MultiWriter(out, sum)
	if _, err := fmt.Fprintf(both, "%s%s\n", snapshotMagic, header); err != nil {
		return err
	}
	z, err := zstd.NewWriter(both, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	if err := data(z); err != nil {
		return errors.Join(err, z.Close())
	}
	if err := z.Close(); err != nil {
		return err
	}
	if _, err := out.Write(sum.Sum(nil)); err != nil {
		return err
	}
	return out.Flush()
}

// progressReader is a reader that stops with a context and reports its progress.
type progressReader struct {
	ctx    context.Context //nolint:containedctx // a reader has no other way to get it
	r      io.Reader
	n      int64
	report func(int64)
}

// Read implements [io.Reader].
func (c *progressReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.report(c.n)
	return n, err
}
