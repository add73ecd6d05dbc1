package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// newMessage is a message to be stored.
type newMessage struct{ id, parent, section, label, data string }

// encodeMessages returns entries in their stored form.
func encodeMessages(entries []session.Entry, labels map[string]string) ([]newMessage, error) {
	out := make([]newMessage, len(entries))
	for i, e := range entries {
		data, err := messageText(e.Message)
		if err != nil {
			return nil, err
		}
		out[i] = newMessage{e.Message.ID, e.Message.ParentID, e.Section, labels[e.Message.ID], data}
	}
	return out, nil
}

// fill writes messages, and the sections and compactions of their archive.
func (c *conversation) fill(ctx context.Context, a session.Archive, messages []newMessage) error {
	for _, name := range a.Sections {
		if _, err := c.insertSection(ctx, name); err != nil {
			return err
		}
	}
	if err := c.insertMessages(ctx, messages); err != nil {
		return err
	}
	for _, one := range a.Compactions {
		if err := c.insertCompaction(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// addSection adds the section of appended messages, or returns an error if the session has too many.
func (c *conversation) addSection(ctx context.Context, section string) error {
	var n int
	if isNew, err := c.insertSection(ctx, section); err != nil || !isNew {
		return err
	}
	if err := c.tx.QueryRowContext(ctx, `SELECT count(*) FROM session_sections WHERE session = ?`, c.id).Scan(&n); err != nil {
		return err
	}
	return session.CheckSections(n)
}

// insertSection adds a section unless it exists.
func (c *conversation) insertSection(ctx context.Context, section string) (isNew bool, err error) {
	done, err := c.tx.ExecContext(ctx, `INSERT INTO session_sections (session, name) VALUES (?, ?) ON CONFLICT DO NOTHING`, c.id, section)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// insertMessages writes messages.
func (c *conversation) insertMessages(ctx context.Context, messages []newMessage) error {
	stmt, err := c.tx.PrepareContext(ctx, `INSERT INTO session_messages
		(session, id, parent, section, label, data) VALUES (?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, m := range messages {
		if _, err := stmt.ExecContext(ctx, c.id, m.id, m.parent, m.section, m.label, m.data); err != nil {
			return err
		}
	}
	return nil
}

// insertCompaction writes a compaction.
func (c *conversation) insertCompaction(ctx context.Context, one session.Compaction) error {
	_, err := c.tx.ExecContext(ctx, `INSERT INTO session_compactions
		(session, id, created, "from", "to", record) VALUES (?, ?, ?, ?, ?, ?)`,
		c.id, one.ID, formatTime(one.CreatedAt), one.From, one.To, string(one.Record))
	return err
}

// messageRow is a stored message.
type messageRow struct {
	seq                       int64
	id, parent, section, data string
}

// Queries of messages: all of a session, one of them, the newest of a section, all in the database
// after one, the ones stored before one, and the ones on the path to one. UNION stops at a cycle.
const (
	messageRows     = `SELECT seq, id, parent, section, data FROM session_messages WHERE `
	sessionMessages = messageRows + `session = ? ORDER BY seq`
	sessionMessage  = messageRows + `session = ? AND id = ?`
	newestOfSection = messageRows + `session = ? AND section = ? ORDER BY seq DESC LIMIT ?`
	messagesAfter   = messageRows + `seq > ? ORDER BY seq LIMIT ?`
	messagesBefore  = messageRows + `session = ?1 AND seq <= (SELECT seq FROM session_messages WHERE session = ?1
		AND id = ?2) ORDER BY seq DESC`
	messagesOnThePath = messageRows + `seq IN (WITH RECURSIVE up (seq, parent) AS (
			SELECT seq, parent FROM session_messages WHERE session = ?1 AND id = ?2
			UNION SELECT m.seq, m.parent FROM up JOIN session_messages m ON m.session = ?1 AND m.id = up.parent)
		SELECT seq FROM up)`
)

// rows returns the messages of a query.
func (c *conversation) rows(ctx context.Context, query string, args ...any) (out []messageRow, err error) {
	rows, err := c.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var r messageRow
		err := r.scan(rows)
		out = append(out, r)
		return err
	})
	return out, err
}

func (r *messageRow) scan(rows *sql.Rows) error {
	return rows.Scan(&r.seq, &r.id, &r.parent, &r.section, &r.data)
}

// equals reports whether a message is stored unchanged.
func (r messageRow) equals(m newMessage) bool {
	return r.id == m.id && r.parent == m.parent && r.section == m.section && r.data == m.data
}

// entry decodes a message.
func (r messageRow) entry() (session.Entry, error) {
	m, err := session.ReadMessage(r.data)
	m.ID, m.ParentID = r.id, r.parent
	return session.Entry{Section: r.section, Message: m}, err
}

// readable returns the messages that can be decoded, and the lost others.
func readable(rows []messageRow) (out []session.Entry, lost session.Lost) {
	out, lost = make([]session.Entry, 0, len(rows)), make(session.Lost)
	for _, r := range rows {
		if e, err := r.entry(); err == nil {
			out = append(out, e)
		} else {
			lost[r.id] = r.parent
		}
	}
	return out, lost
}

// messageText encodes a message without the ids that have columns.
func messageText(m ragctx.Message) (string, error) {
	m.ID, m.ParentID = "", ""
	data, err := session.EncodeMessage(m)
	if err != nil {
		return "", ragctx.Invalid("messages", "cannot be written: %v; send what JSON can hold", err)
	}
	return string(data), nil
}

func parametersText(p map[string]any) (string, error) {
	if len(p) == 0 {
		return "{}", nil
	}
	b, err := json.Marshal(p)
	if err != nil {
		return "", ragctx.Invalid("parameters", "cannot be written: %v; send what JSON can hold", err)
	}
	return string(b), nil
}

// formatTime encodes a time of a session, to the nanosecond.
func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// parseTime decodes a stored time; a damaged one is zero.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t
}
