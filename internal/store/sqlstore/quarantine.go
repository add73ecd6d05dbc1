package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// quarantine puts the fact into quarantine.
func (c *factWriter) quarantine(ctx context.Context) error {
	m := &c.fact.Memory
	if err := c.chooseID(ctx); err != nil {
		return err
	}
	if err := insertQuarantined(ctx, c.tx, c.ns, *m, c.fact.Quarantine, c.now()); err != nil {
		return err
	}
	return c.recordHistory(ctx, c.tx, c.ns, historyEntry{
		key: m.ID, op: ragctx.OpQuarantined, by: c.fact.By, user: m.UserID, turn: m.Sources[0].Turn, reason: c.fact.Quarantine,
	})
}

// insertQuarantined inserts a quarantined memory. Its id must be free.
func insertQuarantined(ctx context.Context, tx *Tx, ns int64, m ragctx.Memory, reason string, now time.Time) error {
	body, err := json.Marshal(m)
	if err != nil {
		return ragctx.Invalid("metadata", "cannot be stored as JSON: %v", err)
	}
	turn := ""
	if len(m.Sources) > 0 {
		turn = m.Sources[0].Turn
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO quarantine (namespace, key, user, agent, session, turn, body, reason, created)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, key) DO UPDATE SET
			agent = excluded.agent, session = excluded.session, turn = excluded.turn, body = excluded.body, reason = excluded.reason`,
		ns, m.ID, m.UserID, m.AgentID, m.SessionID, turn, string(body), reason, now.UnixMicro())
	return err
}

// PutInQuarantine implements [store.Curation].
func (s *Store) PutInQuarantine(ctx context.Context, ns int64, m ragctx.Memory, reason string) error {
	err := s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		old, err := findCurrent(ctx, tx, ns, store.KindMemories, m.ID)
		if err != nil {
			return err
		}
		if old != nil {
			return fmt.Errorf("memory %q: %w: its replacement belongs in quarantine (%s); send it under another id",
				ragctx.Clip(m.ID), ragctx.ErrConflict, reason)
		}
		if err := checkIDFree(ctx, tx, ns, m.ID, m.UserID); err != nil {
			return err
		}
		if err := insertQuarantined(ctx, tx, ns, m, reason, s.now()); err != nil {
			return err
		}
		return s.recordHistory(ctx, tx, ns, historyEntry{
			key: m.ID, op: ragctx.OpQuarantined, by: ragctx.ByCaller, user: m.UserID,
			reason: reason,
		})
	})
	return failedIf("put into quarantine", err)
}

// failedIf applies [failed] to an error that may be nil.
func failedIf(what string, err error) error {
	if err == nil {
		return nil
	}
	return failed(what, err)
}

// Quarantine implements [store.Curation].
func (s *Store) Quarantine(ctx context.Context, ns int64, f store.MemoryFilter, after int64) ([]store.Quarantined, error) {
	c := conditions{sql: `i.namespace = ? AND i.id > ?`, args: []any{ns, after}}
	addScope(&c, f)
	out := []store.Quarantined{}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT i.body, i.reason, i.created, i.id FROM quarantine i WHERE `+c.sql+`
			ORDER BY i.id LIMIT ?`, //nolint:gosec // of constants
			append(c.args, f.Limit)...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			q, err := scanQuarantined(rows)
			out = append(out, q)
			return err
		})
	})
	if err != nil {
		return nil, failed("list quarantine", err)
	}
	return out, nil
}

func scanQuarantined(row interface{ Scan(...any) error }) (store.Quarantined, error) {
	var q store.Quarantined
	var body string
	var since sql.NullInt64
	if err := row.Scan(&body, &q.Reason, &since, &q.Row); err != nil {
		return q, err
	}
	q.Memory, q.Since = decode[ragctx.Memory](body), moment(since)
	q.State = ragctx.MemoryQuarantined
	return q, nil
}

