package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// pruneAtOnce limits the versions hidden by one write. Usually it is one; after the limit was
// lowered more are excess, and the write does not wait for all of them.
const pruneAtOnce = 2

// prune hides the oldest excess versions of a document and returns its last change, or 0. It runs
// within the write that exceeds the limit; the garbage collector removes hidden versions.
func (s *Store) prune(ctx context.Context, tx *Tx, ns int64, key string) (seq uint64, err error) {
	if s.keep < 0 {
		return 0, nil
	}
	ids, err := Column[int64](ctx, tx, `SELECT id FROM (SELECT id, version FROM items WHERE namespace = ? AND kind = ? AND key = ?
		AND version > 0 ORDER BY version DESC LIMIT ? OFFSET ?) AS excess ORDER BY version LIMIT ?`, ns, store.KindDocuments,
		key, noLimit, s.keep, pruneAtOnce)
	for _, id := range ids {
		if err == nil {
			seq, err = s.hideVersion(ctx, tx, store.Collection{Namespace: ns, Kind: store.KindDocuments}, key, id)
		}
	}
	return seq, err
}

// hideVersion hides a version of an item permanently. It returns the change that indexes must
// reach.
func (s *Store) hideVersion(ctx context.Context, tx *Tx, in store.Collection, key string, id int64) (seq uint64, err error) {
	if seq, err = s.recordRemoval(ctx, tx, in.Namespace, in.Kind, id); err != nil {
		return 0, err
	}
	version, err := hiddenVersion(ctx, tx, in.Namespace, in.Kind, key)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE items SET version = ?, seq = 0, superseded = 0 WHERE id = ?`, version, id)
	return seq, err
}
