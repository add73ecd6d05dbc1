package store

import (
	"context"
	"database/sql"
)

// NamespaceCount is the number of current items in a namespace.
type NamespaceCount struct {
	Name                string
	Documents, Memories int
}

// CountAll returns the number of current items of every namespace, by name.
func (s *Store) CountAll(ctx context.Context) (all []NamespaceCount, err error) {
	err = s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT name, documents, memories FROM namespaces WHERE erased = 0 ORDER BY name`)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			var n NamespaceCount
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
