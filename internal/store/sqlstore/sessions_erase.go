package sqlstore

import (
	"context"
	"slices"
)

// sessions returns the conditions on the sessions in a scope, with their names in a given column;
// false if the scope concerns no sessions.
func (sc erasureScope) sessions(name string) (conditions, bool) {
	c := conditions{sql: `namespace = ?`, args: []any{sc.Namespace}}
	if sc.User != nil {
		c.and(`user = ?`, *sc.User)
	}
	if sc.Session != nil {
		c.and(name+` = ?`, *sc.Session)
	}
	return c, sc.Turns && sc.Key == nil
}

// hideSessions returns the statement that hides the sessions under the conditions and their forks.
// Visible and hidden sessions are selected separately, as each has its own indexes.
func (c conditions) hideSessions() (string, []any) {
	return `UPDATE sessions SET erased = 1 WHERE erased = 0 AND id IN (
		WITH RECURSIVE gone (id) AS (
			SELECT id FROM sessions WHERE erased = 0 AND ` + c.sql + `
			UNION SELECT id FROM sessions WHERE erased = 1 AND ` + c.sql + `
			UNION SELECT session FROM session_ancestors WHERE ` + c.sql + `
			UNION SELECT f.id FROM gone JOIN sessions f ON f.origin = gone.id)
		SELECT id FROM gone) RETURNING name`, slices.Concat(c.args, c.args, c.args)
}

// hideSessions hides the stored sessions of a scope and the forks that contain their messages,
// including forks of deleted sessions, and clears their names from the audit log. The garbage collector
// removes them. It returns their number. A later session of the same name is not affected.
func hideSessions(ctx context.Context, tx *Tx, sc erasureScope) (int, error) {
	c, some := sc.sessions(`name`)
	if !some {
		return 0, nil
	}
	query, args := c.hideSessions()
	names, err := Column[string](ctx, tx, query, args...)
	hidden := len(names)
	if sc.Session != nil {
		names = append(names, *sc.Session) // the session may have been deleted before
	}
	if err != nil || len(names) == 0 || sc.Whole != "" { // the erasure of a namespace clears all names
		return hidden, err
	}
	namespace, err := namespaceName(ctx, tx, sc.Namespace)
	if err != nil {
		return 0, err
	}
	return hidden, clearTargets(ctx, tx, namespace, subjectSession, names)
}

// deletedSessions selects the hidden sessions.
const deletedSessions = `SELECT id FROM sessions WHERE erased = 1`

// collectSessions removes hidden sessions with all their rows.
func (s *Store) collectSessions(ctx context.Context) error {
	var gone []int64
	err := s.view(ctx, func(tx *Tx) (err error) {
		gone, err = Column[int64](ctx, tx, deletedSessions)
		return err
	})
	for _, id := range gone {
		for more := true; more && err == nil; {
			err = s.Slice(ctx, Frees, NoNamespaces, func(ctx context.Context, tx *Tx, enough func(int) bool) (err error) {
				more, err = dropSession(ctx, tx, id, enough)
				return err
			})
		}
	}
	return err
}

// dropSession deletes messages of a session until enough, and finally the session. It reports
// whether more remain.
func dropSession(ctx context.Context, tx *Tx, id int64, enough func(int) bool) (more bool, err error) {
	for done := sliceChunks; ; done += sliceChunks {
		res, err := tx.ExecContext(ctx, `DELETE FROM session_messages
			WHERE seq IN (SELECT seq FROM session_messages WHERE session = ? LIMIT ?)`, id, sliceChunks)
		if err != nil {
			return true, err
		}
		n, err := res.RowsAffected()
		if err != nil {
			return true, err
		}
		if n < sliceChunks {
			break
		}
		if enough(done) {
			return true, nil
		}
	}
	// Its forks become forks of its origin and remember the deleted session.
	_, err = tx.ExecContext(ctx, `INSERT INTO session_ancestors (session, namespace, user, name)
		SELECT f.id, f.namespace, s.user, s.name FROM sessions f JOIN sessions s ON s.id = f.origin WHERE f.origin = ?1
		UNION SELECT f.id, a.namespace, a.user, a.name FROM sessions f
		JOIN session_ancestors a ON a.session = f.origin WHERE f.origin = ?1
		ON CONFLICT DO NOTHING`, id)
	if err != nil {
		return true, err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE sessions SET origin = (SELECT origin FROM sessions WHERE id = ?1)
		WHERE origin = ?1`, id); err != nil {
		return true, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id)
	return false, err
}
