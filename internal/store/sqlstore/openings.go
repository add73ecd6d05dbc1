package sqlstore

import (
	"context"
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
}

func (o *openings) load(ctx context.Context, db Database) error {
	o.own, o.earlier = uuid.NewString(), make(map[string]bool)
	var tokens []string
	err := db.View(ctx, func(tx *Tx) (err error) {
		tokens, err = Column[string](ctx, tx, `SELECT token FROM opens ORDER BY opened`)
		return err
	})
	if err != nil {
		return fmt.Errorf("read openings: %w", err)
	}
	for _, o.newest = range tokens {
		o.earlier[o.newest] = true
	}
	return nil
}

// record stores the token, in the transaction of every change.
func (o *openings) record(ctx context.Context, tx *Tx, now int64) error {
	tx.Changed = true
	_, err := tx.ExecContext(ctx, `INSERT INTO opens (token, opened) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.own, now)
	return err
}

// Publish publishes the token. The database calls it before it commits a transaction that has changed
// something. If the commit fails, derived data is only rebuilt needlessly; the reverse order could
// expose a change before its token and make stale derived data look valid.
func (s *Store) Publish() { s.openings.changed.Store(true) }

// Token implements [store.Changes].
func (s *Store) Token() string {
	if s.openings.changed.Load() || s.openings.newest == "" {
		return s.openings.own
	}
	return s.openings.newest
}

// NewestChange implements [store.Changes].
func (s *Store) NewestChange(ctx context.Context) (n uint64, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, s.dialect.NewestChange).Scan(&n)
	})
	return n, failedIf("read the newest change", err)
}

// KnowsToken implements [store.Changes].
func (s *Store) KnowsToken(token string) bool {
	return token == s.openings.own || s.openings.earlier[token]
}
