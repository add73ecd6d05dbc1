package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

const parentColumns = `i.id, i.seq, i.title, i.source, i.user, i.agent, i.session, i.tags, i.metadata,
	i.occurred, i.recorded, i.superseded, coalesce(i.ended, 0), i.expires`

// catalogChunks is the number of chunks in a batch of [Store.Catalog].
const catalogChunks = 20_000

// Catalog implements [store.Changes].
func (s *Store) Catalog(ctx context.Context, c store.Collection, apply func(index.Batch) error) error {
	err := s.view(ctx, func(tx *Tx) error {
		if err := s.openings.follow(ctx, tx); err != nil {
			return err
		}
		var exists bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM namespaces WHERE id = ? AND erased = 0)`, c.Namespace).Scan(&exists)
		if err != nil {
			return err
		}
		if !exists {
			return fmt.Errorf("%w: the namespace was erased", ragctx.ErrNotFound)
		}
		last, err := lastChange(ctx, tx, c)
		if err != nil {
			return err
		}
		parents, err := loadParents(ctx, tx, `i.namespace = ? AND i.kind = ? AND i.seq > 0`, c.Namespace, c.Kind)
		if err != nil {
			return err
		}
		// The index on units covers every column read here; their texts are not read.
		rows, err := tx.QueryContext(ctx, `SELECT u.id, u.item, u.ordinal, `+speakerColumns+`
			FROM items i JOIN units u ON u.item = i.id`+joinSpeakers+`
			WHERE i.namespace = ? AND i.kind = ? AND i.seq > 0`, c.Namespace, c.Kind)
		if err != nil {
			return err
		}
		var b index.Batch
		var e index.Chunk
		var item uint64
		into := append([]any{&e.ID, &item, &e.Ordinal}, scanSpeaker(&e.Speaker)...)
		err = Scan(rows, func() error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			p := parents[item]
			e.Item, e.Seq = p.Item, p.seq
			if b.Add = append(b.Add, e); len(b.Add) < catalogChunks {
				return nil
			}
			full := b
			b = index.Batch{}
			return apply(full)
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

// Follow implements [store.Changes].
func (s *Store) Follow(ctx context.Context, c store.Collection, after uint64, texts bool, embedder int64) (index.Batch, error) {
	b := index.Batch{Seq: after}
	var puts, revised []uint64
	count := 0
	read := func(tx *Tx) (err error) {
		if embedder != 0 || b.Vectors != nil {
			if b.Revised, err = entries(ctx, tx, revised, false, embedder); err != nil {
				return err
			}
		}
		b.Add, err = entries(ctx, tx, puts, texts, embedder)
		return err
	}
	err := s.view(ctx, func(tx *Tx) (err error) {
		if err := s.openings.follow(ctx, tx); err != nil {
			return err
		}
		if puts, revised, count, err = s.changes(ctx, tx, c, &b); err != nil || count > maxVectorChunks {
			return err
		}
		return read(tx)
	})
	if err == nil && count > maxVectorChunks {
		if of := embedder; of != 0 {
			b.Vectors = func(ctx context.Context, some []index.Chunk) error { return s.fillVectors(ctx, of, some) }
			embedder = 0
		}
		err = s.db.Bulk(ctx, read)
	}
	if err != nil {
		return b, fmt.Errorf("follow changes: %w", err)
	}
	return b, nil
}

// maxVectorChunks is the chunk count up to which a batch carries its vectors. The vectors of a longer
// batch, which comes from one document, would take far more memory than its text.
const maxVectorChunks = 4 * maxChunks

// fillVectors sets the vectors of chunks of a long batch.
func (s *Store) fillVectors(ctx context.Context, embedder int64, chunks []index.Chunk) error {
	places := make(map[uint64]int, len(chunks))
	ids := make([]uint64, len(chunks))
	for i, e := range chunks {
		ids[i], places[e.ID] = e.ID, i
	}
	err := s.db.Bulk(ctx, func(tx *Tx) error {
		in, args := placeholders(ids)
		rows, err := tx.QueryContext(ctx, `SELECT u.id, v.vector FROM units u JOIN vectors v ON v.embedder = ? AND v.hash = u.hash
			WHERE u.id IN (`+in+`)`, append([]any{embedder}, args...)...) //nolint:gosec // placeholders
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var id uint64
			var vector sql.RawBytes
			err := rows.Scan(&id, &vector)
			if i, ok := places[id]; ok && len(vector) > 0 {
				chunks[i].Vector = unpackVector(vector)
			}
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("read vectors: %w", err)
	}
	return nil
}

// entries returns the chunks of items.
func entries(ctx context.Context, tx *Tx, items []uint64, texts bool, embedder int64) (out []index.Chunk, err error) {
	if len(items) == 0 {
		return nil, nil
	}
	in, args := placeholders(items)
	// Items erased since are left out, though their rows still exist.
	parents, err := loadParents(ctx, tx, `i.id IN (`+in+`) AND i.seq > 0`, args...)
	if err != nil {
		return nil, err
	}
	columns, from := `u.id, u.item, u.ordinal, '', '', NULL, `+speakerColumns, joinSpeakers
	if texts {
		columns = `u.id, u.item, u.ordinal, u.heading, u.text, NULL, ` + speakerColumns
	}
	if embedder != 0 {
		columns = strings.Replace(columns, "NULL", "v.vector", 1)
		from += ` LEFT JOIN vectors v ON v.embedder = ? AND v.hash = u.hash`
		args = append([]any{embedder}, args...)
	}
	rows, err := tx.QueryContext(ctx, `SELECT `+columns+` FROM units u`+from+`
		WHERE u.item IN (`+in+`) ORDER BY u.item, u.ordinal`, args...) //nolint:gosec // constants of this package
	if err != nil {
		return nil, err
	}
	return out, Scan(rows, func() error {
		e, err := scanEntry(rows, parents)
		if err == nil && e.Item != nil {
			out = append(out, e)
		}
		return err
	})
}

// Bounds of a batch of changes. A change is never split.
const (
	maxChanges = 200
	maxChunks  = 1000
)

// changes reads the next changes into b. It returns the items they stored, the items with new
// vectors, and the chunk count of both.
func (s *Store) changes(ctx context.Context, tx *Tx, c store.Collection, b *index.Batch) (puts, revised []uint64,
	total int, err error,
) {
	rows, err := tx.QueryContext(ctx, `SELECT c.seq, c.item, c.op, c.units, i.superseded,
			CASE WHEN c.op IN (?, ?) THEN (SELECT count(*) FROM units WHERE item = c.item) ELSE 0 END
		FROM changes c LEFT JOIN items i ON i.id = c.item
		WHERE c.namespace = ? AND c.kind = ? AND c.seq > ? ORDER BY c.seq LIMIT ?`, opPut, opVectors, c.Namespace,
		c.Kind, b.Seq, maxChanges)
	if err != nil {
		return nil, nil, 0, err
	}
	defer rows.Close()
	for total < maxChunks && rows.Next() {
		var item uint64
		var op, count int
		var gone string
		var ended sql.NullInt64
		if err := rows.Scan(&b.Seq, &item, &op, &gone, &ended, &count); err != nil {
			return nil, nil, 0, err
		}
		total += count
		switch op {
		case opPut:
			puts = append(puts, item)
		case opVectors:
			revised = append(revised, item)
		case opEnd:
			b.Ended = append(b.Ended, index.End{Item: item, At: moment(ended), Seq: b.Seq})
		case opRemove:
			b.Removed = append(b.Removed, index.Removal{Item: item, Chunks: expandRanges(decode[[][2]uint64](gone))})
		}
	}
	return puts, revised, total, rows.Err()
}

// expandRanges returns the ids in ranges.
func expandRanges(ranges [][2]uint64) (ids []uint64) {
	for _, r := range ranges {
		for id := r[0]; id <= r[1]; id++ {
			ids = append(ids, id)
		}
	}
	return ids
}

// recordRemoval appends the change that removes an item from the indexes. It stores the chunk ids, so it
// must run before the chunks are deleted.
func (s *Store) recordRemoval(ctx context.Context, tx *Tx, ns int64, k store.Kind, item int64) (uint64, error) {
	var ranges [][2]uint64
	ids, err := Column[uint64](ctx, tx, `SELECT id FROM units WHERE item = ? ORDER BY id`, item)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if n := len(ranges); n > 0 && ranges[n-1][1]+1 == id {
			ranges[n-1][1] = id
		} else {
			ranges = append(ranges, [2]uint64{id, id})
		}
	}
	seq, err := s.appendChange(ctx, tx, ns, k, item, opRemove)
	if err != nil {
		return 0, err
	}
	ranged, err := encode(ranges, "")
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE changes SET units = ? WHERE seq = ?`, ranged, seq)
	return seq, err
}

