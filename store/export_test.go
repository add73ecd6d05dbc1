package store

import (
	"context"
	"database/sql"
)

// Freeze runs fn while nothing writes to the files.
func (s *Store) Freeze(_ context.Context, fn func() error) (err error) {
	s.log.quiet.Lock()
	defer s.log.quiet.Unlock()
	s.write.between(func() { err = fn() })
	return err
}

// Dissolve deletes an item as the sweeper does that found it hidden a moment ago.
func (s *Store) Dissolve(ctx context.Context, id uint64) error {
	return s.write.do(ctx, Low, func(ctx context.Context, tx *sql.Tx) error {
		_, err := dissolve(ctx, tx, int64(id), func(int) bool { return false }) //nolint:gosec // row ids fit
		return err
	})
}
