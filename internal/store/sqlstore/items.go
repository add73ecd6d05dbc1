package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

const (
	opPut = 1 + iota
	opEnd
	opRemove
	opVectors
)

// record is a row of items to be written.
type record struct {
	namespace                   int64
	kind                        store.Kind
	key                         string
	hash                        []byte
	title, source, mime, root   string
	user, agent, session, mtype string
	importance                  float64
	tags                        []string
	metadata                    map[string]any
	occurred, expires           time.Time
	content                     store.Content
	textHash, sketch            []byte     // of a document
	textOf                      int64      // the row that owns the text; 0 for its own
	facts                       factRecord // of a memory
}

// current describes the current version of an item.
type current struct {
	id       int64
	version  int
	hash     []byte
	root     string
	user     string
	recorded time.Time
}

// revision identifies the written version.
func (w written) revision() string { return store.Revision(w.version, w.recorded) }

// findCurrent returns the current version of an item, or nil.
func findCurrent(ctx context.Context, tx *Tx, ns int64, k store.Kind, key string) (*current, error) {
	var c current
	var recorded sql.NullInt64
	err := tx.QueryRowContext(ctx, `SELECT id, version, hash, root, user, recorded FROM items
		WHERE namespace = ? AND kind = ? AND key = ? AND superseded IS NULL`, ns, k, key).
		Scan(&c.id, &c.version, &c.hash, &c.root, &c.user, &recorded)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // no row is no error
	}
	c.recorded = moment(recorded)
	return &c, err
}

// written is the result of a write.
type written struct {
	version            int
	seq                uint64 // of the last change
	pruned             bool   // an old version was hidden; the garbage collector removes it
	occurred, recorded time.Time
}

// putVersion writes a new version of an item and ends old, the previous one, if any.
func (s *Store) putVersion(ctx context.Context, tx *Tx, r record, old *current) (written, error) {
	return s.replaceVersion(ctx, tx, r, old, func(version int, now int64) (uint64, error) {
		id, seq, err := s.insert(ctx, tx, r, version, now)
		if err != nil {
			return 0, err
		}
		if err := insertFactRecord(ctx, tx, id, r); err != nil {
			return 0, err
		}
		return seq, insertChunks(ctx, tx, id, r.content)
	})
}

// replaceVersion calls write for a new version and ends old, the previous one, if any. It enforces the
// quotas of the namespace.
func (s *Store) replaceVersion(ctx context.Context, tx *Tx, r record, old *current,
	write func(version int, now int64) (seq uint64, err error),
) (written, error) {
	now := s.now().UTC().Truncate(time.Microsecond)
	w := written{occurred: r.occurred, recorded: now}
	room, err := usageOf(ctx, tx, r.namespace)
	if err != nil {
		return w, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM items
		WHERE namespace = ? AND kind = ? AND key = ?`, r.namespace, r.kind, r.key).Scan(&w.version); err != nil {
		return w, err
	}
	w.version = max(0, w.version) + 1
	if old != nil {
		if _, err := tx.ExecContext(ctx, `UPDATE items SET superseded = ? WHERE id = ?`, now.UnixMicro(), old.id); err != nil {
			return w, err
		}
	}
	if w.seq, err = write(w.version, now.UnixMicro()); err != nil {
		return w, err
	}
	if old != nil {
		if w.seq, err = s.recordEnd(ctx, tx, r.namespace, r.kind, old.id); err != nil {
			return w, err
		}
	}
	if err := room.check(ctx, tx); err != nil {
		return w, err
	}
	if r.kind == store.KindDocuments && w.version > s.keep {
		seq, err := s.prune(ctx, tx, r.namespace, r.key)
		w.seq, w.pruned = max(w.seq, seq), seq > 0
		return w, err
	}
	return w, nil
}

func (s *Store) insert(ctx context.Context, tx *Tx, r record, version int, now int64) (id int64, seq uint64, err error) {
	if id, err = insertRow(ctx, tx, r, version, now, nil); err != nil {
		return 0, 0, err
	}
	if seq, err = s.appendChange(ctx, tx, r.namespace, r.kind, id, opPut); err != nil {
		return 0, 0, err
	}
	if _, err = tx.ExecContext(ctx, `UPDATE items SET seq = ? WHERE id = ?`, seq, id); err != nil {
		return 0, 0, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO texts (item, text) VALUES (?, ?)`, id, []byte(r.content.Text))
	return id, seq, err
}

