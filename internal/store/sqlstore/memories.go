package sqlstore

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
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// ReplaceMemory implements [store.Memories].
func (s *Store) ReplaceMemory(
	ctx context.Context, ns int64, m ragctx.Memory, c store.Content, tier store.Tier, over int, when ...store.Condition,
) (ragctx.Memory, store.Status, uint64, error) {
	r := memoryRecord(ns, m, c) // hashes the caller's input, so before defaults
	if r.occurred.IsZero() {
		r.occurred = s.now().UTC().Truncate(time.Microsecond)
	}
	var status store.Status
	var w written
	err := s.write.doIn(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		old, err := findCurrent(ctx, tx, ns, store.KindMemories, m.ID)
		if err == nil {
			err = checkAll(when, "memory", m.ID, old)
		}
		if err != nil {
			return err
		}
		if over != 0 && (old == nil || old.version != over) {
			return fmt.Errorf("memory %q: %w: it was changed concurrently; try again", ragctx.Clip(m.ID), ragctx.ErrConflict)
		}
		status = store.Created
		if old == nil {
			if err := checkIDFree(ctx, tx, ns, m.ID, m.UserID); err != nil {
				return err
			}
		} else {
			if old.user != m.UserID {
				return idTaken(m.ID)
			}
			if bytes.Equal(old.hash, r.hash) {
				status = store.Unchanged
				w, err = s.unchanged(ctx, tx, store.Collection{Namespace: ns, Kind: store.KindMemories}, old)
				return err
			}
			status = store.Replaced
			if was, err := isExtracted(ctx, tx, old.id); err != nil {
				return err
			} else if was {
				r.source = index.DerivedSource // a reworded fact still was not said
			}
		}
		if w, err = s.putVersion(ctx, tx, r, old); err != nil {
			return err
		}
		event := historyEntry{key: m.ID, op: ragctx.OpCreated, version: w.version, by: ragctx.ByCaller}
		if old != nil {
			event.op, event.before = ragctx.OpUpdated, old.version
			if err := inheritFactRecord(ctx, tx, r, w.version, old.id); err != nil {
				return err
			}
		}
		if err := s.recordHistory(ctx, tx, ns, event); err != nil || m.Type != ragctx.MemoryWorking {
			return err
		}
		seq, err := s.trimWorking(ctx, tx, ns, m, tier)
		w.seq = max(w.seq, seq)
		return err
	})
	if err != nil {
		return m, "", 0, failed("store memory", err)
	}
	m.Version, m.Occurred, m.Recorded = w.version, w.occurred, w.recorded
	return m, status, w.seq, nil
}

// unchanged returns the result of an earlier write. Its sequence number is the collection's newest:
// the earlier write may have ended another version after its own change.
func (s *Store) unchanged(ctx context.Context, tx *Tx, in store.Collection, c *current) (written, error) {
	w := written{version: c.version}
	var occurred, recorded sql.NullInt64
	if err := tx.QueryRowContext(ctx, `SELECT occurred, recorded FROM items WHERE id = ?`, c.id).Scan(&occurred, &recorded); err != nil {
		return w, err
	}
	w.occurred, w.recorded = moment(occurred), moment(recorded)
	var err error
	w.seq, err = lastChange(ctx, tx, in)
	return w, err
}

func memoryRecord(ns int64, m ragctx.Memory, c store.Content) record {
	h := sha256.New()
	enc := json.NewEncoder(h)
	m.Recorded, m.Version, m.Score, m.State = time.Time{}, 0, 0, ""
	m.Uses, m.LastUsed = 0, time.Time{}
	_ = enc.Encode(m) // plain values into a hash: cannot fail
	source := "memory"
	if m.About != nil {
		source = index.DerivedSource
	}
	return record{
		namespace: ns, kind: store.KindMemories, key: m.ID, hash: h.Sum(nil), source: source,
		user: m.UserID, agent: m.AgentID, session: m.SessionID, mtype: string(m.Type), importance: m.Importance,
		tags: m.Tags, metadata: m.Metadata, occurred: m.Occurred, expires: m.Expires, content: c, facts: factRecordOf(m),
	}
}

