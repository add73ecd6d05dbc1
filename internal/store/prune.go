package store

import (
	"context"
	"database/sql"
)

// DefaultKeepVersions is how many versions of a document are kept unless [Options]
// say otherwise.
const DefaultKeepVersions = 10

// pruneAtOnce is how many versions a write hides at most: one is the rule; there are
// more where fewer are kept than before, and turns do not wait for all of them.
const pruneAtOnce = 2

// prune hides versions of a document that are too many, the oldest first, and
// returns the last change that it made, or 0. It is done together with the write that
// makes one too many. The sweeper removes what is hidden.
func (s *Store) prune(ctx context.Context, tx *sql.Tx, ns int64, key string) (seq uint64, err error) {
	if s.keep < 0 {
		return 0, nil
	}
	ids, err := column[int64](ctx, tx, `SELECT id FROM (SELECT id, version FROM items WHERE namespace = ? AND kind = ? AND key = ?
		AND version > 0 ORDER BY version DESC LIMIT -1 OFFSET ?) ORDER BY version LIMIT ?`, ns, Documents, key, s.keep, pruneAtOnce)
	for _, id := range ids {
		if err == nil {
			seq, err = s.hideVersion(ctx, tx, Collection{ns, Documents}, key, id)
		}
	}
	return seq, err
}

// hideVersion takes a version of an item out of everyone's sight, for ever. It
// returns the change that the indexes have to follow.
func (s *Store) hideVersion(ctx context.Context, tx *sql.Tx, in Collection, key string, id int64) (seq uint64, err error) {
	if seq, err = s.removed(ctx, tx, in.Namespace, in.Kind, id); err != nil {
		return 0, err
	}
	version, err := hiddenVersion(ctx, tx, in.Namespace, in.Kind, key)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE items SET version = ?, seq = 0, superseded = 0 WHERE id = ?`, version, id)
	return seq, err
}
