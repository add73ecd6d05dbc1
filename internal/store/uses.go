package store

import (
	"context"
	"database/sql"
	"time"
)

// Use counts the answers that contained a memory.
type Use struct {
	Namespace int64
	Key       string
	Count     int
	Last      time.Time
}

// RecordUses adds to the counts of memories. It skips memories that no longer exist.
func (s *Store) RecordUses(ctx context.Context, uses []Use) error {
	err := s.write.doIn(ctx, noNamespaces, low, func(ctx context.Context, tx *sql.Tx) error {
		put, err := tx.PrepareContext(ctx, `INSERT INTO uses (namespace, key, count, last)
			SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?5 AND key = ?2 AND superseded IS NULL)
			ON CONFLICT DO UPDATE SET count = count + excluded.count, last = max(last, excluded.last)`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, u := range uses {
			if _, err := put.ExecContext(ctx, u.Namespace, u.Key, u.Count, u.Last.UnixMicro(), Memories); err != nil {
				return err
			}
		}
		return nil
	})
	return failedIf("count uses", err)
}
