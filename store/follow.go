package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx/index"
)

// Collection is what one index covers: a kind of item in a namespace.
type Collection struct {
	Namespace int64
	Kind      Kind
}

// feedUnits is how many units a batch of a feed holds at most, give or take
// those of one item.
const feedUnits = 2000

const parentColumns = `i.id, i.seq, i.title, i.source, i.user, i.agent, i.session, i.tags, i.metadata,
	i.occurred, i.recorded, i.superseded, coalesce(i.ended, 0), i.expires`

// Load feeds everything in the collection to apply, in order of writing, in
// batches. Texts are left out up to lexicalFrom, vectors up to denseFrom: the
// legs hold those. The last batch carries the newest sequence number.
func (s *Store) Load(ctx context.Context, c Collection, embedder int64, lexicalFrom, denseFrom uint64,
	apply func(index.Batch) error,
) error {
	err := s.view(ctx, func(tx *sql.Tx) error {
		last, err := newest(ctx, tx, c)
		if err != nil {
			return err
		}
		parents, err := loadParents(ctx, tx, `i.namespace = ? AND i.kind = ?`, c.Namespace, c.Kind)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT u.id, u.item, u.ordinal,
				CASE WHEN i.seq > ? THEN u.heading ELSE '' END, CASE WHEN i.seq > ? THEN u.text ELSE '' END,
				CASE WHEN i.seq > ? THEN v.vector END
			FROM items i JOIN units u ON u.item = i.id
			LEFT JOIN vectors v ON v.embedder = ? AND v.hash = u.hash AND i.seq > ?
			WHERE i.namespace = ? AND i.kind = ? ORDER BY u.id`,
			lexicalFrom, lexicalFrom, denseFrom, embedder, denseFrom, c.Namespace, c.Kind)
		if err != nil {
			return err
		}
		var b index.Batch
		err = scan(rows, func() error {
			e, err := scanEntry(rows, parents)
			if err != nil || e.Parent == nil {
				return err
			}
			if len(b.Add) >= feedUnits && e.Seq != b.Seq {
				if err := apply(b); err != nil {
					return err
				}
				b = index.Batch{}
			}
			b.Seq = e.Seq
			b.Add = append(b.Add, e)
			return nil
		})
		if err != nil {
			return err
		}
		b.Seq = last
		return apply(b)
	})
	if err != nil {
		return fmt.Errorf("load index: %w", err)
	}
	return nil
}

// Follow returns the changes after a sequence number, a bounded number at a
// time; the caller calls it again with the batch's Seq until that stays.
func (s *Store) Follow(ctx context.Context, c Collection, embedder int64, after uint64) (index.Batch, error) {
	b := index.Batch{Seq: after}
	err := s.view(ctx, func(tx *sql.Tx) error {
		puts, err := s.changes(ctx, tx, c, &b)
		if err != nil || len(puts) == 0 {
			return err
		}
		in, args := list(puts)
		parents, err := loadParents(ctx, tx, `i.id IN (`+in+`)`, args...)
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT u.id, u.item, u.ordinal, u.heading, u.text, v.vector
			FROM units u LEFT JOIN vectors v ON v.embedder = ? AND v.hash = u.hash
			WHERE u.item IN (`+in+`) ORDER BY u.id`, append([]any{embedder}, args...)...)
		if err != nil {
			return err
		}
		return scan(rows, func() error {
			e, err := scanEntry(rows, parents)
			if err == nil && e.Parent != nil {
				b.Add = append(b.Add, e)
			}
			return err
		})
	})
	if err != nil {
		return b, fmt.Errorf("follow changes: %w", err)
	}
	return b, nil
}

// maxChanges bounds a batch of changes by items; a batch never splits a change.
const maxChanges = 200

