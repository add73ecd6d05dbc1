package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
)

// openings distinguishes data derived from this database from data derived from another one, or
// from a state lost when the file was set back to an older copy. An opening that changes the
// database leaves a token in it; derived data carries the newest token.
type openings struct {
	own     string
	earlier map[string]bool
	newest  string // of the earlier openings
	changed atomic.Bool
	// recorded means that the current transaction stores the token; only the writer uses it.
	recorded bool
}

func (o *openings) load(ctx context.Context, db *sql.DB) error {
	o.own, o.earlier = uuid.NewString(), make(map[string]bool)
	rows, err := db.QueryContext(ctx, `SELECT token FROM opens ORDER BY opened`)
	if err != nil {
		return fmt.Errorf("read openings: %w", err)
	}
	return scan(rows, func() error {
		err := rows.Scan(&o.newest)
		o.earlier[o.newest] = true
		return err
	})
}

// record stores the token, in the transaction of every change. A rollback removes it: see
// [writer.attempt].
func (o *openings) record(ctx context.Context, tx *sql.Tx, now int64) error {
	o.recorded = true
	_, err := tx.ExecContext(ctx, `INSERT INTO opens (token, opened) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.own, now)
	return err
}

// publish publishes a stored token. It runs before the commit. If the commit fails, derived data is
// only rebuilt needlessly; the reverse order could expose a change before its token and make stale
// derived data look valid.
func (o *openings) publish() {
	if o.recorded {
		o.changed.Store(true)
	}
	o.recorded = false
}

// Token implements [store.Changes].
func (s *Store) Token() string {
	if s.openings.changed.Load() || s.openings.newest == "" {
		return s.openings.own
	}
	return s.openings.newest
}

// NewestChange implements [store.Changes].
func (s *Store) NewestChange(ctx context.Context) (n uint64, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'`).Scan(&n)
	})
	return n, failedIf("read the newest change", err)
}

// KnowsToken implements [store.Changes].
func (s *Store) KnowsToken(token string) bool {
	return token == s.openings.own || s.openings.earlier[token]
}