const memoryColumns = `i.key, n.name, i.user, i.agent, i.session, i.type, t.text, i.importance, i.tags, i.metadata,
	i.occurred, i.recorded, i.expires, i.version`

// scanMemory reads memoryColumns and more.
func scanMemory(row interface{ Scan(...any) error }, more ...any) (ragctx.Memory, error) {
	var m ragctx.Memory
	var text []byte
	var tags, meta string
	var occurred, recorded, expires sql.NullInt64
	err := row.Scan(append([]any{
		&m.ID, &m.Namespace, &m.UserID, &m.AgentID, &m.SessionID, &m.Type, &text, &m.Importance, &tags, &meta,
		&occurred, &recorded, &expires, &m.Version,
	}, more...)...)
	m.Content = string(text)
	m.Tags, m.Metadata = decode[[]string](tags), decodeValues(meta)
	if m.Tags == nil {
		m.Tags = []string{}
	}
	m.Occurred, m.Recorded, m.Expires = moment(occurred), moment(recorded), moment(expires)
	return m, err
}

// Memory implements [store.Memories].
func (s *Store) Memory(ctx context.Context, ns int64, id string, now time.Time) (ragctx.Memory, error) {
	var m ragctx.Memory
	err := s.view(ctx, func(tx *Tx) (err error) {
		var row uint64
		m, err = scanMemory(tx.QueryRowContext(ctx, `SELECT `+memoryColumns+`, i.id FROM items i
			JOIN namespaces n ON n.id = i.namespace JOIN texts t ON t.item = i.id
			WHERE i.namespace = ? AND i.kind = ? AND i.key = ? AND i.superseded IS NULL
			AND (i.expires IS NULL OR i.expires > ?)`, ns, store.KindMemories, id, now.UnixMicro()), &row)
		if err != nil {
			return err
		}
		m.State = ragctx.MemoryActive
		one := []ragctx.Memory{m}
		err = loadFactRecords(ctx, tx, []uint64{row}, one)
		m = one[0]
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

// DeleteMemory implements [store.Memories].
func (s *Store) DeleteMemory(ctx context.Context, ns int64, id, user string, anyUser bool,
	when ...store.Condition,
) (seq uint64, err error) {
	err = s.writeFreeing(ctx, ns, High, func(ctx context.Context, tx *Tx) error {
		seq = 0
		old, err := findCurrent(ctx, tx, ns, store.KindMemories, id)
		if err != nil {
			return err
		}
		if old != nil && !anyUser && old.user != "" && old.user != user {
			old = nil
		}
		if err := checkAll(when, "memory", id, old); err != nil && !(old == nil && inQuarantine(ctx, tx, ns, id, user, anyUser, when)) {
			return err
		}
		// First, so that the newest change is the one that can be undone.
		quarantineErr := s.removeFromQuarantine(ctx, tx, ns, id, user, anyUser, ragctx.OpDiscarded, storeNothing)
		if quarantineErr != nil && !errors.Is(quarantineErr, ragctx.ErrNotFound) {
			return quarantineErr
		}
		if old == nil {
			if quarantineErr == nil {
				return nil
			}
			return fmt.Errorf("memory %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
		}
		if seq, err = s.endVersion(ctx, tx, ns, store.KindMemories, old.id); err != nil {
			return err
		}
		return s.recordHistory(ctx, tx, ns, historyEntry{key: id, op: ragctx.OpDeleted, before: old.version, by: ragctx.ByCaller})
	})
	if err != nil {
		return 0, failed("delete memory", err)
	}
	return seq, nil
}

// NextExpiry implements [store.Changes].
func (s *Store) NextExpiry(ctx context.Context, ns int64, after time.Time) (time.Time, error) {
	var next sql.NullInt64
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT min(expires) FROM items WHERE namespace = ?
			AND expires > ?`, ns, after.UnixMicro()).Scan(&next)
	})
	return moment(next), failedIf("find the next expiry", err)
}
