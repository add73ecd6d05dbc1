package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/ragctx/ragctx/internal/store"
)

// Setting implements [store.Settings].
func (s *Store) Setting(ctx context.Context, key string) (string, error) {
	var v string
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, key).Scan(&v)
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("read setting %s: %w", key, err)
	}
	return v, nil
}

// SetSetting implements [store.Settings].
func (s *Store) SetSetting(ctx context.Context, key, value string) error {
	err := s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		if value == "" {
			_, err := tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, key)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, value)
		return err
	})
	if err != nil {
		return failed("change setting "+key, err)
	}
	return nil
}

// ChangeEmbedder implements [store.Embedders].
func (s *Store) ChangeEmbedder(ctx context.Context, id string, from uint64) error {
	err := s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, ?), (?, ?)
			ON CONFLICT (key) DO UPDATE SET value = CASE WHEN excluded.key = ?
				OR CAST(excluded.value AS BIGINT) < CAST(settings.value AS BIGINT) THEN excluded.value ELSE settings.value END`,
			store.SettingEmbedder, id, store.SettingUnembedded, strconv.FormatUint(from, 10), store.SettingEmbedder)
		return err
	})
	if err != nil {
		return failed("change the embedder", err)
	}
	return nil
}

// MarkEmbedded implements [store.Vectors].
func (s *Store) MarkEmbedded(ctx context.Context, embedder int64, last uint64) error {
	err := s.write.do(ctx, Low, func(ctx context.Context, tx *Tx) error {
		var newer, other bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM settings WHERE key = ? AND value <> ?)`,
			store.SettingEmbedder, strconv.FormatInt(embedder, 10)).Scan(&other)
		if err != nil || other {
			return err
		}
		err = tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM units
			WHERE id > ?)`, int64(last)).Scan(&newer) //nolint:gosec // row ids fit
		if err != nil {
			return err
		}
		if newer {
			_, err = tx.ExecContext(ctx, `UPDATE settings SET value = ?
				WHERE key = ?`, strconv.FormatUint(last+1, 10), store.SettingUnembedded)
		} else {
			_, err = tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, store.SettingUnembedded)
		}
		return err
	})
	if err != nil {
		return failed("record vectors", err)
	}
	return nil
}

// markUnembedded records that a chunk lacks a vector, in the transaction that inserts the chunk.
func markUnembedded(ctx context.Context, tx *Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING`,
		store.SettingUnembedded, strconv.FormatInt(id, 10))
	return err
}
