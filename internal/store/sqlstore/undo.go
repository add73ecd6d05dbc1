package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// Undo implements [store.Curation].
func (s *Store) Undo(ctx context.Context, ns int64, id, user string, anyUser bool) (done ragctx.MemoryChange, seq uint64, err error) {
	err = s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		if !anyUser {
			if err := checkOwner(ctx, tx, ns, id, user); err != nil {
				return err
			}
		}
		u := undo{Store: s, tx: tx, ns: ns}
		var err error
		if done, err = u.newest(ctx, id); err != nil {
			return err
		}
		err = u.revert(ctx, id, done)
		seq = u.seq
		return err
	})
	if err != nil {
		return ragctx.MemoryChange{}, 0, failed("undo", err)
	}
	return done, seq, nil
}

// UndoTurn implements [store.Curation].
func (s *Store) UndoTurn(ctx context.Context, ns int64, turn, user string, anyUser bool) (ids []string, seq uint64, err error) {
	err = s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		ids = nil
		keys, err := Column[string](ctx, tx, `SELECT key FROM history INDEXED BY history_turn WHERE namespace = ? AND turn = ?
			AND op IN ('created', 'merged')
			GROUP BY key ORDER BY max(id) DESC`, ns,
			turn) // newest first: a memory superseded by another of them is restored before its own change is undone
		if err != nil {
			return err
		}
		for _, key := range keys {
			u := undo{Store: s, tx: tx, ns: ns}
			if !anyUser && checkOwner(ctx, tx, ns, key, user) != nil {
				continue
			}
			changed, err := u.turn(ctx, key, turn)
			if err != nil {
				return err
			}
			if seq = max(seq, u.seq); changed {
				ids = append(ids, key)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, failed("undo", err)
	}
	slices.Reverse(ids)
	return ids, seq, nil
}

// turn reverts the changes of a memory made by a turn, newest first, down to the first change that has to stay:
// one from elsewhere, or a supersession by another fact of the turn that itself stays. A fact of the turn that an
// older memory superseded at once is not restored.
func (u *undo) turn(ctx context.Context, key, turn string) (changed bool, err error) {
	for {
		c, err := u.newest(ctx, key)
		if errors.Is(err, ragctx.ErrConflict) || err == nil && c.Turn != turn {
			return changed, nil
		}
		if err != nil {
			return changed, err
		}
		if c.Op == ragctx.OpSuperseded {
			own, err := u.createdLast(ctx, key, c)
			if err != nil || !own {
				return changed, err
			}
			err = u.recordHistory(ctx, u.tx, u.ns, historyEntry{
				key: key, op: ragctx.OpUndone, by: ragctx.ByCaller, reason: string(c.Op), undid: c.ID,
			})
			if err != nil {
				return changed, err
			}
		} else if err := u.revert(ctx, key, c); err != nil {
			return changed, err
		}
		changed = true
	}
}

// createdLast reports whether a memory was the newest of its turn when a change was made. A fact is created right
// before it supersedes others or is superseded, so the newest one is the fact that the change was made for.
func (u *undo) createdLast(ctx context.Context, key string, c ragctx.MemoryChange) (yes bool, err error) {
	err = u.tx.QueryRowContext(ctx, `SELECT coalesce((SELECT key FROM history INDEXED BY history_turn WHERE namespace = ? AND turn = ?
		AND op = 'created' AND id < ? ORDER BY id DESC LIMIT 1) = ?, false)`, u.ns, c.Turn, c.ID, key).Scan(&yes)
	return yes, err
}

// undo is an undo within a transaction.
type undo struct {
	*Store

	tx  *Tx
	ns  int64
	seq uint64
}

// newest returns the change that the next undo reverts.
func (u *undo) newest(ctx context.Context, key string) (c ragctx.MemoryChange, err error) {
	var at sql.NullInt64
	err = u.tx.QueryRowContext(ctx, `SELECT id, at, by, op, version, before, turn, other FROM history h WHERE namespace = ?
		AND key = ? AND op <> 'undone'
		AND NOT EXISTS (SELECT 1 FROM history d WHERE d.namespace = h.namespace AND d.key = h.key AND d.undid = h.id)
		ORDER BY id DESC LIMIT 1`, u.ns, key).Scan(&c.ID, &at, &c.By, &c.Op, &c.Version, &c.Before, &c.Turn, &c.Other)
	c.At = moment(at)
	if errors.Is(err, sql.ErrNoRows) {
		var known bool
		if err := u.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM history WHERE namespace = ?1 AND key = ?2)
			OR EXISTS (SELECT 1 FROM items WHERE namespace = ?1 AND kind = ?3 AND key = ?2 AND seq > 0)`, u.ns, key,
			store.KindMemories).Scan(&known); err != nil {
			return c, err
		}
		if known {
			return c, fmt.Errorf("memory %q: %w: there is nothing left to undo", ragctx.Clip(key), ragctx.ErrConflict)
		}
		return c, fmt.Errorf("memory %q: %w", ragctx.Clip(key), ragctx.ErrNotFound)
	}
	return c, err
}

// revert reverts a change of a memory.
func (u *undo) revert(ctx context.Context, key string, c ragctx.MemoryChange) error {
	old, err := findCurrent(ctx, u.tx, u.ns, store.KindMemories, key)
	if err != nil {
		return err
	}
	e := historyEntry{key: key, op: ragctx.OpUndone, by: ragctx.ByCaller, reason: string(c.Op), undid: c.ID}
	if old != nil {
		e.before = old.version
	}
	switch c.Op {
	case ragctx.OpCreated:
		if old != nil {
			err = u.end(ctx, old.id)
		}
		if err == nil {
			err = u.restoreSuperseded(ctx, key, c.ID)
		}
	case ragctx.OpMerged:
		e.version = e.before
		if old != nil {
			_, err = u.tx.ExecContext(ctx, `DELETE FROM provenance WHERE item = ? AND turn = ? AND source = 0`, old.id, c.Turn)
		}
	case ragctx.OpUpdated, ragctx.OpDeleted, ragctx.OpPruned, ragctx.OpSuperseded:
		e.version, err = u.restore(ctx, key, c.Before, old)
	default:
		err = fmt.Errorf("memory %q: %w: its newest change, %s, cannot be undone", ragctx.Clip(key), ragctx.ErrConflict, c.Op)
	}
	if err != nil {
		return err
	}
	return u.recordHistory(ctx, u.tx, u.ns, e)
}

func (u *undo) end(ctx context.Context, row int64) error {
	seq, err := u.endVersion(ctx, u.tx, u.ns, store.KindMemories, row)
	u.seq = max(u.seq, seq)
	return err
}

// supersededBy selects the memories that one memory has superseded since a row of history.
const supersededBy = `SELECT DISTINCT key FROM history WHERE namespace = ? AND other = ? AND other <> '' AND op = 'superseded' AND id > ?`

// restoreSuperseded restores the memories that one superseded since its row of history, unless they were
// written again.
func (u *undo) restoreSuperseded(ctx context.Context, by string, since int64) error {
	keys, err := Column[string](ctx, u.tx, supersededBy, u.ns, by, since)
	if err != nil {
		return err
	}
	for _, key := range keys {
		c, err := u.newest(ctx, key)
		if errors.Is(err, ragctx.ErrConflict) || err == nil && (c.Op != ragctx.OpSuperseded || c.Other != by || c.ID < since) {
			continue
		}
		if err == nil {
			err = u.revert(ctx, key, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// restore makes a new version of a memory, equal to an earlier one.
func (u *undo) restore(ctx context.Context, key string, version int, old *current) (int, error) {
	var row int64
	err := u.tx.QueryRowContext(ctx, `SELECT id FROM items WHERE namespace = ? AND kind = ? AND key = ? AND version = ?`,
		u.ns, store.KindMemories, key, version).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("memory %q: %w: its version %d was erased", ragctx.Clip(key), ragctx.ErrConflict, version)
	}
	if err != nil {
		return 0, err
	}
	w, err := u.replaceVersion(ctx, u.tx, record{namespace: u.ns, kind: store.KindMemories, key: key}, old,
		func(version int, now int64) (uint64, error) {
			return u.copyVersion(ctx, row, version, now)
		})
	u.seq = max(u.seq, w.seq)
	return w.version, err
}

// Statements that copy everything that belongs to a version of an item to another row.
var versionParts = [...]string{
	`INSERT INTO texts (item, text) SELECT ?1, text FROM texts WHERE item = ?2`,
	`INSERT INTO text_parts (item, start, text) SELECT ?1, start, text FROM text_parts WHERE item = ?2`,
	`INSERT INTO facts (item, namespace, user, flags, kind, words, subject, attribute, value, about)
		SELECT ?1, namespace, user, flags, kind, words, subject, attribute, value, about FROM facts WHERE item = ?2`,
	`INSERT INTO provenance (item, turn, message, start, stop, source, at)
		SELECT ?1, turn, message, start, stop, source, at FROM provenance WHERE item = ?2`,
	`INSERT INTO units (item, ordinal, heading, text, hash, page, start_byte, start_line, start_rune, end_byte, end_line, end_rune)
		SELECT ?1, ordinal, heading, text, hash, page, start_byte, start_line, start_rune, end_byte, end_line, end_rune
		FROM units WHERE item = ?2`,
	`INSERT INTO voices (unit, role, name, timed) SELECT n.id, v.role, v.name, v.timed FROM units n
		JOIN units o ON o.item = ?2 AND o.ordinal = n.ordinal JOIN voices v ON v.unit = o.id WHERE n.item = ?1`,
}

// copyVersion writes a new version equal to row. Its vectors are found by the hashes of its chunks.
func (u *undo) copyVersion(ctx context.Context, row int64, version int, now int64) (uint64, error) {
	id, err := u.tx.Dialect.Insert(ctx, u.tx, "id", `INSERT INTO items (namespace, kind, key, version, seq, hash, title, source, mime, root,
			user, agent, session, type, importance, tags, metadata, abstract, outline, chunker, bytes, occurred, recorded, expires)
		SELECT namespace, kind, key, ?, 0, hash, title, source, mime, root,
			user, agent, session, type, importance, tags, metadata, abstract, outline, chunker, bytes, occurred, ?, expires
		FROM items WHERE id = ?`, version, now, row)
	if err != nil {
		return 0, err
	}
	for _, q := range versionParts {
		if _, err := u.tx.ExecContext(ctx, q, id, row); err != nil {
			return 0, err
		}
	}
	seq, err := u.appendChange(ctx, u.tx, u.ns, store.KindMemories, id, opPut)
	if err != nil {
		return 0, err
	}
	_, err = u.tx.ExecContext(ctx, `UPDATE items SET seq = ? WHERE id = ?`, seq, id)
	return seq, err
}
