package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// Documents of a namespace with the same text share it. The row that first stored the text owns it.
// When that row is removed while others share the text, it stays as a stub without a name until the
// last of them goes.

// textHash identifies a text within a namespace.
func textHash(text string) []byte {
	k := store.VectorKeyOf(text)
	return k[:]
}

// sharedText returns the row whose text a document can share, or 0.
func sharedText(ctx context.Context, tx *Tx, r record) (of int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(text_of, id) FROM items
		WHERE namespace = ? AND text_hash = ? AND seq > 0 AND bytes = ? LIMIT 1`,
		r.namespace, r.textHash, len(r.content.Text)).Scan(&of)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return of, err
}

// sharesText reports whether other rows share the text of an item.
func sharesText(ctx context.Context, tx *Tx, id int64) (yes bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE text_of = ?)`, id).Scan(&yes)
	return yes, err
}

// makeStub is the statement that turns a hidden row into a stub.
const makeStub = `UPDATE items SET key = '', version = -id, hash = ?, title = '', source = '', mime = '', root = '', stat = '',
	tags = '[]', metadata = '{}', abstract = '', outline = '[]', sketch = NULL, text_hash = NULL, occurred = NULL, expires = NULL`

// isStub is the condition that row i of items is a stub in use.
const isStub = `i.seq = 0 AND i.key = '' AND EXISTS (SELECT 1 FROM items d WHERE d.text_of = i.id)`

// Sketches implements [store.Documents].
func (s *Store) Sketches(ctx context.Context, ns int64) ([]passage.SketchedDocument, error) {
	var out []passage.SketchedDocument
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT key, text_hash, sketch FROM items
			WHERE namespace = ? AND kind = ? AND superseded IS NULL AND text_hash IS NOT NULL`, ns, store.KindDocuments)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var d passage.SketchedDocument
			var hash []byte
			err := rows.Scan(&d.ID, &hash, &d.Sketch)
			copy(d.Hash[:], hash)
			out = append(out, d)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read sketches: %w", err)
	}
	return out, nil
}
