package store

import (
	"context"
	"database/sql"
)

// TagCount is a tag and the number of memories with it.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// MemoryTags counts the tags of the memories that a filter selects, most frequent first, then by
// name, at most the filter's limit. After is the last one of the previous page; zero starts at the
// beginning.
func (s *Store) MemoryTags(ctx context.Context, ns int64, f MemoryFilter, after TagCount) ([]TagCount, error) {
	out := []TagCount{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		where, args := memoriesWhere(f, ns)
		rows, err := tx.QueryContext(ctx, `SELECT w.value, count(*) FROM items i, json_each(i.tags) w WHERE `+where+`
			GROUP BY 1 HAVING ? = 0 OR count(*) < ? OR count(*) = ? AND w.value > ?
			ORDER BY 2 DESC, 1 LIMIT ?`, append(args, after.Count, after.Count, after.Count, after.Tag, f.Limit)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var t TagCount
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

// CountMemories counts the memories that a filter selects.
func (s *Store) CountMemories(ctx context.Context, ns int64, f MemoryFilter) (n int, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		where, args := memoriesWhere(f, ns)
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM items i WHERE `+where, args...).Scan(&n)
	})
	return n, failedIf("count memories", err)
}
