package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// historyEntry is a row of history to be written.
type historyEntry struct {
	key             string
	op              ragctx.ChangeOp
	version, before int
	by              string
	turn            string
	other           string
	reason          string
	user            string // owner of a quarantined memory
	undid           int64
}

// recordHistory inserts an event of a memory.
func (s *Store) recordHistory(ctx context.Context, tx *Tx, ns int64, e historyEntry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO history (namespace, key, at, op, version, before, by, turn, other, reason, user, undid)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ns, e.key, s.now().UnixMicro(), e.op, e.version, e.before, e.by,
		e.turn, e.other, e.reason, e.user, orNull(e.undid))
	return err
}

// wholeHistory selects the events of a memory. Versions without an event come first: those made
// from turns, and those stored before history existed.
const wholeHistory = `
	SELECT 0, i.recorded, CASE i.version WHEN 1 THEN 'created' ELSE 'updated' END, i.version, i.version - 1,
		CASE WHEN t.key IS NULL THEN 'caller' ELSE 'turn' END, coalesce(t.key, ''), '', '', false, x.text, coalesce(y.text, '')
	FROM items i
	JOIN texts x ON x.item = i.id
	LEFT JOIN turns t ON t.namespace = i.namespace AND t.key = i.key
	LEFT JOIN items j ON j.namespace = i.namespace AND j.kind = i.kind AND j.key = i.key AND j.version = i.version - 1 AND j.seq > 0
	LEFT JOIN texts y ON y.item = j.id
	WHERE i.namespace = ?2 AND i.kind = ?1 AND i.key = ?3 AND i.seq > 0
		AND NOT EXISTS (SELECT 1 FROM history h WHERE h.namespace = ?2 AND h.key = ?3 AND h.version = i.version)
	UNION ALL
	SELECT h.id, h.at, h.op, h.version, h.before, h.by, h.turn, h.other, h.reason,
		EXISTS (SELECT 1 FROM history u WHERE u.namespace = h.namespace AND u.key = h.key AND u.undid = h.id),
		coalesce(t.text, ''), coalesce(b.text, '')
	FROM history h
	LEFT JOIN items i ON i.namespace = h.namespace AND i.kind = ?1 AND i.key = h.key AND i.version = h.version AND h.version > 0
	LEFT JOIN texts t ON t.item = i.id
	LEFT JOIN items j ON j.namespace = h.namespace AND j.kind = ?1 AND j.key = h.key AND j.version = h.before AND h.before > 0
	LEFT JOIN texts b ON b.item = j.id
	WHERE h.namespace = ?2 AND h.key = ?3
	ORDER BY 1, 4`

// MemoryHistory implements [store.Curation].
func (s *Store) MemoryHistory(ctx context.Context, ns int64, id, user string, anyUser bool) ([]ragctx.MemoryChange, error) {
	out := []ragctx.MemoryChange{}
	err := s.view(ctx, func(tx *Tx) error {
		if !anyUser {
			if err := checkOwner(ctx, tx, ns, id, user); err != nil {
				return err
			}
		}
		rows, err := tx.QueryContext(ctx, wholeHistory, store.KindMemories, ns, id)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			c, err := scanChange(rows)
			out = append(out, c)
			return err
		})
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	if err != nil {
		return nil, failed("read history", err)
	}
	return out, nil
}

// TurnChanges implements [store.Curation].
func (s *Store) TurnChanges(ctx context.Context, ns int64, turn, user string, anyUser bool) ([]store.TurnChange, error) {
	out := []store.TurnChange{}
	err := s.view(ctx, func(tx *Tx) error {
		keys, err := Column[string](ctx, tx, `SELECT key FROM history WHERE namespace = ? AND turn = ?
			GROUP BY key ORDER BY min(id)`, ns, turn)
		if err != nil {
			return err
		}
		for _, key := range keys {
			if !anyUser && checkOwner(ctx, tx, ns, key, user) != nil {
				continue
			}
			rows, err := tx.QueryContext(ctx, wholeHistory, store.KindMemories, ns, key)
			if err != nil {
				return err
			}
			err = Scan(rows, func() error {
				c, err := scanChange(rows)
				if c.Turn == turn {
					out = append(out, store.TurnChange{MemoryID: key, MemoryChange: c})
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return out, failedIf("read changes of a turn", err)
}

func scanChange(rows *sql.Rows) (ragctx.MemoryChange, error) {
	var c ragctx.MemoryChange
	var at sql.NullInt64
	err := rows.Scan(&c.ID, &at, &c.Op, &c.Version, &c.Before, &c.By, &c.Turn, &c.Other, &c.Reason, &c.Undone, &c.Content, &c.Previous)
	c.At = moment(at)
	return c, err
}

// clearMentions clears the name of a memory from the history of the memories it superseded or was
// superseded by.
const clearMentions = `UPDATE history SET other = '', reason = '' WHERE namespace = ? AND other = ? AND other <> ''`

// deleteHistory deletes the history and usage counts of an erased memory, and clears its name from
// the history of others.
func deleteHistory(ctx context.Context, tx *Tx, ns int64, key string) error {
	for _, q := range []string{
		`DELETE FROM history WHERE namespace = ? AND key = ?`,
		clearMentions,
		`DELETE FROM uses WHERE namespace = ? AND key = ?`,
	} {
		if _, err := tx.ExecContext(ctx, q, ns, key); err != nil {
			return err
		}
	}
	return nil
}
