package sqlite

import (
	"context"
	"database/sql"

	"github.com/ragctx/ragctx/internal/store"
)

// CountAll implements [store.Namespaces].
func (s *Store) CountAll(ctx context.Context) (all []store.NamespaceCount, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT name, documents, memories FROM namespaces WHERE erased = 0 ORDER BY name`)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var n store.NamespaceCount
			err := rows.Scan(&n.Name, &n.Documents, &n.Memories)
			all = append(all, n)
			return err
		})
	})
	if err != nil {
		return nil, failed("count items", err)
	}
	return all, nil
}
