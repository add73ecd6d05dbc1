package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ragctx/ragctx/internal/store"
)

// Erase removes a cluster's messages permanently. They are hidden at once; later appends begin a
// new ledger. Erasing a missing cluster is no error.
func (l *Ledger) Erase(ctx context.Context, ns int64, cluster string) (store.Erased, error) {
	var id int64
	err := l.store.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM ledgers WHERE namespace = ? AND name = ? AND erased = 0`, ns, cluster).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return store.Erased{}, nil
	}
	if err != nil {
		return store.Erased{}, failed("erase", err)
	}
	return l.store.erase(ctx, erasureScope{Namespace: ns, Ledger: id}, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE ledgers SET name = '', erased = 1 WHERE id = ?`, id)
		return err
	})
}

// eraseMessages deletes the messages of a ledger, and the ledger.
func (s *Store) eraseMessages(ctx context.Context, sc erasureScope, e *erasing) error {
	for more := sc.Ledger != 0; more; {
		gone := 0
		err := s.Slice(ctx, Frees, AllNamespaces, func(ctx context.Context, tx *Tx, enough func(int) bool) error {
			for more {
				res, err := tx.ExecContext(ctx, `DELETE FROM ledger_messages
					WHERE seq IN (SELECT seq FROM ledger_messages WHERE ledger = ? LIMIT ?)`, sc.Ledger, sliceChunks)
				if err != nil {
					return err
				}
				n, err := res.RowsAffected()
				if err != nil {
					return err
				}
				gone += int(n)
				if more = n == sliceChunks; more && enough(sliceChunks) {
					return nil
				}
			}
			_, err := tx.ExecContext(ctx, `DELETE FROM ledgers WHERE id = ?`, sc.Ledger)
			return err
		})
		if err != nil {
			return err
		}
		e.Messages += gone
	}
	return nil
}
