package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// Read implements [session.Storage]. The cost of reading a branch depends on the branch, not on the
// session.
func (s *Sessions) Read(
	ctx context.Context, k session.Key, q session.Query,
) (out session.Archive, at session.Version, err error) {
	var rows []messageRow
	err = s.store.readSession(ctx, k, func(c *conversation) (err error) {
		at = c.currentVersion()
		if out, err = c.metadata(ctx, q); err == nil {
			rows, err = c.selected(ctx, q)
		}
		return err
	})
	if err != nil {
		return session.Archive{}, session.Version{}, err
	}
	if q.Messages == session.OneMessage {
		one, err := rows[0].entry()
		if err != nil {
			return session.Archive{}, session.Version{}, fmt.Errorf("%w: message %q is damaged: %v; restore a copy",
				ragctx.ErrUnavailable, ragctx.Clip(q.ID), err)
		}
		out.Entries = []session.Entry{one}
		return out, at, nil
	}
	var lost session.Lost
	if out.Entries, lost = readable(rows); q.Messages == session.BranchMessages {
		lost.Relink(out.Entries)
	}
	if q.Messages == session.AllMessages {
		out, err = lost.Repair(ctx, out)
	}
	return out, at, err
}

// selected returns the messages that a query selects.
func (c *conversation) selected(ctx context.Context, q session.Query) (out []messageRow, err error) {
	switch q.Messages {
	case session.AllMessages:
		return c.rows(ctx, sessionMessages, c.id)
	case session.BranchMessages:
		return c.branch(ctx, q.ID)
	case session.OneMessage:
		if out, err = c.rows(ctx, sessionMessage, c.id, q.ID); err == nil && len(out) == 0 {
			err = session.MessageNotFound(q.ID)
		}
		return out, err
	case session.NewestMessages:
		limit := q.Limit
		if limit <= 0 {
			limit = noLimit
		}
		out, err = c.rows(ctx, newestOfSection, c.id, q.Section, limit)
		slices.Reverse(out)
	}
	return out, err
}

// Info implements [session.Storage].
func (s *Sessions) Info(ctx context.Context, k session.Key) (out session.Info, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) error {
		out, err = c.info(ctx)
		return err
	})
	return out, err
}

// Counts of a session's leaves and of the messages in each section.
const (
	sessionLeaves = `SELECT count(*) FROM session_messages m WHERE m.session = ?1
		AND NOT EXISTS (SELECT 1 FROM session_messages c WHERE c.session = ?1 AND c.parent = m.id)`
	sessionCounts = `SELECT s.name, (SELECT count(*) FROM session_messages m WHERE m.session = s.session AND m.section = s.name)
		FROM session_sections s WHERE s.session = ? ORDER BY s.n`
)

// info returns the description of a session.
func (c *conversation) info(ctx context.Context) (out session.Info, err error) {
	var created, parameters string
	var updated int64
	err = c.tx.QueryRowContext(ctx, `SELECT name, created, updated, parameters, (`+sessionLeaves+`),
			(SELECT count(*) FROM session_messages WHERE session = ?1 AND label <> ''),
			(SELECT count(*) FROM session_compactions WHERE session = ?1)
		FROM sessions WHERE id = ?1`, c.id).Scan(&out.ID, &created, &updated, &parameters, &out.Branches, &out.Labels, &out.Compactions)
	if err != nil {
		return out, err
	}
	out.CreatedAt, out.UpdatedAt = parseTime(created), time.Unix(0, updated).UTC()
	out.Leaf, out.Parameters = c.leaf, decodeValues(parameters)
	out.Version, out.Messages, out.Bytes = c.currentVersion(), c.size.Messages, c.size.Bytes
	rows, err := c.tx.QueryContext(ctx, sessionCounts, c.id)
	if err != nil {
		return out, err
	}
	out.Sections = []session.SectionInfo{}
	err = Scan(rows, func() error {
		var one session.SectionInfo
		err := rows.Scan(&one.Name, &one.Messages)
		out.Sections = append(out.Sections, one)
		return err
	})
	return out, err
}

