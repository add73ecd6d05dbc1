package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/ragctx/ragctx"
)

// openings distinguishes data derived from this database from data derived from another one, or
// from a state lost when the file was set back to an older copy. An opening that changes the
// database leaves a token in it; derived data carries the newest token.
type openings struct {
	own     string
	changed atomic.Bool
	// follows is set while another process may change the database.
	follows atomic.Bool

	mu      sync.Mutex
	earlier map[string]bool
	newest  string // of the earlier openings
}

func (o *openings) load(ctx context.Context, db Database) error {
	o.own, o.earlier = uuid.NewString(), make(map[string]bool)
	if err := db.View(ctx, func(tx *Tx) error { return o.read(ctx, tx) }); err != nil {
		return fmt.Errorf("read openings: %w", err)
	}
	return nil
}

// follow reads the tokens along with changes that another process may have made.
func (o *openings) follow(ctx context.Context, tx *Tx) error {
	if !o.follows.Load() {
		return nil
	}
	return o.read(ctx, tx)
}

func (o *openings) read(ctx context.Context, tx *Tx) error {
	tokens, err := Column[string](ctx, tx, `SELECT token FROM opens ORDER BY opened`)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.newest != "" && !slices.Contains(tokens, o.newest) {
		return fmt.Errorf("%w: the database was replaced by another copy; restart this ragctx", ragctx.ErrUnavailable)
	}
	if len(tokens) <= len(o.earlier) {
		return nil // another read was faster
	}
	for _, o.newest = range tokens {
		o.earlier[o.newest] = true
	}
	return nil
}

// record stores the token, in the transaction of every change.
func (o *openings) record(ctx context.Context, tx *Tx, now int64) error {
	tx.Changed = true
	if !o.changed.Load() { // the newest token has the latest time, also with the clock of another machine
		var last int64
		if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(opened), 0) FROM opens WHERE token <> ?`, o.own).Scan(&last); err != nil {
			return err
		}
		now = max(now, last+1)
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO opens (token, opened) VALUES (?, ?) ON CONFLICT DO NOTHING`, o.own, now)
	return err
}

// Publish publishes the token. The database calls it before it commits a transaction that has changed
// something. If the commit fails, derived data is only rebuilt needlessly; the reverse order could
// expose a change before its token and make stale derived data look valid.
func (s *Store) Publish() { s.openings.changed.Store(true) }

// Token implements [store.Changes].
func (s *Store) Token() string {
	o := &s.openings
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed.Load() || o.newest == "" {
		return o.own
	}
	return o.newest
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
	s.openings.mu.Lock()
	defer s.openings.mu.Unlock()
	return token == s.openings.own || s.openings.earlier[token]
}
