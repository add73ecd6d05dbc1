package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// PutTurn implements [store.Turns].
func (s *Store) PutTurn(
	ctx context.Context, ns int64, t ragctx.Turn, m *ragctx.Memory, c store.Content, deliver bool,
) (st store.Status, seq uint64, row int64, err error) {
	body, err := json.Marshal(t)
	if err != nil {
		return "", 0, 0, ragctx.Invalid("messages", "cannot be written as JSON: %v", err)
	}
	st = store.Created
	err = s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		known, err := checkTurn(ctx, tx, ns, t, string(body), m != nil)
		if err != nil {
			return err
		}
		if known {
			st = store.Unchanged
			seq, err = lastChange(ctx, tx, store.Collection{Namespace: ns, Kind: store.KindMemories})
			return err
		}
		if err := tx.QueryRowContext(ctx, `INSERT INTO turns (namespace, key, user, agent, session, body, occurred, recorded)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, ns, t.ID, t.UserID, t.AgentID, t.SessionID, string(body),
			t.Occurred.UnixMicro(), s.now().UnixMicro()).Scan(&row); err != nil {
			return err
		}
		if deliver {
			if _, err := tx.ExecContext(ctx, `INSERT INTO untold (turn) VALUES (?)`, row); err != nil {
				return err
			}
		}
		if m == nil {
			return nil
		}
		w, err := s.putVersion(ctx, tx, memoryRecord(ns, *m, c), nil)
		seq = w.seq
		return err
	})
	if err != nil {
		return "", 0, 0, failed("store turn", err)
	}
	return st, seq, row, nil
}

// checkTurn reports whether a turn is stored already. It fails if the turn's id is not free. Spoken
// means that the turn becomes a memory.
func checkTurn(ctx context.Context, tx *Tx, ns int64, t ragctx.Turn, body string, spoken bool) (known bool, err error) {
	var user, was string
	err = tx.QueryRowContext(ctx, `SELECT user, body FROM turns WHERE namespace = ? AND key = ?`, ns, t.ID).Scan(&user, &was)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	known = err == nil
	m, err := findCurrent(ctx, tx, ns, store.KindMemories, t.ID)
	if err != nil {
		return known, err
	}
	refuse := func(why string) error {
		return fmt.Errorf("turn %q: %w: %s; choose another id", ragctx.Clip(t.ID), ragctx.ErrConflict, why)
	}
	others, err := ownedByOther(ctx, tx, ns, t.ID, t.UserID, true)
	if err != nil {
		return known, err
	}
	switch {
	case known && user != t.UserID:
		return known, refuse("the id is taken")
	case known && was != body:
		return known, refuse("it exists with other content")
	case known && spoken && m == nil:
		return known, refuse("it was deleted")
	case !known && m != nil:
		return known, refuse("a memory has that id")
	case !known && others:
		return known, refuse("the id is taken")
	}
	return known, nil
}

// Turn implements [store.Turns].
func (s *Store) Turn(ctx context.Context, ns int64, id, user string, anyUser bool) (t store.StoredTurn, err error) {
	var body string
	var recorded sql.NullInt64
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT body, recorded FROM turns WHERE namespace = ? AND key = ? AND (? OR user IN ('', ?))`,
			ns, id, anyUser, user).Scan(&body, &recorded)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return t, fmt.Errorf("turn %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	if err != nil {
		return t, fmt.Errorf("read turn: %w", err)
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber() // metadata keeps its numbers as sent
	if err := dec.Decode(&t.Turn); err != nil {
		return t, fmt.Errorf("read turn %q: %w", ragctx.Clip(id), err)
	}
	t.Recorded = moment(recorded)
	return t, nil
}