// Quarantined implements [store.Curation].
func (s *Store) Quarantined(ctx context.Context, ns int64, id, user string, anyUser bool) (q store.Quarantined, err error) {
	err = s.view(ctx, func(tx *Tx) (err error) {
		q, err = findQuarantined(ctx, tx, ns, id, user, anyUser)
		return err
	})
	if err != nil {
		return q, failed("read quarantine", err)
	}
	return q, nil
}

func findQuarantined(ctx context.Context, tx *Tx, ns int64, id, user string, anyUser bool) (store.Quarantined, error) {
	q, err := scanQuarantined(tx.QueryRowContext(ctx,
		`SELECT body, reason, created, id FROM quarantine WHERE namespace = ? AND key = ?`, ns, id))
	if errors.Is(err, sql.ErrNoRows) || err == nil && !anyUser && q.UserID != "" && q.UserID != user {
		return q, fmt.Errorf("memory %q in quarantine: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	return q, err
}

// inQuarantine reports whether a quarantined memory satisfies the conditions. It exists but has no
// version.
func inQuarantine(ctx context.Context, tx *Tx, ns int64, id, user string, anyUser bool, when []store.Condition) bool {
	if slices.ContainsFunc(when, needsVersion) {
		return false
	}
	_, err := findQuarantined(ctx, tx, ns, id, user, anyUser)
	return err == nil
}

// Release implements [store.Curation].
func (s *Store) Release(ctx context.Context, ns int64, id, user string, anyUser bool, c store.Content) (seq uint64, err error) {
	err = s.leaveQuarantine(ctx, ns, id, user, anyUser, ragctx.OpReleased,
		func(ctx context.Context, tx *Tx, q store.Quarantined) (int, error) {
			old, err := findCurrent(ctx, tx, ns, store.KindMemories, id)
			if err != nil {
				return 0, err
			}
			if old != nil {
				return 0, fmt.Errorf("memory %q: %w: another memory has taken its id", ragctx.Clip(id), ragctx.ErrConflict)
			}
			if err := checkIDFree(ctx, tx, ns, id, q.UserID); err != nil {
				return 0, err
			}
			w, err := s.putVersion(ctx, tx, memoryRecord(ns, q.Memory, c), nil)
			seq = w.seq
			return w.version, err
		})
	return seq, failedIf("release memory", err)
}

// Discard implements [store.Curation].
func (s *Store) Discard(ctx context.Context, ns int64, id, user string, anyUser bool) error {
	err := s.leaveQuarantine(ctx, ns, id, user, anyUser, ragctx.OpDiscarded, storeNothing)
	return failedIf("discard memory", err)
}

// storeNothing stores nothing of a discarded memory.
func storeNothing(context.Context, *Tx, store.Quarantined) (version int, err error) {
	return 0, nil
}

func (s *Store) leaveQuarantine(ctx context.Context, ns int64, id, user string, anyUser bool, op ragctx.ChangeOp,
	fn func(context.Context, *Tx, store.Quarantined) (version int, err error),
) error {
	return s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		return s.removeFromQuarantine(ctx, tx, ns, id, user, anyUser, op, fn)
	})
}

// removeFromQuarantine takes a memory out of quarantine within a transaction.
func (s *Store) removeFromQuarantine(ctx context.Context, tx *Tx, ns int64, id, user string, anyUser bool, op ragctx.ChangeOp,
	fn func(context.Context, *Tx, store.Quarantined) (version int, err error),
) error {
	q, err := findQuarantined(ctx, tx, ns, id, user, anyUser)
	if err != nil {
		return err
	}
	version, err := fn(ctx, tx, q)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM quarantine WHERE namespace = ? AND key = ?`, ns, id); err != nil {
		return err
	}
	turn := ""
	if len(q.Sources) > 0 {
		turn = q.Sources[0].Turn
	}
	return s.recordHistory(ctx, tx, ns, historyEntry{key: id, op: op, version: version, by: ragctx.ByCaller, user: q.UserID, turn: turn})
}
