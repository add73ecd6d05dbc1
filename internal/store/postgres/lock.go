package postgres

import (
	"context"
	"database/sql"
	"hash/fnv"
)

// lockNamespace locks the row of a namespace until the transaction ends. Rows that refer to it can
// still be written.
func lockNamespace(ctx context.Context, tx *sql.Tx, ns int64) error {
	_, err := tx.ExecContext(ctx, `SELECT 1 FROM namespaces WHERE id = ? FOR NO KEY UPDATE`, ns)
	return err
}

// lock takes a lock by name and number until the transaction ends.
func lock(ctx context.Context, tx *sql.Tx, name string, id int64) error {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))                                                                     // never fails
	_, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(?, ?)`, int32(h.Sum32()), int32(id)) //nolint:gosec // its bits
	return err
}