// insertRow inserts the row of an item, still without a seq.
func insertRow(ctx context.Context, tx *Tx, r record, version int, recorded int64, superseded any) (int64, error) {
	tags, err := encode(r.tags, "[]")
	if err != nil {
		return 0, err
	}
	meta, err := encode(r.metadata, "{}")
	if err != nil {
		return 0, err
	}
	outline, err := encode(r.content.Outline, "[]")
	if err != nil {
		return 0, err
	}
	return tx.Dialect.Insert(ctx, tx, "id", `INSERT INTO items (namespace, kind, key, version, seq, hash, title, source, mime, root,
		user, agent, session, type, importance, tags, metadata, abstract, outline, chunker, bytes, occurred, recorded, superseded, expires,
		text_hash, text_of, sketch)
		VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.namespace, r.kind, r.key, version, r.hash, r.title, r.source, r.mime, r.root,
		r.user, r.agent, r.session, r.mtype, r.importance, tags, meta, r.content.Abstract, outline, r.content.Chunker,
		len(r.content.Text), micros(r.occurred), recorded, superseded, micros(r.expires),
		r.textHash, orNull(r.textOf), r.sketch)
}

const insertUnit = `INSERT INTO units (item, ordinal, heading, text, hash,
	page, start_byte, start_line, start_rune, end_byte, end_line, end_rune) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func insertChunks(ctx context.Context, tx *Tx, item int64, c store.Content) error {
	_, err := insertSomeChunks(ctx, tx, item, c, func(int) bool { return false })
	return err
}

// insertSomeChunks inserts chunks until all are written or enough, called after each, returns true. It
// returns their number.
func insertSomeChunks(ctx context.Context, tx *Tx, item int64, c store.Content, enough func(n int) bool) (n int, err error) {
	if len(c.Chunks) == 0 {
		return 0, nil
	}
	vec, err := tx.PrepareContext(ctx, `INSERT INTO vectors (embedder, hash, vector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
	if err != nil {
		return 0, err
	}
	defer vec.Close()
	marked := false
	for _, u := range c.Chunks {
		heading, err := encode(u.Heading, "[]")
		if err != nil {
			return n, err
		}
		id, err := tx.Dialect.Insert(ctx, tx, "id", insertUnit, item, u.Ordinal, heading, u.Text, u.Hash[:],
			u.Page, u.Start.Byte, u.Start.Line, u.Start.Rune, u.End.Byte, u.End.Line, u.End.Rune)
		if err == nil {
			err = insertSpeaker(ctx, tx, id, u.Speaker)
		}
		if err != nil {
			return n, err
		}
		if u.Vector != nil {
			_, err = vec.ExecContext(ctx, c.Embedder, u.Hash[:], packVector(u.Vector))
		} else if !marked {
			marked, err = true, markUnembedded(ctx, tx, id)
		}
		if err == nil && u.NextVector != nil {
			_, err = vec.ExecContext(ctx, c.Next, u.Hash[:], packVector(u.NextVector))
		}
		if err != nil {
			return n, err
		}
		if n++; enough(n) {
			break
		}
	}
	return n, nil
}

// appendChange appends to the sequence of changes that indexes follow.
func (s *Store) appendChange(ctx context.Context, tx *Tx, ns int64, k store.Kind, item int64, op int) (uint64, error) {
	if err := s.openings.record(ctx, tx, s.now().UnixMicro()); err != nil {
		return 0, err
	}
	seq, err := tx.Dialect.Insert(ctx, tx, "seq", `INSERT INTO changes (namespace, kind, item, op) VALUES (?, ?, ?, ?)`, ns, k, item, op)
	return uint64(seq), err //nolint:gosec // row ids start at 1
}

// endVersion supersedes the current version of an item, which must exist.
func (s *Store) endVersion(ctx context.Context, tx *Tx, ns int64, k store.Kind, id int64) (uint64, error) {
	if _, err := tx.ExecContext(ctx, `UPDATE items SET superseded = ? WHERE id = ?`, s.now().UnixMicro(), id); err != nil {
		return 0, err
	}
	return s.recordEnd(ctx, tx, ns, k, id)
}

// recordEnd appends the change of a superseded item.
func (s *Store) recordEnd(ctx context.Context, tx *Tx, ns int64, k store.Kind, id int64) (uint64, error) {
	seq, err := s.appendChange(ctx, tx, ns, k, id, opEnd)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE items SET ended = ? WHERE id = ?`, seq, id)
	return seq, err
}

// encode returns v as JSON, or empty for a nil slice or map.
func encode(v any, empty string) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", ragctx.Invalid("metadata", "cannot be stored as JSON: %v", err)
	}
	if string(b) == "null" {
		return empty, nil
	}
	return string(b), nil
}

// decode reads the output of encode, except free-form values. A damaged cell reads as empty: it
// must not hide the item.
func decode[T any](s string) T {
	var v T
	if s == "" || s == "{}" {
		return v
	}
	if json.Unmarshal([]byte(s), &v) != nil {
		var zero T
		return zero
	}
	return v
}

// decodeValues reads metadata, with numbers as written; nil if empty, the usual case.
func decodeValues(s string) map[string]any {
	if s == "" || s == "{}" {
		return nil
	}
	var v map[string]any
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// Scan calls fn for each row and closes rows.
func Scan(rows *sql.Rows, fn func() error) error {
	defer rows.Close()
	for rows.Next() {
		if err := fn(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Column returns the single column of a query's rows.
func Column[T any](ctx context.Context, tx *Tx, query string, args ...any) (all []T, err error) {
	rows, err := tx.QueryContext(ctx, query, args...) //nolint:sqlclosecheck // Scan closes it
	if err != nil {
		return nil, err
	}
	err = Scan(rows, func() error {
		var v T
		err := rows.Scan(&v)
		all = append(all, v)
		return err
	})
	return all, err
}
