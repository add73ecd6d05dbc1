package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// keepRevoked is how long a revoked key is listed.
const keepRevoked = 90 * 24 * time.Hour

const keyColumns = `id, name, prefix, hash, role, namespaces, user, created, expires, revoked, used`

// Keys implements [store.Keys].
func (s *Store) Keys(ctx context.Context) ([]store.StoredKey, error) {
	keys := []store.StoredKey{}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+keyColumns+` FROM keys ORDER BY created, id`)
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			k, err := scanKey(rows)
			keys = append(keys, k)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read API keys: %w", err)
	}
	return keys, nil
}

func scanKey(row interface{ Scan(...any) error }) (store.StoredKey, error) {
	var k store.StoredKey
	var role, namespaces string
	var hash []byte
	var created, expires, revoked, used sql.NullInt64
	if err := row.Scan(&k.ID, &k.Name, &k.Prefix, &hash, &role, &namespaces, &k.User, &created, &expires, &revoked, &used); err != nil {
		return k, err
	}
	var err error
	if k.Role, err = access.ParseRole(role); err != nil {
		return k, fmt.Errorf("API key %s: %w", k.ID, err)
	}
	if len(hash) != len(k.Hash) {
		return k, fmt.Errorf("API key %s: its hash is damaged", k.ID)
	}
	copy(k.Hash[:], hash)
	k.Prefix = access.Scheme + k.Prefix // the table stores prefixes without it
	if k.Namespaces, err = readNames(namespaces); err != nil {
		return k, fmt.Errorf("API key %s: %w", k.ID, err)
	}
	k.Created, k.Expires, k.Revoked, k.LastUsed = moment(created), moment(expires), moment(revoked), moment(used)
	return k, nil
}

// CreateKey implements [store.Keys].
func (s *Store) CreateKey(ctx context.Context, k store.StoredKey) error {
	namespaces, err := encode(k.Namespaces, "[]")
	if err != nil {
		return err
	}
	err = s.write.doIn(ctx, store.OnlyKeys, High, func(ctx context.Context, tx *Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM keys WHERE revoked < ?`, k.Created.Add(-keepRevoked).UnixMicro()); err != nil {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM keys WHERE revoked IS NULL`).Scan(&n); err != nil {
			return err
		}
		if n >= store.MaxKeys {
			return fmt.Errorf("%w: there are %d API keys, the maximum; revoke some first", ragctx.ErrQuota, n)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO keys (`+keyColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			k.ID, k.Name, strings.TrimPrefix(k.Prefix, access.Scheme), k.Hash[:], k.Role.String(), namespaces, k.User,
			k.Created.UnixMicro(), micros(k.Expires), micros(k.Revoked), micros(k.LastUsed))
		return err
	})
	return failedIf("create API key", err)
}

// RevokeKey implements [store.Keys].
func (s *Store) RevokeKey(ctx context.Context, id string) (store.StoredKey, error) {
	var k store.StoredKey
	err := s.writeFreeing(ctx, store.OnlyKeys, High, func(ctx context.Context, tx *Tx) (err error) {
		k, err = scanKey(tx.QueryRowContext(ctx, `UPDATE keys SET revoked = coalesce(revoked, ?) WHERE id = ? RETURNING `+keyColumns,
			s.now().UnixMicro(), id))
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("API key %q: %w", ragctx.Clip(id), ragctx.ErrNotFound)
		}
		return err
	})
	return k, failedIf("revoke API key", err)
}

// RecordKeyUses implements [store.Keys].
func (s *Store) RecordKeyUses(ctx context.Context, last map[string]time.Time) error {
	err := s.write.doIn(ctx, NoNamespaces, Low, func(ctx context.Context, tx *Tx) error {
		for id, at := range last {
			if _, err := tx.ExecContext(ctx, `UPDATE keys SET used = ? WHERE id = ?`, at.UnixMicro(), id); err != nil {
				return err
			}
		}
		return nil
	})
	return failedIf("record uses of API keys", err)
}

// readNames decodes names of namespaces. Unlike [decode] it fails on damage: a damaged list must
// not grant all namespaces.
func readNames(s string) ([]string, error) {
	var names []string
	if err := json.Unmarshal([]byte(s), &names); err != nil || names == nil {
		return nil, fmt.Errorf("its namespaces are damaged: %w", ragctx.ErrUnavailable)
	}
	return names, nil
}
