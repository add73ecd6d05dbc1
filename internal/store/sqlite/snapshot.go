package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ragctx/ragctx/internal/store"
)

// WriteSnapshot implements [store.Snapshots].
func (s *Store) WriteSnapshot(ctx context.Context, w io.Writer, o store.SnapshotOptions) (info store.SnapshotInfo, err error) {
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
	pages, err := tx.QueryContext(ctx, `SELECT data FROM sqlite_dbpage ORDER BY pgno`) //nolint:rowserrcheck // copyPages checks it
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", wrap(err))
	}
	defer pages.Close()
	err = store.FrameSnapshot(w, info, func(w io.Writer) error { return copyPages(w, pages, info.Bytes, o) })
	if err != nil {
		return info, fmt.Errorf("snapshot: %w", store.DiskError(wrap(err)))
	}
	return info, nil
}

// snapshotInfo counts the contents that a transaction sees.
func (s *Store) snapshotInfo(ctx context.Context, tx *sql.Tx) (store.SnapshotInfo, error) {
	info := store.SnapshotInfo{Format: store.SnapshotFormat, Created: s.now().UTC().Truncate(time.Second)}
	err := tx.QueryRowContext(ctx, `SELECT (SELECT user_version FROM pragma_user_version), (SELECT count(*)
		FROM namespaces WHERE erased = 0),
		(SELECT count(*) FROM items WHERE kind = ? AND superseded IS NULL), (SELECT count(*) FROM items
		WHERE kind = ? AND superseded IS NULL),
		(SELECT count(*) FROM turns), (SELECT count(*) FROM ledger_messages WHERE ledger NOT IN (SELECT id FROM ledgers WHERE erased = 1)),
		(SELECT page_count * page_size FROM pragma_page_count, pragma_page_size)`, store.KindDocuments, store.KindMemories).
		Scan(&info.Schema, &info.Namespaces, &info.Documents, &info.Memories, &info.Turns, &info.Messages, &info.Bytes)
	return info, err
}

func copyPages(w io.Writer, pages *sql.Rows, size int64, o store.SnapshotOptions) error {
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
