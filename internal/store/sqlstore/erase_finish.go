package sqlstore

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx/internal/store"
)

// PendingErasures implements [store.SecureErasures].
func (s *Store) PendingErasures(ctx context.Context) ([]store.PendingErasure, error) {
	var out []store.PendingErasure
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT e.id, coalesce(f.namespace, 0), coalesce(f.kind, 0),
			coalesce(f.seq, 0), coalesce(n.erased, 0)
			FROM erasures e LEFT JOIN erased_from f ON f.erasure = e.id LEFT JOIN namespaces n ON n.id = f.namespace
			WHERE e.scope = '' ORDER BY e.id`)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var id int64
			var c store.Collection
			var seq uint64
			var gone bool
			if err := rows.Scan(&id, &c.Namespace, &c.Kind, &seq, &gone); err != nil {
				return err
			}
			if len(out) == 0 || out[len(out)-1].ID != id {
				out = append(out, store.PendingErasure{ID: id, UpTo: make(map[store.Collection]uint64)})
			}
			switch last := &out[len(out)-1]; {
			case gone:
				last.Removed = append(last.Removed, c)
			case c.Namespace != 0:
				last.UpTo[c] = seq
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("find erasures: %w", err)
	}
	return out, nil
}

// Erasing implements [store.SecureErasures].
func (s *Store) Erasing() bool { return len(s.gc.unhidden()) > 0 }

// openErasures returns the erasures that an earlier process recorded but did not finish hiding.
func (s *Store) openErasures(ctx context.Context) (map[int64]erasureScope, error) {
	open := make(map[int64]erasureScope)
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id, scope FROM erasures WHERE scope <> ''`) //nolint:sqlclosecheck // Scan closes it
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var id int64
			var text string
			if err := rows.Scan(&id, &text); err != nil {
				return err
			}
			open[id] = decode[erasureScope](text)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("find erasures: %w", err)
	}
	return open, nil
}

// SecureErase implements [store.SecureErasures].
func (s *Store) SecureErase(ctx context.Context, done []int64) error {
	return s.db.Freeing(func() error { return s.secureErase(ctx, done) })
}

func (s *Store) secureErase(ctx context.Context, done []int64) error {
	if err := s.collectGarbage(ctx); err != nil {
		return err
	}
	if err := s.dropOrphans(ctx); err != nil {
		return err
	}
	if err := s.db.Scrub(ctx); err != nil {
		return err
	}
	err := s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM erasures
			WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND scope = ''`, jsonArray(done))
		return err
	})
	if err != nil {
		return fmt.Errorf("complete erasures: %w", err)
	}
	return nil
}
