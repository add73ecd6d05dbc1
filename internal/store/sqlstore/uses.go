package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// RecordUses implements [store.Memories].
func (s *Store) RecordUses(ctx context.Context, uses []store.Use) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		put, err := tx.PrepareContext(ctx, `INSERT INTO uses (namespace, key, count, last)
			SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?5 AND key = ?2 AND superseded IS NULL)
			ON CONFLICT (namespace, key) DO UPDATE SET count = uses.count + excluded.count,
				last = CASE WHEN uses.last > excluded.last THEN uses.last ELSE excluded.last END`)
		if err != nil {
			return err
		}
		defer put.Close()
		for _, u := range uses {
			if _, err := put.ExecContext(ctx, u.Namespace, u.Key, u.Count, u.Last.UnixMicro(), store.KindMemories); err != nil {
				return err
			}
		}
		return nil
	})
	return failedIf("count uses", err)
}
