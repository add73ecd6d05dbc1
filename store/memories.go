package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// PutMemory stores a memory, or a new version of it when the id exists. A
// memory of another user is never replaced. The same content again changes
// nothing. It returns the stored memory, what happened, and the sequence number
// to follow.
func (s *Store) PutMemory(ctx context.Context, ns int64, m memory.Memory, c Content) (memory.Memory, Status, uint64, error) {
	r := memoryRecord(ns, m, c)
	var status Status
	var w written
	err := s.write.do(ctx, High, func(ctx context.Context, tx *sql.Tx) error {
		old, err := findCurrent(ctx, tx, ns, Memories, m.ID)
		if err != nil {
			return err
		}
		status = Created
		if old != nil {
			if old.user != m.UserID {
				return fmt.Errorf("memory %q: %w: it belongs to another user", ragctx.Clip(m.ID), ragctx.ErrConflict)
			}
			if bytes.Equal(old.hash, r.hash) {
				status = Unchanged
				w, err = s.unchanged(ctx, tx, old)
				return err
			}
			status = Replaced
		}
		w, err = s.put(ctx, tx, r, old)
		return err
	})
	if err != nil {
		return m, "", 0, fmt.Errorf("store memory: %w", err)
	}
	m.Version, m.Recorded = w.version, w.recorded
	return m, status, w.seq, nil
}

// unchanged returns what an earlier write left behind.
func (s *Store) unchanged(ctx context.Context, tx *sql.Tx, c *current) (written, error) {
	w := written{version: c.version}
	var recorded sql.NullInt64
	err := tx.QueryRowContext(ctx, `SELECT seq, recorded FROM items WHERE id = ?`, c.id).Scan(&w.seq, &recorded)
	w.recorded = moment(recorded)
	return w, err
}

func memoryRecord(ns int64, m memory.Memory, c Content) record {
	h := sha256.New()
	enc := json.NewEncoder(h)
	m.Recorded, m.Version, m.Score = time.Time{}, 0, 0
	_ = enc.Encode(m) // plain values into a hash: cannot fail
	return record{
		namespace: ns, kind: Memories, key: m.ID, hash: h.Sum(nil), source: "memory",
		user: m.UserID, agent: m.AgentID, session: m.SessionID, mtype: string(m.Type), importance: m.Importance,
		tags: m.Tags, metadata: m.Metadata, occurred: m.Occurred, expires: m.Expires, content: c,
	}
}

// PutTurn stores a turn word for word together with the episode made of it, all
// or nothing. A turn whose id is already there with the same content is
// [Unchanged]; with other content it is a conflict.
func (s *Store) PutTurn(ctx context.Context, ns int64, t ragctx.Turn, m memory.Memory, c Content) (Status, uint64, error) {
	body, err := json.Marshal(t)
	if err != nil {
		return "", 0, ragctx.Invalid("messages", "cannot be written as JSON: %v", err)
	}
	r := memoryRecord(ns, m, c)
	status := Created
	var seq uint64
	err = s.write.do(ctx, High, func(ctx context.Context, tx *sql.Tx) error {
		var was string
		err := tx.QueryRowContext(ctx, `SELECT body FROM turns WHERE namespace = ? AND key = ?`, ns, t.ID).Scan(&was)
		switch {
		case err == nil && was == string(body):
			status = Unchanged
			return nil
		case err == nil:
			return fmt.Errorf("turn %q: %w: it exists with other content; choose another id", ragctx.Clip(t.ID), ragctx.ErrConflict)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if old, err := findCurrent(ctx, tx, ns, Memories, t.ID); err != nil {
			return err
		} else if old != nil {
			return fmt.Errorf("turn %q: %w: a memory has that id; choose another", ragctx.Clip(t.ID), ragctx.ErrConflict)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO turns (namespace, key, user, agent, session, body, occurred, recorded)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, ns, t.ID, t.UserID, t.AgentID, t.SessionID, string(body),
			t.Occurred.UnixMicro(), s.now().UnixMicro()); err != nil {
			return err
		}
		w, err := s.put(ctx, tx, r, nil)
		seq = w.seq
		return err
	})
	if err != nil {
		return "", 0, fmt.Errorf("store turn: %w", err)
	}
	return status, seq, nil
}

// MemoryFilter narrows a list of memories.
type MemoryFilter struct {
	UserID             string
	AnyUser            bool // see every user's memories
	AgentID, SessionID string
	Types              []memory.Type
	Tag                string
	Now                time.Time
	Weights            memory.Weights
	Offset, Limit      int
}

const memoryColumns = `i.key, n.name, i.user, i.agent, i.session, i.type, t.text, i.importance, i.tags, i.metadata,
	i.occurred, i.recorded, i.expires, i.version`

func scanMemory(row interface{ Scan(...any) error }) (memory.Memory, error) {
	var m memory.Memory
	var text []byte
	var tags, meta string
	var occurred, recorded, expires sql.NullInt64
	err := row.Scan(&m.ID, &m.Namespace, &m.UserID, &m.AgentID, &m.SessionID, &m.Type, &text, &m.Importance, &tags, &meta,
		&occurred, &recorded, &expires, &m.Version)
	m.Content = string(text)
	m.Tags, m.Metadata = decode[[]string](tags), decode[map[string]any](meta)
	if m.Tags == nil {
		m.Tags = []string{}
	}
	m.Occurred, m.Recorded, m.Expires = moment(occurred), moment(recorded), moment(expires)
	return m, err
}

// Memory returns the current version of a memory.
func (s *Store) Memory(ctx context.Context, ns int64, id string, now time.Time) (memory.Memory, error) {
	var m memory.Memory
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		m, err = scanMemory(tx.QueryRowContext(ctx, `SELECT `+memoryColumns+` FROM items i
			JOIN namespaces n ON n.id = i.namespace JOIN texts t ON t.item = i.id
			WHERE i.namespace = ? AND i.kind = ? AND i.key = ? AND i.superseded IS NULL
			AND (i.expires IS NULL OR i.expires > ?)`, ns, Memories, id, now.UnixMicro()))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return m, fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
	}
	if err != nil {
		return m, fmt.Errorf("read memory: %w", err)
	}
	return m, nil
}