// branch returns the messages from the root to a message, or to the leaf.
func (c *conversation) branch(ctx context.Context, id string) ([]messageRow, error) {
	to := cmp.Or(id, c.leaf)
	up, whole, err := c.backward(ctx, to)
	if err == nil && !whole {
		up, err = c.climb(ctx, to)
	}
	if err == nil && len(up) == 0 && id != "" {
		err = session.MessageNotFound(id)
	}
	slices.Reverse(up)
	return up, err
}

// errOtherBranches stops a read that finds too many rows of other branches.
var errOtherBranches = errors.New("other branches")

// backward reads the path to a message from its end in storage order: nearly all messages come
// after their parents with few rows of other branches between them. It returns whole = false
// otherwise. It takes half the time of climb.
func (c *conversation) backward(ctx context.Context, to string) (up []messageRow, whole bool, err error) {
	const beside = 100 // rows of other branches allowed besides as many as on the path
	others := 0
	rows, err := c.tx.QueryContext(ctx, messagesBefore, c.id, to)
	if err != nil {
		return nil, false, err
	}
	err = Scan(rows, func() error {
		var r messageRow
		if err := r.scan(rows); err != nil {
			return err
		}
		switch {
		case r.id == to:
			up, to = append(up, r), r.parent
		case others > beside+len(up):
			return errOtherBranches
		default:
			others++
		}
		if to == "" {
			return io.EOF
		}
		return nil
	})
	if errors.Is(err, io.EOF) || errors.Is(err, errOtherBranches) {
		err = nil
	}
	return up, to == "", err
}

// climb reads the path to a message from its end, from each message to its parent. It stops at a
// cycle.
func (c *conversation) climb(ctx context.Context, to string) (up []messageRow, err error) {
	found, err := c.rows(ctx, messagesOnThePath, c.id, to)
	if err != nil {
		return nil, err
	}
	at := make(map[string]messageRow, len(found))
	for _, r := range found {
		at[r.id] = r
	}
	for r, ok := at[to]; ok; r, ok = at[r.parent] {
		up = append(up, r)
		delete(at, r.id)
	}
	return up, nil
}

// metadata returns what a query selects of a session besides its messages.
func (c *conversation) metadata(ctx context.Context, q session.Query) (a session.Archive, err error) {
	var created, parameters string
	if err := c.tx.QueryRowContext(ctx, `SELECT created, parameters FROM sessions WHERE id = ?`, c.id).
		Scan(&created, &parameters); err != nil {
		return a, err
	}
	a.CreatedAt, a.Leaf, a.Parameters = parseTime(created), c.leaf, decodeValues(parameters)
	if q.Messages == session.AllMessages {
		const query = `SELECT name FROM session_sections WHERE session = ? ORDER BY n`
		if a.Sections, err = Column[string](ctx, c.tx, query, c.id); err != nil {
			return a, err
		}
	}
	if q.Labels {
		if a.Labels, err = c.labels(ctx); err != nil {
			return a, err
		}
	}
	if q.Compactions {
		a.Compactions, err = c.compactions(ctx)
	}
	return a, err
}

func (c *conversation) labels(ctx context.Context) (map[string]string, error) {
	const query = `SELECT id, label FROM session_messages WHERE session = ? AND label <> ''`
	rows, err := c.tx.QueryContext(ctx, query, c.id) //nolint:sqlclosecheck // Scan closes it
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	err = Scan(rows, func() error {
		var id, label string
		err := rows.Scan(&id, &label)
		out[id] = label
		return err
	})
	return out, err
}

// compactions returns the records, oldest first.
func (c *conversation) compactions(ctx context.Context) (out []session.Compaction, err error) {
	rows, err := c.tx.QueryContext(ctx, `SELECT id, created, "from", "to", record FROM session_compactions
		WHERE session = ? ORDER BY n`, c.id)
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var one session.Compaction
		var created, record string
		if err := rows.Scan(&one.ID, &created, &one.From, &one.To, &record); err != nil {
			return err
		}
		if one.CreatedAt = parseTime(created); record != "" {
			one.Record = json.RawMessage(record)
		}
		out = append(out, one)
		return nil
	})
	return out, err
}