type loadedParent struct {
	*index.Item

	seq   uint64
	title string
}

func loadParents(ctx context.Context, tx *Tx, where string, args ...any) (map[uint64]loadedParent, error) {
	rows, err := tx.QueryContext(ctx, `SELECT `+parentColumns+` FROM items i
		WHERE `+where, args...) //nolint:gosec // where is a constant of this package
	if err != nil {
		return nil, err
	}
	parents := make(map[uint64]loadedParent)
	return parents, Scan(rows, func() error {
		p := loadedParent{Item: new(index.Item)}
		var tags, meta string
		var occurred, recorded, superseded, expires sql.NullInt64
		if err := rows.Scan(&p.ID, &p.seq, &p.title, &p.Source, &p.User, &p.Agent, &p.Session, &tags, &meta,
			&occurred, &recorded, &superseded, &p.Ended, &expires); err != nil {
			return err
		}
		p.Tags, p.Metadata = decode[[]string](tags), store.Strings(decodeValues(meta))
		p.Occurred, p.Recorded = moment(occurred), moment(recorded)
		p.Superseded, p.Expires = moment(superseded), moment(expires)
		parents[p.ID] = p
		return nil
	})
}

func scanEntry(rows *sql.Rows, parents map[uint64]loadedParent) (index.Chunk, error) {
	var e index.Chunk
	var item uint64
	var heading string
	var vector []byte
	if err := rows.Scan(append([]any{&e.ID, &item, &e.Ordinal, &heading, &e.Text, &vector}, scanSpeaker(&e.Speaker)...)...); err != nil {
		return e, err
	}
	p, ok := parents[item]
	if !ok {
		return e, nil
	}
	e.Item, e.Seq = p.Item, p.seq
	if e.Text != "" {
		title := ""
		if e.Ordinal == 0 {
			// Only once per text: the keyword index scores chunks together with their item.
			title = p.title
		}
		e.Title = store.IndexTitle(title, decode[[]string](heading))
	}
	if len(vector) > 0 {
		e.Vector = unpackVector(vector)
	}
	return e, nil
}

