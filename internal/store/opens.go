package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
)

// openings tells what was derived from this database from what was derived from
// another one, or from a state that was lost when the file was set back to an
// older copy. An opening that changes something leaves a token in the database;
// what is derived carries the newest token.
type openings struct {
	own     string
	earlier map[string]bool
	newest  string // of the earlier ones
	changed atomic.Bool
	// noted says that the transaction under way leaves the token; only the writer
	// looks at it.
	noted bool
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

// note leaves the token; it runs with every change, in its transaction. What is taken
// back leaves none: see [writer.attempt].
func (o *openings) note(ctx context.Context, tx *sql.Tx, now int64) error {
	o.noted = true
	_, err := tx.ExecContext(ctx, `INSERT INTO opens (token, opened) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.own, now)
	return err
}

// keep takes over what was noted. It runs before the commit: a token that is not there
// costs what is derived, which is made again, but a change that was seen before its
// token would have what is derived pass for what it is not.
func (o *openings) keep() {
	if o.noted {
		o.changed.Store(true)
	}
	o.noted = false
}

// Token names the newest opening that changed the database.
func (s *Store) Token() string {
	if s.openings.changed.Load() || s.openings.newest == "" {
		return s.openings.own
	}
	return s.openings.newest
}

// NewestChange returns the newest number of the change sequence that was ever given.
func (s *Store) NewestChange(ctx context.Context) (n uint64, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'changes'`).Scan(&n)
	})
	return n, failedIf("read the newest change", err)
}

// Opened reports whether a token names this or an earlier opening.
func (s *Store) Opened(token string) bool {
	return token == s.openings.own || s.openings.earlier[token]
}