// changes reads the next changes into b and returns the items written by them.
func (s *Store) changes(ctx context.Context, tx *sql.Tx, c Collection, b *index.Batch) (puts []uint64, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT c.seq, c.item, c.op, i.superseded FROM changes c
		LEFT JOIN items i ON i.id = c.item
		WHERE c.namespace = ? AND c.kind = ? AND c.seq > ? ORDER BY c.seq LIMIT ?`, c.Namespace, c.Kind, b.Seq, maxChanges)
	if err != nil {
		return nil, err
	}
	err = scan(rows, func() error {
		var item uint64
		var op int
		var ended sql.NullInt64
		if err := rows.Scan(&b.Seq, &item, &op, &ended); err != nil {
			return err
		}
		switch op {
		case opPut:
			puts = append(puts, item)
		case opEnd:
			b.Ended = append(b.Ended, index.End{Parent: item, At: moment(ended), Seq: b.Seq})
		case opRemove:
			b.Removed = append(b.Removed, item)
		}
		return nil
	})
	return puts, err
}

type loadedParent struct {
	*index.Parent

	seq   uint64
	title string
}

func loadParents(ctx context.Context, tx *sql.Tx, where string, args ...any) (map[uint64]loadedParent, error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+parentColumns+` FROM items i WHERE `+where, args...) //nolint:gosec // where is a constant of this package
	if err != nil {
		return nil, err
	}
	parents := make(map[uint64]loadedParent)
	return parents, scan(rows, func() error {
		p := loadedParent{Parent: new(index.Parent)}
		var tags, meta string
		var occurred, recorded, superseded, expires sql.NullInt64
		if err := rows.Scan(&p.ID, &p.seq, &p.title, &p.Source, &p.User, &p.Agent, &p.Session, &tags, &meta,
			&occurred, &recorded, &superseded, &p.Ended, &expires); err != nil {
			return err
		}
		p.Tags, p.Metadata = decode[[]string](tags), Strings(decode[map[string]any](meta))
		p.Occurred, p.Recorded = moment(occurred), moment(recorded)
		p.Superseded, p.Expires = moment(superseded), moment(expires)
		parents[p.ID] = p
		return nil
	})
}

func scanEntry(rows *sql.Rows, parents map[uint64]loadedParent) (index.Entry, error) {
	var e index.Entry
	var item uint64
	var heading string
	var vector []byte
	if err := rows.Scan(&e.ID, &item, &e.Ordinal, &heading, &e.Text, &vector); err != nil {
		return e, err
	}
	p, ok := parents[item]
	if !ok {
		return e, nil
	}
	e.Parent, e.Seq = p.Parent, p.seq
	title := ""
	if e.Ordinal == 0 {
		// Once per text: the keyword leg scores every unit together with its parent.
		title = p.title
	}
	e.Title = IndexTitle(title, decode[[]string](heading))
	if vector != nil {
		e.Vector = unpackVector(vector)
	}
	return e, nil
}

// IndexTitle joins what is searched as a unit's title: that of its item and the
// headings above it, without repeating the title.
func IndexTitle(title string, heading []string) string {
	if len(heading) > 0 && strings.EqualFold(heading[0], title) {
		heading = heading[1:]
	}
	return strings.TrimSpace(title + "\n" + strings.Join(heading, "\n"))
}

// Strings returns metadata as filters compare it: strings as they are, other
// scalars as JSON writes them; lists, objects and null are left out.
func Strings(m map[string]any) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[k] = s
			continue
		}
		b, err := json.Marshal(v)
		if err != nil || bytes.ContainsAny(b[:1], "[{n") {
			continue
		}
		out[k] = string(b)
	}
	return out
}

// list returns the placeholders and arguments of an IN list.
func list(ids []uint64) (string, []any) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = int64(id) //nolint:gosec // row ids fit
	}
	return strings.TrimSuffix(strings.Repeat("?,", len(ids)), ","), args
}

// newest returns the sequence number of the last change of a collection.
func newest(ctx context.Context, tx *sql.Tx, c Collection) (seq uint64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM changes WHERE namespace = ? AND kind = ?`,
		c.Namespace, c.Kind).Scan(&seq)
	return seq, err
}
