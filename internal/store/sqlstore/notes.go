package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// Notes are the durable [stage.Notes] of a store. They belong to a stored session and are removed
// with it. A missing session has no notes and gets none, so a late observer does not restore erased
// data.
type Notes struct{ store *Store }

var _ stage.Notes = Notes{}

// Notes implements [store.Parts].
func (s *Store) Notes() stage.Notes { return Notes{s} }

// Notes implements [stage.Notes].
func (n Notes) Notes(ctx context.Context, of stage.Scope) ([]stage.Note, error) {
	var stored []string
	err := n.store.readSession(ctx, sessionKey(of), func(c *conversation) (err error) {
		stored, err = Column[string](ctx, c.tx, `SELECT note FROM session_notes WHERE session = ? ORDER BY n`, c.id)
		return err
	})
	if errors.Is(err, ragctx.ErrNotFound) {
		return nil, nil
	}
	var out []stage.Note
	for _, text := range stored {
		var one stage.Note
		if json.Unmarshal([]byte(text), &one) == nil { // a damaged note can be lost
			out = append(out, one)
		}
	}
	return out, err
}

// AddNote implements [stage.Notes]. A session that is not stored is [ragctx.ErrNotFound].
func (n Notes) AddNote(ctx context.Context, of stage.Scope, one stage.Note) error {
	text, err := json.Marshal(one)
	if err != nil {
		return ragctx.Invalid("note", "cannot be written: %v; send what JSON can hold", err)
	}
	add := func(ctx context.Context, c *conversation) error {
		place, err := c.replaceReflected(ctx, one)
		if err != nil {
			return err
		}
		if !place.Valid {
			_, err = c.tx.ExecContext(ctx, `INSERT INTO session_notes (session, note) VALUES (?, ?)`, c.id, string(text))
			return err
		}
		_, err = c.tx.ExecContext(ctx, `INSERT INTO session_notes (n, session, note) VALUES (?, ?, ?)`, place, c.id, string(text))
		return err
	}
	_, err = n.store.changeSession(ctx, High, sessionKey(of), session.Condition{}, n.store.now, add)
	return err
}

// replaceReflected deletes the notes that one replaces and returns the place of the newest of them, if
// any.
func (c *conversation) replaceReflected(ctx context.Context, one stage.Note) (place sql.NullInt64, err error) {
	if len(one.Reflects) == 0 {
		return place, nil
	}
	var places []int64
	var notes []stage.Note
	const query = `SELECT n, note FROM session_notes WHERE session = ? ORDER BY n`
	rows, err := c.tx.QueryContext(ctx, query, c.id) //nolint:sqlclosecheck // Scan closes it
	if err != nil {
		return place, err
	}
	err = Scan(rows, func() error {
		var n int64
		var text string
		err := rows.Scan(&n, &text)
		places, notes = append(places, n), append(notes, decode[stage.Note](text))
		return err
	})
	if err != nil {
		return place, err
	}
	gone, err := one.Replaces(notes)
	if err != nil {
		return place, err
	}
	for _, i := range gone {
		if _, err := c.tx.ExecContext(ctx, `DELETE FROM session_notes WHERE n = ?`, places[i]); err != nil {
			return place, err
		}
	}
	return sql.NullInt64{Int64: places[slices.Max(gone)], Valid: true}, nil
}

// sessionKey returns the session of a scope.
func sessionKey(of stage.Scope) session.Key {
	return session.Key{Namespace: of.Namespace, User: of.UserID, ID: of.SessionID}
}