// placeholders returns the placeholders and arguments of an IN list. It pads with the last id to few
// distinct lengths, so that few statements are compiled.
func placeholders(ids []uint64) (string, []any) {
	args := make([]any, paddedLength(len(ids)))
	for i := range args {
		args[i] = int64(ids[min(i, len(ids)-1)]) //nolint:gosec // row ids fit
	}
	return strings.TrimSuffix(strings.Repeat("?,", len(args)), ","), args
}

// paddedLength returns the smallest of 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, … that is at least n.
// Longer lists are not padded, since SQLite limits the number of arguments.
func paddedLength(n int) int {
	if n < 2 || n > 1024 {
		return n
	}
	size := 1 << bits.Len(uint(n-1)) //nolint:gosec // not negative
	if n <= size*3/4 {
		return size * 3 / 4
	}
	return size
}

// lastChange returns the sequence number of a collection's last change.
func lastChange(ctx context.Context, tx *Tx, c store.Collection) (seq uint64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM changes WHERE namespace = ? AND kind = ?`,
		c.Namespace, c.Kind).Scan(&seq)
	return seq, err
}

// Newest implements [store.Shared].
func (s *Store) Newest(ctx context.Context, c store.Collection) (seq uint64, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		seq, err = lastChange(ctx, tx, c)
		return err
	})
	return seq, failedIf("read the newest change", err)
}
