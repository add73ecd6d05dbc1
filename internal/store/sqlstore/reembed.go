package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/internal/store"
)

// Unembedded implements [store.Vectors].
func (s *Store) Unembedded(ctx context.Context, embedder int64, after uint64, limit int) ([]store.Unembedded, uint64, error) {
	var out []store.Unembedded
	last := after
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT u.id, u.item, u.hash, u.heading, u.text, i.title,
				EXISTS (SELECT 1 FROM vectors v WHERE v.embedder = ? AND v.hash = u.hash)
			FROM units u JOIN items i ON i.id = u.item WHERE u.id > ? ORDER BY u.id LIMIT ?`, embedder, after, limit)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			var u store.Unembedded
			var hash []byte
			var heading, title string
			var has bool
			if err := rows.Scan(&last, &u.Item, &hash, &heading, &u.Text, &title, &has); err != nil {
				return err
			}
			u.Text = store.EmbedText(title, decode[[]string](heading), u.Text)
			u.Key = store.VectorKeyOf(u.Text)
			// A different key predates a change of the embedded text: its vector would not be
			// found.
			if !has && string(u.Key[:]) == string(hash) {
				out = append(out, u)
			}
			return nil
		})
	})
	if err != nil {
		return nil, after, fmt.Errorf("find texts without vectors: %w", err)
	}
	return out, last, nil
}

// LastChunk implements [store.Vectors].
func (s *Store) LastChunk(ctx context.Context) (last uint64, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM units`).Scan(&last)
	})
	if err != nil {
		return 0, fmt.Errorf("find the last chunk: %w", err)
	}
	return last, nil
}

// CountChunks implements [store.Vectors].
func (s *Store) CountChunks(ctx context.Context) (n int, err error) {
	err = s.view(ctx, func(tx *Tx) error { return tx.QueryRowContext(ctx, `SELECT count(*) FROM units`).Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("count chunks: %w", err)
	}
	return n, nil
}

// PutVectors implements [store.Vectors].
func (s *Store) PutVectors(
	ctx context.Context, embedder int64, texts []store.Unembedded, vectors [][]float32, announce bool,
) (map[store.Collection]uint64, error) {
	announced := make(map[store.Collection]uint64)
	err := s.write.do(ctx, Low, func(ctx context.Context, tx *Tx) error {
		clear(announced)
		ins, err := tx.PrepareContext(ctx, `INSERT INTO vectors (embedder, hash, vector) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`)
		if err != nil {
			return err
		}
		defer ins.Close()
		items := make(map[uint64]bool)
		for i, t := range texts {
			if _, err := ins.ExecContext(ctx, embedder, t.Key[:], packVector(vectors[i])); err != nil {
				return err
			}
			items[t.Item] = true
		}
		if !announce {
			return nil
		}
		for item := range items {
			if err := s.announceVectors(ctx, tx, item, announced); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, failed("store vectors", err)
	}
	return announced, nil
}

// AnnounceVectors implements [store.Vectors].
func (s *Store) AnnounceVectors(ctx context.Context, after uint64, limit int) (map[store.Collection]uint64, uint64, error) {
	announced := make(map[store.Collection]uint64)
	last := after
	err := s.write.do(ctx, Low, func(ctx context.Context, tx *Tx) error {
		clear(announced)
		last = after
		items := make(map[uint64]bool)
		if err := itemsOfUnits(ctx, tx, after, limit, items, &last); err != nil {
			return err
		}
		for item := range items {
			if err := s.announceVectors(ctx, tx, item, announced); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, after, failed("announce vectors", err)
	}
	return announced, last, nil
}

// itemsOfUnits adds the items of the units after an id, and sets last to the id of the last one.
func itemsOfUnits(ctx context.Context, tx *Tx, after uint64, limit int, items map[uint64]bool, last *uint64) error {
	rows, err := tx.QueryContext(ctx, //nolint:sqlclosecheck // Scan closes it
		`SELECT id, item FROM units WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
	if err != nil {
		return err
	}
	return Scan(rows, func() error {
		var item uint64
		err := rows.Scan(last, &item)
		items[item] = true
		return err
	})
}

// announceVectors appends the change that makes an index load the vectors of an item, unless the item
// is gone or not published.
func (s *Store) announceVectors(ctx context.Context, tx *Tx, item uint64, announced map[store.Collection]uint64) error {
	var c store.Collection
	err := tx.QueryRowContext(ctx, `SELECT namespace, kind FROM items WHERE id = ? AND seq > 0`, int64(item)). //nolint:gosec // row ids fit
															Scan(&c.Namespace, &c.Kind)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	announced[c], err = s.appendChange(ctx, tx, c.Namespace, c.Kind, int64(item), opVectors) //nolint:gosec // row ids fit
	return err
}

// DeleteOldVectors implements [store.Vectors].
func (s *Store) DeleteOldVectors(ctx context.Context, keep int64, limit int) (bool, error) {
	var n int64
	err := s.write.do(ctx, Low, func(ctx context.Context, tx *Tx) error {
		n = 0
		ids, err := Column[int64](ctx, tx, `SELECT id FROM embedders WHERE id <> ?`, keep)
		if err != nil {
			return err
		}
		for _, id := range ids {
			res, err := tx.ExecContext(ctx, `DELETE FROM vectors WHERE embedder = ? AND hash IN
				(SELECT hash FROM vectors WHERE embedder = ? LIMIT ?)`, id, id, limit)
			if err != nil {
				return err
			}
			if n, err = res.RowsAffected(); err != nil || n > 0 {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return false, failed("delete old vectors", err)
	}
	return n > 0, nil
}

// EmbedderIdentity implements [store.Embedders].
func (s *Store) EmbedderIdentity(ctx context.Context, id int64) (embed.Identity, error) {
	var text string
	var identity embed.Identity
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT identity FROM embedders WHERE id = ?`, id).Scan(&text)
	})
	if err == nil {
		err = json.Unmarshal([]byte(text), &identity)
	}
	if err != nil {
		return identity, fmt.Errorf("read identity of embedder %d: %w", id, err)
	}
	return identity, nil
}
