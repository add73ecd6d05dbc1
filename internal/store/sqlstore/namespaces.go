package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

const namespaceColumns = `name, created, documents, memories, bytes, max_documents, max_memories, max_bytes`

func scanNamespace(row interface{ Scan(...any) error }) (n store.Namespace, err error) {
	var created sql.NullInt64
	err = row.Scan(&n.Name, &created, &n.Documents, &n.Memories, &n.TextBytes, &n.Quotas.Documents, &n.Quotas.Memories, &n.Quotas.TextBytes)
	n.Created = moment(created)
	return n, err
}

// namespaceIDs caches the ids of namespaces.
type namespaceIDs struct {
	ids    sync.Map // by name
	erased atomic.Uint64
}

// find returns the id of a name, calling look on a cache miss.
func (c *namespaceIDs) find(name string, look func() (int64, error)) (int64, error) {
	if id, ok := c.ids.Load(name); ok {
		return id.(int64), nil //nolint:forcetypeassert // only int64 is stored
	}
	before := c.erased.Load()
	id, err := look()
	if err != nil {
		return 0, err
	}
	c.ids.Store(name, id)
	if c.erased.Load() != before { // the id may belong to a namespace erased since
		c.ids.CompareAndDelete(name, id)
	}
	return id, nil
}

// drop removes an erased namespace.
func (c *namespaceIDs) drop(name string) {
	c.erased.Add(1)
	c.ids.Delete(name)
}

// clear removes all namespaces.
func (c *namespaceIDs) clear() {
	c.erased.Add(1)
	c.ids.Clear()
}

// Namespace implements [store.Namespaces].
func (s *Store) Namespace(ctx context.Context, name string, create bool) (int64, error) {
	return s.namespaceIDs.find(name, func() (int64, error) { return s.lookUpNamespace(ctx, name, create) })
}

func (s *Store) lookUpNamespace(ctx context.Context, name string, create bool) (int64, error) {
	var id int64
	err := s.view(ctx, func(tx *Tx) error {
		return tx.QueryRowContext(ctx, `SELECT id FROM namespaces WHERE name = ?`, name).Scan(&id)
	})
	if err == nil {
		return id, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("find namespace: %w", err)
	}
	if !create {
		return 0, namespaceNotFound(name)
	}
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO namespaces (name, created) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id`, name, s.now().UnixMicro()).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("create namespace: %w", err)
	}
	return id, nil
}

func namespaceNotFound(name string) error {
	return fmt.Errorf("namespace %q: %w", ragctx.Clip(name), ragctx.ErrNotFound)
}

// CreateNamespace implements [store.Namespaces].
func (s *Store) CreateNamespace(ctx context.Context, name string, q store.Quotas) (n store.Namespace, err error) {
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		n, err = scanNamespace(tx.QueryRowContext(ctx, `INSERT INTO namespaces (name, created, max_documents, max_memories, max_bytes)
			VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING `+namespaceColumns,
			name, s.now().UnixMicro(), q.Documents, q.Memories, q.TextBytes))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("namespace %q: %w: it exists already; its quotas can be changed", ragctx.Clip(name), ragctx.ErrConflict)
		}
		return err
	})
	return n, failedIf("create namespace", err)
}

// SetQuotas implements [store.Namespaces].
func (s *Store) SetQuotas(ctx context.Context, name string, q store.Quotas) (n store.Namespace, err error) {
	err = s.write.do(ctx, High, func(ctx context.Context, tx *Tx) error {
		n, err = scanNamespace(tx.QueryRowContext(ctx, `UPDATE namespaces SET max_documents = ?, max_memories = ?, max_bytes = ?
			WHERE name = ? RETURNING `+namespaceColumns, q.Documents, q.Memories, q.TextBytes, name))
		if errors.Is(err, sql.ErrNoRows) {
			return namespaceNotFound(name)
		}
		return err
	})
	return n, failedIf("change quotas", err)
}

// DescribeNamespace implements [store.Namespaces].
func (s *Store) DescribeNamespace(ctx context.Context, name string) (n store.Namespace, err error) {
	err = s.view(ctx, func(tx *Tx) (err error) {
		n, err = scanNamespace(tx.QueryRowContext(ctx, `SELECT `+namespaceColumns+` FROM namespaces WHERE name = ?`, name))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return n, namespaceNotFound(name)
	}
	return n, failedIf("read namespace", err)
}

// ListNamespaces implements [store.Namespaces].
func (s *Store) ListNamespaces(ctx context.Context, f store.NamespaceFilter) ([]store.Namespace, error) {
	c := conditions{sql: `erased = 0`}
	if f.After != "" {
		c.and(`name > ?`, f.After)
	}
	if len(f.Among) > 0 {
		names, _ := json.Marshal(f.Among) // strings: cannot fail
		c.and(`name IN (SELECT value FROM json_each(?))`, string(names))
	}
	if f.Limit < 0 {
		f.Limit = noLimit
	}
	all := []store.Namespace{}
	err := s.view(ctx, func(tx *Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+namespaceColumns+` FROM namespaces WHERE `+c.sql+` ORDER BY name LIMIT ?`,
			append(c.args, f.Limit)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return Scan(rows, func() error {
			n, err := scanNamespace(rows)
			all = append(all, n)
			return err
		})
	})
	if err != nil {
		return nil, failed("list namespaces", err)
	}
	return all, nil
}

// ErasedNamespaces implements [store.Shared].
func (s *Store) ErasedNamespaces(ctx context.Context) (ids []int64, err error) {
	err = s.view(ctx, func(tx *Tx) error {
		ids, err = Column[int64](ctx, tx, `SELECT id FROM namespaces WHERE erased <> 0`)
		return err
	})
	return ids, failedIf("list erased namespaces", err)
}
