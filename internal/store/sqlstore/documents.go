package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// Has implements [store.Documents].
func (s *Store) Has(ctx context.Context, ns int64, id string, hash []byte, root string) (store.Put, bool, error) {
	var p store.Put
	err := s.view(ctx, func(tx *Tx) error {
		var recorded sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT version, recorded, (SELECT count(*) FROM units WHERE item = i.id) FROM items i
			WHERE namespace = ? AND kind = ? AND key = ? AND superseded IS NULL AND hash = ? AND root = ?`,
			ns, store.KindDocuments, id, hash, root).Scan(&p.Version, &recorded, &p.Chunks)
		if err != nil {
			return err
		}
		p.Revision = store.Revision(p.Version, moment(recorded))
		p.Seq, err = lastChange(ctx, tx, store.Collection{Namespace: ns, Kind: store.KindDocuments})
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("find document: %w", err)
	}
	p.Status = store.Unchanged
	return p, true, nil
}

// PutDocument implements [store.Documents].
func (s *Store) PutDocument(ctx context.Context, ns int64, doc passage.PreparedDocument, root string,
	c store.Content, when ...store.Condition,
) (store.Put, error) {
	r := record{
		namespace: ns, kind: store.KindDocuments, key: doc.ExternalID, hash: doc.Hash[:],
		title: doc.Title, source: doc.Source, mime: doc.MIME, root: root,
		tags: doc.Tags, metadata: doc.Metadata, occurred: doc.Occurred, content: c,
		textHash: textHash(c.Text), sketch: doc.Sketch,
	}
	d := &staged{record: r, when: when, chunks: c.Chunks}
	var p store.Put
	var err error
	for more := true; more && err == nil; {
		if err = d.embed(ctx); err != nil {
			break
		}
		err = s.Slice(ctx, 0, ns, func(ctx context.Context, tx *Tx, enough func(int) bool) (err error) {
			more, err = s.step(ctx, tx, d, &p, enough)
			return err
		})
	}
	s.unstage(d, err == nil && p.Status != store.Unchanged)
	if d.pruned {
		s.gc.wake()
	}
	if err != nil {
		return store.Put{}, failed("store document", err)
	}
	return p, nil
}

// decide decides how to store a document and returns the current version.
func (s *Store) decide(ctx context.Context, tx *Tx, r record, when []store.Condition) (store.Put, *current, error) {
	p := store.Put{Status: store.Created, Chunks: len(r.content.Chunks)}
	old, err := findCurrent(ctx, tx, r.namespace, store.KindDocuments, r.key)
	if err == nil {
		err = checkAll(when, "document", r.key, old)
	}
	if err != nil || old == nil {
		return p, nil, err
	}
	if r.root != "" && old.root != "" && old.root != r.root {
		return p, old, fmt.Errorf("document %q: %w: it was ingested from %s; give this folder another --prefix, or another namespace",
			ragctx.Clip(r.key), ragctx.ErrConflict, old.root)
	}
	if p.Status = store.Replaced; bytes.Equal(old.hash, r.hash) && old.root == r.root {
		p.Status = store.Unchanged
		w, err := s.unchanged(ctx, tx, store.Collection{Namespace: r.namespace, Kind: store.KindDocuments}, old)
		p.Version, p.Revision, p.Seq = w.version, w.revision(), w.seq
		return p, old, err
	}
	return p, old, nil
}

// DeleteDocument implements [store.Documents].
func (s *Store) DeleteDocument(ctx context.Context, ns int64, id string, when ...store.Condition) (uint64, error) {
	return s.endDocument(ctx, ns, id, func(*current) bool { return true }, when...)
}

// DropDocument implements [store.Documents].
func (s *Store) DropDocument(ctx context.Context, ns int64, f store.FileState) (uint64, error) {
	return s.endDocument(ctx, ns, f.ID, func(c *current) bool { return c.root == f.Root && c.version == f.Version })
}

// endDocument ends the current version of a document if meant accepts it.
func (s *Store) endDocument(ctx context.Context, ns int64, id string, meant func(*current) bool, when ...store.Condition) (uint64, error) {
	var seq uint64
	err := s.writeFreeing(ctx, ns, Low, func(ctx context.Context, tx *Tx) error {
		old, err := findCurrent(ctx, tx, ns, store.KindDocuments, id)
		if err == nil {
			err = checkAll(when, "document", id, old)
		}
		if err != nil {
			return err
		}
		if old == nil || !meant(old) {
			return fmt.Errorf("document %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
		}
		seq, err = s.endVersion(ctx, tx, ns, store.KindDocuments, old.id)
		return err
	})
	if err != nil {
		return 0, failed("delete document", err)
	}
	return seq, nil
}

const documentColumns = `i.key, i.version, i.title, i.source, i.mime, i.root, i.stat, i.bytes,
	(SELECT count(*) FROM units WHERE item = i.id), i.abstract, i.tags, i.metadata, i.occurred, i.recorded`

func scanDocument(row interface{ Scan(...any) error }, more ...any) (store.Document, error) {
	var d store.Document
	var tags, meta string
	var occurred, recorded sql.NullInt64
	err := row.Scan(append([]any{
		&d.ID, &d.Version, &d.Title, &d.Source, &d.MIME, &d.Root, &d.Stat, &d.Bytes, &d.Chunks,
		&d.Abstract, &tags, &meta, &occurred, &recorded,
	}, more...)...)
	d.Tags, d.Metadata = decode[[]string](tags), decodeValues(meta)
	if d.Tags == nil {
		d.Tags = []string{}
	}
	d.Occurred, d.Recorded = moment(occurred), moment(recorded)
	return d, err
}

// Document implements [store.Documents].
func (s *Store) Document(ctx context.Context, ns int64, id string, version int) (store.Document, string, error) {
	var d store.Document
	var text string
	err := s.view(ctx, func(tx *Tx) (err error) {
		var item int64
		d, err = scanDocument(tx.QueryRowContext(ctx, `SELECT `+documentColumns+`, i.id FROM items i
			WHERE i.namespace = ? AND i.kind = ? AND i.key = ? AND i.seq > 0
			AND CASE WHEN ? = 0 THEN i.superseded IS NULL ELSE i.version = ? END`,
			ns, store.KindDocuments, id, version, version), &item)
		if err != nil {
			return err
		}
		text, err = readText(ctx, tx, item, 0, d.Bytes)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		which := fmt.Sprintf("document %q", ragctx.Clip(id))
		if version != 0 {
			which = fmt.Sprintf("version %d of %s", version, which)
		}
		return d, "", fmt.Errorf("%s: %w", which, ragctx.ErrNotFound)
	}
	if err != nil {
		return d, "", fmt.Errorf("read document: %w", err)
	}
	return d, text, nil
}

// DocumentChunks implements [store.Documents].
func (s *Store) DocumentChunks(ctx context.Context, ns int64, id string, version int) ([]passage.Chunk, error) {
	var chunks []passage.Chunk
	err := s.view(ctx, func(tx *Tx) (err error) {
		chunks, err = loadChunks(ctx, tx, `items i JOIN units u ON u.item = i.id
			WHERE i.namespace = ? AND i.kind = ? AND i.key = ? AND i.seq > 0
			AND CASE WHEN ? = 0 THEN i.superseded IS NULL ELSE i.version = ? END ORDER BY u.ordinal`,
			ns, store.KindDocuments, id, version, version)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	return chunks, nil
}

// documentsQuery returns the SQL of a list and its arguments. It omits empty conditions so that the indexes
// on items apply.
func documentsQuery(o store.ListOptions, ns int64) (string, []any) {
	c := conditions{sql: `i.namespace = ? AND i.superseded IS NULL`, args: []any{ns}}
	if o.Root == "" {
		c.and(`i.kind = ?`, store.KindDocuments)
	} else {
		c.and(`i.root = ? AND i.root <> '' AND +i.kind = ?`, o.Root, store.KindDocuments) // the index of roots has no kind
	}
	if o.After >= o.Prefix {
		c.and(`i.key > ?`, o.After)
	} else {
		c.and(`i.key >= ?`, o.Prefix)
	}
	if end, ok := afterPrefix(o.Prefix); ok {
		c.and(`i.key < ?`, end)
	}
	return `SELECT ` + documentColumns + ` FROM items i WHERE ` + c.sql + ` ORDER BY i.key LIMIT ?`, append(c.args, o.Limit)
}

// afterPrefix returns the smallest string, in byte order, after all strings with the prefix; false
// if none exists.
func afterPrefix(prefix string) (string, bool) {
	for n := len(prefix) - 1; n >= 0; n-- {
		if prefix[n] < 0xff {
			return prefix[:n] + string([]byte{prefix[n] + 1}), true
		}
	}
	return "", false
}

// ListDocuments implements [store.Documents].
func (s *Store) ListDocuments(ctx context.Context, ns int64, o store.ListOptions) ([]store.Document, error) {
	docs := []store.Document{}
	err := s.view(ctx, func(tx *Tx) error {
		query, args := documentsQuery(o, ns)
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			d, err := scanDocument(rows)
			docs = append(docs, d)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return docs, nil
}
