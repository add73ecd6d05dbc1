package sqlite

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

// Has implements [session.Storage].
func (s *Sessions) Has(ctx context.Context, k session.Key) (bool, error) {
	err := s.store.readSession(ctx, k, func(*conversation) error { return nil })
	if errors.Is(err, ragctx.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Load implements [session.Storage].
func (s *Sessions) Load(ctx context.Context, k session.Key) (session.Store, error) {
	a, err := s.Export(ctx, k)
	if err != nil {
		return session.Store{}, err
	}
	return a.Store(), nil
}

// Export implements [session.Storage].
func (s *Sessions) Export(ctx context.Context, k session.Key) (out session.Archive, err error) {
	var stored []messageRow
	err = s.store.readSession(ctx, k, func(c *conversation) (err error) {
		if out, err = c.metadata(ctx); err != nil {
			return err
		}
		stored, err = c.rows(ctx, sessionMessages, c.id)
		return err
	})
	if err != nil {
		return session.Archive{}, err
	}
	var lost session.Lost
	out.ID = k.ID
	out.Entries, lost = readable(stored)
	return lost.Repair(ctx, out)
}

// Get implements [session.Storage].
func (s *Sessions) Get(ctx context.Context, k session.Key, id string) (out session.Entry, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) error {
		found, err := c.rows(ctx, sessionMessage, c.id, id)
		if err != nil || len(found) == 0 {
			return orNoMessage(err, id)
		}
		if out, err = found[0].entry(); err != nil {
			return fmt.Errorf("%w: message %q is damaged: %v; restore a copy", ragctx.ErrUnavailable, ragctx.Clip(id), err)
		}
		return nil
	})
	return out, err
}

// Section implements [session.Storage].
func (s *Sessions) Section(ctx context.Context, k session.Key, name string, limit int) ([]ragctx.Message, error) {
	if limit <= 0 {
		limit = -1 // no limit in SQLite
	}
	var stored []messageRow
	err := s.store.readSession(ctx, k, func(c *conversation) (err error) {
		stored, err = c.rows(ctx, newestOfSection, c.id, name, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(stored)
	var out []ragctx.Message
	entries, _ := readable(stored)
	for _, e := range entries {
		out = append(out, e.Message)
	}
	return out, nil
}

// Version implements [session.Storage].
func (s *Sessions) Version(ctx context.Context, k session.Key) (out session.Version, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) error {
		out = c.currentVersion()
		return nil
	})
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
			(SELECT count(*) FROM session_messages WHERE session = ?1 AND label <> ''), (SELECT count(*) FROM session_compactions WHERE session = ?1)
		FROM sessions WHERE id = ?1`, c.id).Scan(&out.ID, &created, &updated, &parameters, &out.Branches, &out.Labels, &out.Compactions)
	if err != nil {
		return out, err
	}
	out.CreatedAt, out.UpdatedAt, out.Leaf, out.Parameters = parseTime(created), time.Unix(0, updated).UTC(), c.leaf, decodeValues(parameters)
	out.Version, out.Messages, out.Bytes = c.currentVersion(), c.size.Messages, c.size.Bytes
	rows, err := c.tx.QueryContext(ctx, sessionCounts, c.id)
	if err != nil {
		return out, err
	}
	out.Sections = []session.SectionInfo{}
	err = scan(rows, func() error {
		var one session.SectionInfo
		err := rows.Scan(&one.Name, &one.Messages)
		out.Sections = append(out.Sections, one)
		return err
	})
	return out, err
}

// Leaf implements [session.Storage].
func (s *Sessions) Leaf(ctx context.Context, k session.Key) (out string, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) error {
		out = c.leaf
		return nil
	})
	return out, err
}

// Path implements [session.Storage]. Its cost depends on the path, not on the session.
func (s *Sessions) Path(ctx context.Context, k session.Key, id string) (out []session.Entry, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) (err error) {
		out, err = c.path(ctx, id)
		return err
	})
	return out, err
}

// path returns the path to a message, or to the leaf.
func (c *conversation) path(ctx context.Context, id string) ([]session.Entry, error) {
	to := cmp.Or(id, c.leaf)
	up, whole, err := c.backward(ctx, to)
	if err == nil && !whole {
		up, err = c.climb(ctx, to)
	}
	if err != nil {
		return nil, err
	}
	if len(up) == 0 && id != "" {
		return nil, session.MessageNotFound(id)
	}
	slices.Reverse(up)
	entries, lost := readable(up)
	lost.Relink(entries)
	return entries, nil
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
	err = scan(rows, func() error {
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

// Labels implements [session.Storage].
func (s *Sessions) Labels(ctx context.Context, k session.Key) (out map[string]string, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) (err error) {
		out, err = c.labels(ctx)
		return err
	})
	return out, err
}

// Compactions implements [session.Storage].
func (s *Sessions) Compactions(ctx context.Context, k session.Key) (out []session.Compaction, err error) {
	err = s.store.readSession(ctx, k, func(c *conversation) (err error) {
		out, err = c.compactions(ctx, allCompactions)
		return err
	})
	return out, err
}

// metadata returns a session without its messages.
func (c *conversation) metadata(ctx context.Context) (a session.Archive, err error) {
	var created, parameters string
	if err := c.tx.QueryRowContext(ctx, `SELECT created, parameters FROM sessions WHERE id = ?`, c.id).
		Scan(&created, &parameters); err != nil {
		return a, err
	}
	a.CreatedAt, a.Leaf, a.Parameters = parseTime(created), c.leaf, decodeValues(parameters)
	if a.Sections, err = column[string](ctx, c.tx, `SELECT name FROM session_sections WHERE session = ? ORDER BY n`, c.id); err != nil {
		return a, err
	}
	if a.Labels, err = c.labels(ctx); err != nil {
		return a, err
	}
	a.Compactions, err = c.compactions(ctx, allCompactions)
	return a, err
}

func (c *conversation) labels(ctx context.Context) (map[string]string, error) {
	const query = `SELECT id, label FROM session_messages WHERE session = ? AND label <> ''`
	rows, err := c.tx.QueryContext(ctx, query, c.id) //nolint:sqlclosecheck // scan closes it
	if err != nil {
		return nil, err
	}
	out := make(map[string]string)
	err = scan(rows, func() error {
		var id, label string
		err := rows.Scan(&id, &label)
		out[id] = label
		return err
	})
	return out, err
}

// allCompactions selects the compactions of a session.
const allCompactions = `session = ?`

// compactions returns the records that meet a condition on the session.
func (c *conversation) compactions(ctx context.Context, which string) (out []session.Compaction, err error) {
	rows, err := c.tx.QueryContext(ctx, `SELECT id, created, "from", "to", record FROM session_compactions WHERE `+which+` ORDER BY n`, c.id)
	if err != nil {
		return nil, err
	}
	err = scan(rows, func() error {
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
