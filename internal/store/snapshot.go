package store

import (
	"bufio"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/atomicfile"
)

// A snapshot file is the line snapshotMagic, a line of JSON (SnapshotInfo), a zstd stream of a
// SQLite database, and the SHA-256 of all these.
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

// SnapshotOptions configures [Store.Snapshot]. The zero value works.
type SnapshotOptions struct {
	// Progress is called with the bytes done and the total.
	Progress func(done, total int64)
}

// Snapshot writes one consistent state of the database into a new file at path, concurrently with
// reads and writes. It does not replace an existing file.
func (s *Store) Snapshot(ctx context.Context, path string, o SnapshotOptions) (info SnapshotInfo, err error) {
	if _, err := os.Lstat(path); err == nil {
		return info, fmt.Errorf("snapshot: %w: %s exists; name another file", ragctx.ErrConflict, path)
	}
	err = atomicfile.WriteFile(atomicfile.OS{}, path, func(w io.Writer) (err error) {
		info, err = s.WriteSnapshot(ctx, w, o)
		return err
	})
	return info, DiskError(err)
}

// WriteSnapshot writes a snapshot to w page by page, as one read of the database without a
// temporary copy. The log cannot restart until it is done, so w must not be slow.
func (s *Store) WriteSnapshot(ctx context.Context, w io.Writer, o SnapshotOptions) (info SnapshotInfo, err error) {
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	db, err := connectAs(s.path, 1, func(k *cachingConnector) { k.onError = s.health.detectDamage }, "_pragma=query_only(1)")
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", wrap(err))
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	if info, err = s.snapshotInfo(ctx, tx); err != nil {
		return info, fmt.Errorf("snapshot: %w", wrap(err))
	}
	pages, err := tx.QueryContext(ctx, `SELECT data FROM sqlite_dbpage ORDER BY pgno`)
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", wrap(err))
	}
	defer pages.Close()
	err = FrameSnapshot(w, info, func(w io.Writer) error { return copyPages(w, pages, info.Bytes, o) })
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", DiskError(wrap(err)))
	}
	return info, nil
}

// snapshotInfo counts the contents that a transaction sees.
func (s *Store) snapshotInfo(ctx context.Context, tx *sql.Tx) (SnapshotInfo, error) {
	info := SnapshotInfo{Format: SnapshotFormat, Created: s.now().UTC().Truncate(time.Second)}
	err := tx.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM namespaces WHERE erased = 0),
		(SELECT count(*) FROM items WHERE kind = ? AND superseded IS NULL), (SELECT count(*) FROM items WHERE kind = ? AND superseded IS NULL),
		(SELECT count(*) FROM turns), (SELECT count(*) FROM ledger_messages WHERE ledger NOT IN (SELECT id FROM ledgers WHERE erased = 1)),
		(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)`, Documents, Memories).
		Scan(&info.Schema, &info.Namespaces, &info.Documents, &info.Memories, &info.Turns, &info.Messages, &info.Bytes)
	return info, err
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

func copyPages(w io.Writer, pages *sql.Rows, size int64, o SnapshotOptions) error {
	var page sql.RawBytes
	var done int64
	for pages.Next() {
		if err := pages.Scan(&page); err != nil {
			return err
		}
		if _, err := w.Write(page); err != nil {
			return err
		}
		done += int64(len(page))
		o.Progress(done, size)
	}
	if err := pages.Err(); err != nil {
		return err
	}
	if done != size {
		return fmt.Errorf("the database has %d bytes, and %d were read", size, done)
	}
	return nil
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
