package sqlstore

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
)

// MemoryTags implements [store.Memories].
func (s *Store) MemoryTags(ctx context.Context, ns int64, f store.MemoryFilter, after store.TagCount) ([]store.TagCount, error) {
	out := []store.TagCount{}
	err := s.view(ctx, func(tx *Tx) error {
		where, args := memoriesWhere(f, ns)
		rows, err := tx.QueryContext(ctx, `SELECT w.value, count(*) FROM items i, json_each(i.tags) w WHERE `+where+`
			GROUP BY 1 HAVING ? = 0 OR count(*) < ? OR count(*) = ? AND w.value > ?
			ORDER BY 2 DESC, 1 LIMIT ?`, append(args, after.Count, after.Count, after.Count, after.Tag,
			f.Limit)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var t store.TagCount
			err := rows.Scan(&t.Tag, &t.Count)
			out = append(out, t)
			return err
		})
	})
	if err != nil {
		return nil, failed("count tags", err)
	}
	return out, nil
}

// CountMemories implements [store.Memories].
func (s *Store) CountMemories(ctx context.Context, ns int64, f store.MemoryFilter) (n int, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		where, args := memoriesWhere(f, ns)
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM items i WHERE `+where, args...).Scan(&n)
	})
	return n, failedIf("count memories", err)
}
