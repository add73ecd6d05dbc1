package postgres

import (
	"context"
	"database/sql"
	"hash/fnv"
	"sync"
)

// lockNamespace locks the row of a namespace until the transaction ends. Rows that refer to it can
// still be written.
func lockNamespace(ctx context.Context, tx *sql.Tx, ns int64) error {
	_, err := tx.ExecContext(ctx, `SELECT 1 FROM namespaces WHERE id = ? FOR NO KEY UPDATE`, ns)
	return err
}

// The numbers of the locks that a transaction takes and that belong to no row.
const (
	lockAll = iota + 1 // writes of several namespaces
	lockOfVectors
)

// lockVectors is [sqlstore.Dialect].LockVectors.
func lockVectors(ctx context.Context, tx *sql.Tx, all bool) error {
	if all {
		return lock(ctx, tx, `SELECT pg_advisory_xact_lock(?)`, lockOfVectors)
	}
	return lock(ctx, tx, `SELECT pg_advisory_xact_lock_shared(?)`, lockOfVectors)
}

func lock(ctx context.Context, tx *sql.Tx, statement string, number int64) error {
	_, err := tx.ExecContext(ctx, statement, number)
	return err
}

// orders run writes of the same name one after another, and some others with them.
type orders [64]sync.Mutex

// of returns the lock of a name.
func (o *orders) of(name string) *sync.Mutex {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return &o[h.Sum32()%uint32(len(o))]
}
