package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// AddSessionProvider implements [store.SessionProviders].
func (s *Store) AddSessionProvider(ctx context.Context, k store.SessionKey, name string, limit int) (added bool, err error) {
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		var have int
		var has bool
		if err := tx.QueryRowContext(ctx, `SELECT count(*), coalesce(max(CASE name WHEN ? THEN 1 ELSE 0 END), 0) FROM session_providers
			WHERE namespace = ? AND session = ? AND user = ? AND removed = 0`, name, k.Namespace, k.Session,
			k.User).Scan(&have, &has); err != nil {
			return err
		}
		if added = !has; has {
			return nil
		}
		if have >= limit {
			return ragctx.Invalid("name", "exceeds the limit of %d providers for a session; remove one", have)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO session_providers (namespace, session, user, name, added) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (namespace, session, user, name) DO UPDATE SET added = excluded.added, removed = 0`,
			k.Namespace, k.Session, k.User, name, s.now().UnixMicro())
		return err
	})
	return added, failedIf("add provider to session", err)
}

// RemoveSessionProvider implements [store.SessionProviders].
func (s *Store) RemoveSessionProvider(ctx context.Context, k store.SessionKey, name string) (removed bool, err error) {
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		res, err := tx.ExecContext(ctx, `UPDATE session_providers SET removed = 1
			WHERE namespace = ? AND session = ? AND user = ? AND name = ? AND removed = 0`, k.Namespace, k.Session, k.User, name)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		removed = n > 0
		return err
	})
	return removed, failedIf("remove provider from session", err)
}

// SessionProviders implements [store.SessionProviders].
func (s *Store) SessionProviders(ctx context.Context, k store.SessionKey) (list []store.SessionProvider, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT name, added FROM session_providers
			WHERE namespace = ? AND session = ? AND user = ? AND removed = 0 ORDER BY added, name`, k.Namespace, k.Session, k.User)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var p store.SessionProvider
			var added int64
			err := rows.Scan(&p.Name, &added)
			p.Added = time.UnixMicro(added).UTC()
			list = append(list, p)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read providers of session: %w", err)
	}
	return list, nil
}

// SessionKnown implements [store.SessionProviders].
func (s *Store) SessionKnown(ctx context.Context, k store.SessionKey) (known bool, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM session_providers WHERE namespace = ?1 AND session = ?2 AND user = ?3)
			OR EXISTS (SELECT 1 FROM turns WHERE namespace = ?1 AND session = ?2 AND user = ?3)
			OR EXISTS (SELECT 1 FROM sessions WHERE namespace = ?1 AND name = ?2 AND user = ?3 AND erased = 0)`,
			k.Namespace, k.Session, k.User).Scan(&known)
	})
	if err != nil {
		return false, fmt.Errorf("find session: %w", err)
	}
	return known, nil
}

// deleteSessionProviders deletes the providers of the sessions in a scope.
func deleteSessionProviders(ctx context.Context, tx *Tx, sc erasureScope) error {
	c, some := sc.sessions(`session`)
	if !some {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM session_providers WHERE `+c.sql, c.args...)
	return err
}
