package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// EraseProcedure implements [store.Erasures].
func (s *Store) EraseProcedure(ctx context.Context, k store.ProcedureKey) (store.Erased, error) {
	var id int64
	err := s.view(ctx, func(tx *Tx) error {
		p := &procedure{tx: tx, key: k}
		err := p.find(ctx)
		id = p.id
		return err
	})
	if err != nil {
		if code, _ := ragctx.CodeOf(err); code == "not_found" {
			return store.Erased{}, nil
		}
		return store.Erased{}, failed("erase", err)
	}
	return s.erase(ctx, erasureScope{Namespace: k.Namespace, Procedure: id}, allowAny)
}

// eraseProcedures deletes the drafts and versions of a scope: the user's own, and those extracted
// from the scope's turns. Other turns that show the same procedure are queued for another
// extraction.
func (s *Store) eraseProcedures(ctx context.Context, sc erasureScope, e *erasing) error {
	found, err := s.proceduresIn(ctx, sc)
	if err != nil || len(found) == 0 {
		return err
	}
	for some := range slices.Chunk(found, sliceChunks) {
		n := 0
		err = s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
			for _, row := range some {
				gone, err := s.eraseBody(ctx, tx, sc, row)
				if err != nil {
					return err
				}
				n += gone
			}
			return nil
		})
		if err != nil {
			break
		}
		e.Procedures += n
	}
	s.procedures.Add(1)
	return err
}

// proceduresIn returns the rows of the drafts and versions in a scope.
func (s *Store) proceduresIn(ctx context.Context, sc erasureScope) (rows []int64, err error) {
	c := conditions{sql: `p.namespace = ? AND b.id <= ?`, args: []any{sc.Namespace, sc.Body}}
	switch {
	case sc.Procedure != 0:
		c.and(`p.id = ?`, sc.Procedure)
	case sc.Whole != "": // all rows of the namespace
	case !sc.Turns:
		return nil, nil
	default:
		where, args := sc.where(false)
		from := `b.id IN (SELECT s.body FROM procedure_sources s WHERE s.words = 1 AND s.turn IN (SELECT i.key
			FROM turns i WHERE ` + where + `))`
		if sc.User != nil && sc.Session == nil && sc.Key == nil {
			c.and(`(p.user = ? OR `+from+`)`, append([]any{*sc.User}, args...)...)
		} else {
			c.and(from, args...)
		}
	}
	err = s.view(ctx, func(tx *Tx) (err error) {
		rows, err = Column[int64](ctx, tx, `SELECT b.id FROM procedure_bodies b
			JOIN procedures p ON p.id = b.procedure WHERE `+c.sql, c.args...)
		return err
	})
	return rows, err
}

// eraseBody deletes a draft or version, and the procedure together with its last one.
func (s *Store) eraseBody(ctx context.Context, tx *Tx, sc erasureScope, row int64) (gone int, err error) {
	if sc.Procedure == 0 {
		err := requeueTurns(ctx, tx, store.ProcedureObserver, `SELECT t.id FROM procedure_sources s
			JOIN turns t ON t.namespace = ? AND t.key = s.turn WHERE s.body = ?`, sc.Namespace, row)
		if err != nil {
			return 0, err
		}
	}
	found, err := Column[int64](ctx, tx, `DELETE FROM procedure_bodies WHERE id = ? RETURNING procedure`, row)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	p := &procedure{Store: s, tx: tx, id: found[0], now: s.now().UnixMicro()}
	var before sql.NullInt64
	err = tx.QueryRowContext(ctx, `SELECT p.canonical, b.version FROM procedures p
		LEFT JOIN procedure_bodies b ON b.procedure = p.id AND b.version = p.canonical WHERE p.id = ?`, p.id).Scan(&before, &p.canonical)
	if err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE procedures SET canonical = ?, updated = ?
		WHERE id = ?`, p.canonical, p.now, p.id); err != nil {
		return 0, err
	}
	if err := p.record(ctx, ragctx.OpErased, before, ragctx.ByCaller, ""); err != nil {
		return 0, err
	}
	names, err := dropEmpty(ctx, tx, p.id)
	if err != nil || len(names) == 0 || sc.Whole != "" {
		return 1, err
	}
	namespace, err := namespaceName(ctx, tx, sc.Namespace)
	if err != nil {
		return 1, err
	}
	return 1, clearTargets(ctx, tx, namespace, subjectProcedure, names)
}
