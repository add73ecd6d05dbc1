package sqlstore

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ragctx/ragctx/internal/store"
)

// EraseNamespace implements [store.Erasures].
func (s *Store) EraseNamespace(ctx context.Context, name string, around func(note func() error) error) (store.Erased, error) {
	var e erasing
	ns, err := s.Namespace(ctx, name, false)
	if err != nil {
		return store.Erased{}, err
	}
	sc := erasureScope{Namespace: ns, Turns: true, Whole: name}
	err = around(func() (err error) {
		sc, e, err = s.recordErasure(ctx, sc, func(ctx context.Context, tx *Tx) error { return hideNamespace(ctx, tx, ns, name) })
		if err == nil {
			s.namespaceIDs.drop(name)
		}
		return err
	})
	if err != nil {
		return store.Erased{}, err
	}
	return s.executeErasure(ctx, sc, e)
}

// erasedName returns the name of an erased namespace, which its jobs get as well.
func (d *Dialect) erasedName(ns int64) string { return d.Erased + strconv.FormatInt(ns, 10) }

// hideNamespace hides a namespace, its ledgers and its jobs.
func hideNamespace(ctx context.Context, tx *Tx, ns int64, name string) error {
	res, err := tx.ExecContext(ctx, `UPDATE namespaces SET name = ?, erased = 1 WHERE id = ? AND name = ?`,
		tx.Dialect.erasedName(ns), ns, name)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = namespaceNotFound(name) // erased concurrently
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE ledgers SET name = '', erased = 1 WHERE namespace = ? AND erased = 0`, ns); err != nil {
		return err
	}
	// A spooling job is invisible, and deleted by default.
	_, err = tx.ExecContext(ctx,
		`UPDATE jobs SET namespace = ?, state = 'spooling', request = '{}', result = '' WHERE namespace = ?`,
		tx.Dialect.erasedName(ns), name)
	return err
}

// remainingRows delete the remaining rows of an erased namespace after its items, turns and procedure
// versions, in batches of at most a thousand.
var remainingRows = [...]string{
	`DELETE FROM history WHERE id IN (SELECT id FROM history WHERE namespace = ?1 LIMIT 1000)`,
	`DELETE FROM quarantine WHERE id IN (SELECT id FROM quarantine WHERE namespace = ?1 LIMIT 1000)`,
	`DELETE FROM uses WHERE namespace = ?1 AND key IN (SELECT key FROM uses WHERE namespace = ?1 LIMIT 1000)`,
	`DELETE FROM procedures WHERE id IN (SELECT id FROM procedures WHERE namespace = ?1 LIMIT 100)`,
}

// eraseRemainingRows removes the remaining rows of an erased namespace.
func (s *Store) eraseRemainingRows(ctx context.Context, sc erasureScope, e *erasing) error {
	if sc.Whole == "" {
		return nil
	}
	var ledgers, jobs []int64
	err := s.view(ctx, func(tx *Tx) (err error) {
		if ledgers, err = Column[int64](ctx, tx, `SELECT id FROM ledgers WHERE namespace = ?`, sc.Namespace); err == nil {
			jobs, err = Column[int64](ctx, tx, `SELECT n FROM jobs WHERE namespace = ?`, s.dialect.erasedName(sc.Namespace))
		}
		return err
	})
	for _, id := range ledgers {
		if err == nil {
			err = s.eraseMessages(ctx, erasureScope{Ledger: id}, e)
		}
	}
	for _, n := range jobs {
		if err == nil {
			err = s.DeleteJob(ctx, n)
		}
	}
	for _, q := range remainingRows {
		for more := true; more && err == nil; {
			more, err = s.deleteBatch(ctx, q, sc.Namespace)
		}
	}
	if err == nil {
		err = s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE key LIKE ?`, fmt.Sprintf("ranking/%d/%%", sc.Namespace))
			return err
		})
	}
	s.procedures.Add(1)
	return failedIf("erase the rest of a namespace", err)
}

// deleteBatch deletes a batch of rows and reports whether any existed.
func (s *Store) deleteBatch(ctx context.Context, query string, ns int64) (deleted bool, err error) {
	err = s.write.do(ctx, Low|Frees, func(ctx context.Context, tx *Tx) error {
		res, err := tx.ExecContext(ctx, query, ns)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		deleted = n > 0
		return err
	})
	return deleted, err
}