// MemoriesByScore lists current memories, highest score of importance and
// recency first, ties by id.
func (s *Store) MemoriesByScore(ctx context.Context, ns int64, f MemoryFilter) ([]memory.Memory, error) {
	where, args := f.where(ns)
	w := f.Weights.WithDefaults()
	args = append([]any{w.Importance, w.Recency, f.Now.UnixMicro(), float64(w.Decay.Microseconds())}, args...)
	args = append(args, f.Limit, f.Offset)
	var out []memory.Memory
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `WITH scored AS MATERIALIZED (
				SELECT i.id, i.key, ? * i.importance + ? * exp(-max(0, ? - i.occurred) / ?) AS score
				FROM items i WHERE `+where+` ORDER BY score DESC, i.key LIMIT ? OFFSET ?)
			SELECT `+memoryColumns+` FROM scored s JOIN items i ON i.id = s.id
			JOIN namespaces n ON n.id = i.namespace JOIN texts t ON t.item = i.id ORDER BY s.score DESC, s.key`, args...)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			m, err := scanMemory(rows)
			m.Score = w.Score(m.Importance, f.Now.Sub(m.Occurred))
			out = append(out, m)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	return out, nil
}

func (f MemoryFilter) where(ns int64) (string, []any) {
	where := `i.namespace = ? AND i.kind = ? AND i.superseded IS NULL AND (i.expires IS NULL OR i.expires > ?)`
	args := []any{ns, Memories, f.Now.UnixMicro()}
	and := func(cond string, v ...any) {
		where += " AND " + cond
		args = append(args, v...)
	}
	if !f.AnyUser {
		and(`i.user IN ('', ?)`, f.UserID)
	}
	if f.AgentID != "" {
		and(`i.agent = ?`, f.AgentID)
	}
	if f.SessionID != "" {
		and(`i.session = ?`, f.SessionID)
	}
	if f.Tag != "" {
		and(`EXISTS (SELECT 1 FROM json_each(i.tags) WHERE value = ?)`, f.Tag)
	}
	if len(f.Types) > 0 {
		types, err := json.Marshal(f.Types)
		if err == nil {
			and(`i.type IN (SELECT value FROM json_each(?))`, string(types))
		}
	}
	return where, args
}

// DeleteMemory ends a memory of the given user ("" with anyUser: of anyone).
// It stays findable as of earlier times.
func (s *Store) DeleteMemory(ctx context.Context, ns int64, id, user string, anyUser bool) (uint64, error) {
	var seq uint64
	err := s.write.do(ctx, High, func(ctx context.Context, tx *sql.Tx) error {
		old, err := findCurrent(ctx, tx, ns, Memories, id)
		if err != nil {
			return err
		}
		if old == nil || !anyUser && old.user != "" && old.user != user {
			return fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
		}
		seq, err = s.end(ctx, tx, ns, Memories, old.id)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("delete memory: %w", err)
	}
	return seq, nil
}
