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
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/durable"
)

// A snapshot file is the line of snapshotMagic, a line of JSON (SnapshotInfo), a
// zstd stream that holds a SQLite database, and the SHA-256 of all that.
const (
	snapshotMagic  = "ragctx snapshot\n"
	snapshotFormat = 1
	maxHeader      = 64 << 10
)

// SnapshotInfo is what a snapshot says of itself.
type SnapshotInfo struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	// Schema is the version of the database's schema; a program restores its own
	// and older ones.
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
	// Progress is told how many bytes of how many have been dealt with; total is
	// an estimate until the copy is made.
	Progress func(done, total int64)
}

func (o SnapshotOptions) progress(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, max(done, total))
	}
}

// Snapshot writes one consistent state of the whole database into a new file at
// path, beside which it needs room for an uncompressed copy. Reads and writes go
// on meanwhile. A file that exists is not replaced.
func (s *Store) Snapshot(ctx context.Context, path string, o SnapshotOptions) (info SnapshotInfo, err error) {
	if _, err := os.Lstat(path); err == nil {
		return info, fmt.Errorf("snapshot: %w: %s exists; name another file", ragctx.ErrConflict, path)
	}
	err = durable.WriteFile(durable.OS{}, path, func(w io.Writer) (err error) {
		info, err = s.WriteSnapshot(ctx, w, filepath.Dir(path), o)
		return err
	})
	return info, diskError(err)
}

// WriteSnapshot writes a snapshot to w. The folder tmp takes the uncompressed
// copy for as long as that takes.
func (s *Store) WriteSnapshot(ctx context.Context, w io.Writer, tmp string, o SnapshotOptions) (info SnapshotInfo, err error) {
	dir, err := os.MkdirTemp(tmp, unpacked+"*")
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", diskError(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "copy.db")
	if err := s.copyInto(ctx, name, o); err != nil {
		return info, fmt.Errorf("snapshot: copy the database: %w", err)
	}
	if info, err = s.describe(ctx, name); err != nil {
		return info, fmt.Errorf("snapshot: %w", err)
	}
	if err := pack(ctx, w, name, info, o); err != nil {
		return info, fmt.Errorf("snapshot: %w", diskError(err))
	}
	return info, nil
}

// copyInto writes a compact copy of one state of the database, on a connection
// of its own, while others read and write.
func (s *Store) copyInto(ctx context.Context, name string, o SnapshotOptions) error {
	db, err := connect(s.path, 1, "_pragma=wal_autocheckpoint(0)")
	if err != nil {
		return err
	}
	defer db.Close()
	var pages, size int64
	if err := db.QueryRowContext(ctx, `SELECT page_count, page_size FROM pragma_page_count, pragma_page_size`).Scan(&pages, &size); err != nil {
		return wrap(err)
	}
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if info, err := os.Stat(name); err == nil {
					o.progress(info.Size(), 2*pages*size)
				}
			}
		}
	}()
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, name)
	close(done)
	<-watched
	return wrap(err)
}

// describe removes from a copy what is hidden, and counts the rest.
func (s *Store) describe(ctx context.Context, name string) (info SnapshotInfo, err error) {
	db, err := sql.Open("sqlite", dsnPlain(name, "_pragma=foreign_keys(1)", "_pragma=secure_delete(1)", "_pragma=synchronous(OFF)"))
	if err != nil {
		return info, err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	for _, q := range []string{
		`DELETE FROM items WHERE seq = 0 AND id NOT IN (SELECT text_of FROM items WHERE text_of IS NOT NULL AND seq > 0)`,
		`DELETE FROM units WHERE item IN (SELECT id FROM items WHERE seq = 0)`,
		blank + ` WHERE seq = 0`,
		`DELETE FROM ledger_messages WHERE ledger IN (SELECT id FROM ledgers WHERE erased = 1)`,
	} {
		if _, err := db.ExecContext(ctx, q); err != nil {
			return info, wrap(err)
		}
	}
	if err := dropDeletedSessions(ctx, db); err != nil {
		return info, wrap(err)
	}
	info = SnapshotInfo{Format: snapshotFormat, Created: s.now().UTC().Truncate(time.Second)}
	err = db.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM namespaces WHERE erased = 0),
		(SELECT count(*) FROM items WHERE kind = ? AND superseded IS NULL), (SELECT count(*) FROM items WHERE kind = ? AND superseded IS NULL),
		(SELECT count(*) FROM turns), (SELECT count(*) FROM ledger_messages)`, Documents, Memories).
		Scan(&info.Schema, &info.Namespaces, &info.Documents, &info.Memories, &info.Turns, &info.Messages)
	if err != nil {
		return info, wrap(err)
	}
	if err := db.Close(); err != nil {
		return info, err
	}
	st, err := os.Stat(name)
	if err != nil {
		return info, err
	}
	info.Bytes = st.Size()
	return info, nil
}

// pack writes a snapshot of the database file name.
func pack(ctx context.Context, w io.Writer, name string, info SnapshotInfo, o SnapshotOptions) error {
	db, err := os.Open(name)
	if err != nil {
		return err
	}
	defer db.Close()
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
	read := &counted{ctx: ctx, r: db, report: func(n int64) { o.progress(info.Bytes+n, 2*info.Bytes) }}
	if _, err := io.Copy(z, read); err != nil {
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

// counted is a reader that ends with a context and tells how far it has come.
type counted struct {
	ctx    context.Context //nolint:containedctx // a reader has no other way to get it
	r      io.Reader
	n      int64
	report func(int64)
}

// Read implements [io.Reader].
func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.report(c.n)
	return n, err
}
