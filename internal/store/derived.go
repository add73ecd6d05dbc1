package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/ragctx/ragctx/providers/memory"
)

// hideDerived hides what was learnt from the turns of a scope: memories whose words
// are from one of them, in all versions. What other turns say of them is to be learnt
// again, unless the memory itself was to go.
func (s *Store) hideDerived(ctx context.Context, sc scope, e *Erased) error {
	if !sc.Turns {
		return nil
	}
	for {
		var found []derived
		err := s.view(ctx, func(tx *sql.Tx) error {
			where, args := sc.where(false)
			var err error
			found, err = selectDerived(ctx, tx, `SELECT f.id, f.key FROM items f WHERE f.namespace = ? AND f.kind = ? AND f.seq > 0
				AND f.id IN (SELECT p.item FROM provenance p WHERE p.source > 0 AND p.turn IN (SELECT i.key FROM turns i WHERE `+where+`))
				ORDER BY f.key LIMIT 1000`, append([]any{sc.Namespace, Memories}, args...)...)
			return err
		})
		if err != nil || len(found) == 0 {
			return err
		}
		for some := range slices.Chunk(found, sliceUnits) {
			err := s.write.do(ctx, Low|frees, func(ctx context.Context, tx *sql.Tx) error {
				for _, d := range some {
					if err := s.hideVersions(ctx, tx, sc, named{Memories, d.key}, []int64{d.id}, e); err != nil {
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

// derived is a version of a memory that was learnt from a turn.
type derived struct {
	id  int64
	key string
}

func selectDerived(ctx context.Context, tx *sql.Tx, query string, args ...any) (all []derived, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = scan(rows, func() error {
		var d derived
		err := rows.Scan(&d.id, &d.key)
		all = append(all, d)
		return err
	})
	return all, err
}

// reinstate makes memories current again that nothing supersedes any more, since what
// had taken their place is erased. What a crash keeps it from stays superseded.
func (s *Store) reinstate(ctx context.Context, sc scope, keys []string) error {
	for _, key := range keys {
		err := s.write.do(ctx, Low|frees, func(ctx context.Context, tx *sql.Tx) error {
			u := undo{Store: s, tx: tx, ns: sc.Namespace}
			c, err := u.newest(ctx, key)
			if err != nil || c.Op != memory.OpSuperseded || c.Other != "" {
				return nil //nolint:nilerr // erased as well, or changed since
			}
			old, err := findCurrent(ctx, tx, sc.Namespace, Memories, key)
			if err != nil || old != nil {
				return err
			}
			return u.back(ctx, key, c)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// relearn has the turns that also say what a current memory says told again to those
// who learn from them. What somebody deleted or corrected is not learnt again.
func relearn(ctx context.Context, tx *sql.Tx, ns, item int64) error {
	return tellAgain(ctx, tx, memory.Name, `SELECT DISTINCT t.id FROM items i CROSS JOIN provenance p ON p.item = i.id
		CROSS JOIN turns t ON t.namespace = ? AND t.key = p.turn WHERE i.id = ? AND i.superseded IS NULL
		AND NOT EXISTS (SELECT 1 FROM provenance q WHERE q.item = i.id AND q.source = 2)`, ns, item)
}

// tellAgain has a provider told again of the turns whose rows a query returns. Others
// that are still to be told stay so, and may be told twice.
func tellAgain(ctx context.Context, tx *sql.Tx, provider, query string, args ...any) error {
	rows, err := column[int64](ctx, tx, query, args...)
	for _, row := range rows {
		if err != nil {
			break
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO untold (turn, only) VALUES (?1, ?2) ON CONFLICT DO UPDATE
			SET only = CASE only WHEN ?2 THEN ?2 ELSE '' END, told = '[]', asked = asked + 1`, row, provider)
	}
	return err
}

// forgetTurns deletes turns, and what mentions them. What was learnt from them since
// [Store.hideDerived] looked is hidden as well.
func (s *Store) forgetTurns(ctx context.Context, tx *sql.Tx, sc scope, ids []uint64, e *Erased) error {
	in, rows := list(ids)
	keys := `(SELECT t.key FROM turns t WHERE t.id IN (` + in + `))`
	args := append([]any{sc.Namespace}, rows...)
	late, err := selectDerived(ctx, tx, `SELECT DISTINCT i.id, i.key FROM provenance p CROSS JOIN items i ON i.id = p.item AND i.namespace = ? AND i.seq > 0
		WHERE p.source > 0 AND p.turn IN `+keys, args...)
	if err != nil {
		return err
	}
	for _, d := range late {
		if err := s.hideVersions(ctx, tx, sc, named{Memories, d.key}, []int64{d.id}, e); err != nil {
			return err
		}
	}
	told, err := column[string](ctx, tx, `SELECT key FROM turns WHERE namespace = ? AND id IN (`+in+`)`, args...)
	if err != nil {
		return err
	}
	e.note(Memories, told...)
	for _, q := range []string{
		`DELETE FROM quarantine WHERE namespace = ? AND turn IN ` + keys,
		`UPDATE history SET turn = '', reason = '' WHERE namespace = ? AND turn IN ` + keys,
		`UPDATE procedure_history SET turn = '' WHERE procedure IN (SELECT p.id FROM procedures p WHERE p.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM procedure_sources WHERE body IN (SELECT b.id FROM procedure_bodies b JOIN procedures p ON p.id = b.procedure WHERE p.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM provenance WHERE EXISTS (SELECT 1 FROM items i WHERE i.id = provenance.item AND i.namespace = ?) AND turn IN ` + keys,
		`DELETE FROM turns WHERE namespace = ? AND id IN (` + in + `)`,
	} {
		if _, err := tx.ExecContext(ctx, q, args...); err != nil { //nolint:gosec // placeholders
			return err
		}
	}
	return nil
}

// forgetAside removes what is in quarantine of a scope.
func forgetAside(ctx context.Context, tx *sql.Tx, sc scope, e *Erased) error {
	c := conditions{sql: `namespace = ?`, args: []any{sc.Namespace}}
	for _, f := range []struct {
		column string
		value  *string
	}{{"key", sc.Key}, {"user", sc.User}, {"session", sc.Session}} {
		if f.value != nil {
			c.and(f.column+` = ?`, *f.value)
		}
	}
	if sc.Kind == Documents || sc.Key == nil && sc.User == nil && sc.Session == nil {
		return nil // of a document, a procedure or a ledger
	}
	if sc.User != nil && sc.Session == nil && *sc.User != "" {
		if _, err := tx.ExecContext(ctx, `DELETE FROM history WHERE namespace = ? AND user = ?`, sc.Namespace, *sc.User); err != nil {
			return err
		}
	}
	if sc.Key != nil { // also of what was discarded
		if err := forgetHistory(ctx, tx, sc.Namespace, *sc.Key); err != nil {
			return err
		}
	}
	aside, err := column[string](ctx, tx, `SELECT key FROM quarantine WHERE `+c.sql, c.args...)
	if err != nil {
		return err
	}
	e.note(Memories, aside...)
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
