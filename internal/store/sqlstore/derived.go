package sqlstore

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// hideDerived hides all versions of the memories whose text was extracted from the turns of a
// scope. Other turns that state the same are queued for another extraction, unless the memory
// itself is to be erased.
func (s *Store) hideDerived(ctx context.Context, sc erasureScope, e *erasing) error {
	if !sc.Turns {
		return nil
	}
	for {
		var found []derived
		err := s.view(ctx, func(tx *Tx) error {
			where, args := sc.where(false)
			var err error
			found, err = selectDerived(ctx, tx, `SELECT f.id, f.key FROM items f WHERE f.namespace = ? AND f.kind = ? AND f.seq > 0
				AND f.id IN (SELECT p.item FROM provenance p WHERE p.source > 0 AND p.turn IN (SELECT i.key FROM turns i WHERE `+where+`))
				ORDER BY f.key LIMIT 1000`, append([]any{sc.Namespace, store.KindMemories}, args...)...)
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		for some := range slices.Chunk(found, sliceChunks) {
			err := s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
				for _, d := range some {
					if err := s.hideVersions(ctx, tx, sc, itemKey{store.KindMemories, d.key}, []int64{d.id}, e); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// derived is a version of a memory extracted from a turn.
type derived struct {
	id  int64
	key string
}

func selectDerived(ctx context.Context, tx *Tx, query string, args ...any) (all []derived, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var d derived
		err := rows.Scan(&d.id, &d.key)
		all = append(all, d)
		return err
	})
	return all, err
}

// restoreSuperseded makes memories current again after the memories that superseded them were erased. After
// a crash they may stay superseded.
func (s *Store) restoreSuperseded(ctx context.Context, sc erasureScope, keys []string) error {
	for _, key := range keys {
		err := s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
			u := undo{Store: s, tx: tx, ns: sc.Namespace}
			c, err := u.newest(ctx, key)
			if err != nil || c.Op != ragctx.OpSuperseded || c.Other != "" {
				return nil //nolint:nilerr // erased as well, or changed since
			}
			old, err := findCurrent(ctx, tx, sc.Namespace, store.KindMemories, key)
			if err != nil || old != nil {
				return err
			}
			return u.revert(ctx, key, c)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// requeueSources queues the other turns that state a current memory for another extraction. Deleted and
// corrected memories are not extracted again.
func requeueSources(ctx context.Context, tx *Tx, ns, item int64) error {
	return requeueTurns(ctx, tx, store.MemoryObserver, `SELECT DISTINCT t.id FROM items i CROSS JOIN provenance p ON p.item = i.id
		CROSS JOIN turns t ON t.namespace = ? AND t.key = p.turn WHERE i.id = ? AND i.superseded IS NULL
		AND NOT EXISTS (SELECT 1 FROM provenance q WHERE q.item = i.id AND q.source = 2)`, ns, item)
}

// requeueTurns queues the turns whose rows a query returns for another delivery to a provider. Pending
// deliveries to other providers stay, and may happen twice.
func requeueTurns(ctx context.Context, tx *Tx, provider, query string, args ...any) error {
	rows, err := Column[int64](ctx, tx, query, args...)
	for _, row := range rows {
		if err != nil {
			break
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO untold (turn, only) VALUES (?1, ?2) ON CONFLICT (turn) DO UPDATE
			SET only = CASE untold.only WHEN ?2 THEN ?2 ELSE '' END, told = '[]', asked = untold.asked + 1`, row, provider)
	}
	return err
}

// deleteTurns deletes turns and the rows that mention them. It also hides memories extracted from
// them since [Store.hideDerived] ran.
func (s *Store) deleteTurns(ctx context.Context, tx *Tx, sc erasureScope, ids []uint64, e *erasing) error {
	in, rows := placeholders(ids)
	keys := `(SELECT t.key FROM turns t WHERE t.id IN (` + in + `))`
	args := append([]any{sc.Namespace}, rows...)
	late, err := selectDerived(ctx, tx, `SELECT DISTINCT i.id, i.key FROM provenance p CROSS JOIN items i ON i.id = p.item
		AND i.namespace = ? AND i.seq > 0
		WHERE p.source > 0 AND p.turn IN `+keys, args...)
	if err != nil {
		return err
	}
	for _, d := range late {
		if err := s.hideVersions(ctx, tx, sc, itemKey{store.KindMemories, d.key}, []int64{d.id}, e); err != nil {
			return err
		}
	}
	turnIDs, err := Column[string](ctx, tx, `SELECT key FROM turns WHERE namespace = ? AND id IN (`+in+`)`, args...)
	if err != nil {
		return err
	}
	e.addItems(store.KindMemories, turnIDs...)
	for _, q := range []string{
		`DELETE FROM quarantine WHERE namespace = ? AND turn IN ` + keys,
		`UPDATE history SET turn = '', reason = '' WHERE namespace = ? AND turn IN ` + keys,
		`UPDATE procedure_history SET turn = '' WHERE procedure IN (SELECT p.id FROM procedures p
			WHERE p.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM procedure_sources WHERE body IN (SELECT b.id FROM procedure_bodies b
			JOIN procedures p ON p.id = b.procedure WHERE p.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM provenance WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = provenance.item AND i.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM turns WHERE namespace = ? AND id IN (` + in + `)`,
	} {
		if _, err := tx.ExecContext(ctx, q, args...); err != nil { //nolint:gosec // placeholders
			return err
		}
	}
	return nil
}

// deleteQuarantined deletes the quarantined memories of a scope.
func deleteQuarantined(ctx context.Context, tx *Tx, sc erasureScope, e *erasing) error {
	c := conditions{sql: `namespace = ?`, args: []any{sc.Namespace}}
	for _, f := range []struct {
		column string
		value  *string
	}{{"key", sc.Key}, {"user", sc.User}, {"session", sc.Session}} {
		if f.value != nil {
			c.and(f.column+` = ?`, *f.value)
		}
	}
	if sc.Kind == store.KindDocuments || sc.Key == nil && sc.User == nil && sc.Session == nil {
		return nil // the scope is a document, a procedure or a ledger
	}
	if sc.User != nil && sc.Session == nil && *sc.User != "" {
		if _, err := tx.ExecContext(ctx, `DELETE FROM history WHERE namespace = ? AND user = ?`, sc.Namespace, *sc.User); err != nil {
			return err
		}
	}
	if sc.Key != nil { // also of a discarded memory
		if err := deleteHistory(ctx, tx, sc.Namespace, *sc.Key); err != nil {
			return err
		}
	}
	quarantined, err := Column[string](ctx, tx, `SELECT key FROM quarantine WHERE `+c.sql, c.args...)
	if err != nil {
		return err
	}
	e.addItems(store.KindMemories, quarantined...)
	for _, q := range []string{
		`DELETE FROM history WHERE op = 'quarantined' AND (namespace, key) IN (SELECT namespace, key FROM quarantine WHERE ` + c.sql + `)`,
		`DELETE FROM quarantine WHERE ` + c.sql,
	} {
		if _, err := tx.ExecContext(ctx, q, c.args...); err != nil { //nolint:gosec // of constants
			return err
		}
	}
	return nil
}
