package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ragctx/ragctx"
)

// Quotas limit the current contents of a namespace; 0 is no limit. Replaced and deleted versions
// kept for queries as of earlier times do not count.
type Quotas struct {
	Documents int   `json:"documents" required:"false" minimum:"0" doc:"how many documents it may hold; 0 is no limit"`
	Memories  int   `json:"memories" required:"false" minimum:"0" doc:"how many memories it may hold, episodes of turns included; 0 is no limit"`
	TextBytes int64 `json:"text_bytes" required:"false" minimum:"0" doc:"how many bytes of text its documents and memories may have together; 0 is no limit"`
}

// Namespace describes a namespace and its current contents.
type Namespace struct {
	Name      string    `json:"name"`
	Created   time.Time `json:"created"`
	Documents int       `json:"documents" doc:"that it holds now"`
	Memories  int       `json:"memories" doc:"that it holds now, episodes of turns included"`
	TextBytes int64     `json:"text_bytes" doc:"of the text of those documents and memories"`
	Quotas    Quotas    `json:"quotas"`
}

const namespaceColumns = `name, created, documents, memories, bytes, max_documents, max_memories, max_bytes`

func scanNamespace(row interface{ Scan(...any) error }) (n Namespace, err error) {
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

// Namespace returns the id of a namespace; with create it is created if missing. An erased
// namespace of the same name had another id, to which nothing can be written.
func (s *Store) Namespace(ctx context.Context, name string, create bool) (int64, error) {
	return s.namespaceIDs.find(name, func() (int64, error) { return s.lookUpNamespace(ctx, name, create) })
}

func (s *Store) lookUpNamespace(ctx context.Context, name string, create bool) (int64, error) {
	var id int64
	err := s.view(ctx, func(tx *sql.Tx) error {
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
	err = s.write.do(ctx, high, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `INSERT INTO namespaces (name, created) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET name = name RETURNING id`, name, s.now().UnixMicro()).Scan(&id)
	})
	if err != nil {
		return 0, fmt.Errorf("create namespace: %w", err)
	}
	return id, nil
}

func namespaceNotFound(name string) error {
	return fmt.Errorf("namespace %q: %w", ragctx.Clip(name), ragctx.ErrNotFound)
}

// CreateNamespace creates a namespace. An existing one is [ragctx.ErrConflict].
func (s *Store) CreateNamespace(ctx context.Context, name string, q Quotas) (n Namespace, err error) {
	err = s.write.do(ctx, high, func(ctx context.Context, tx *sql.Tx) error {
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

// SetQuotas changes the quotas of a namespace. Contents over the quota stay.
func (s *Store) SetQuotas(ctx context.Context, name string, q Quotas) (n Namespace, err error) {
	err = s.write.do(ctx, high, func(ctx context.Context, tx *sql.Tx) error {
		n, err = scanNamespace(tx.QueryRowContext(ctx, `UPDATE namespaces SET max_documents = ?, max_memories = ?, max_bytes = ?
			WHERE name = ? RETURNING `+namespaceColumns, q.Documents, q.Memories, q.TextBytes, name))
		if errors.Is(err, sql.ErrNoRows) {
			return namespaceNotFound(name)
		}
		return err
	})
	return n, failedIf("change quotas", err)
}

// DescribeNamespace returns a namespace and its contents.
func (s *Store) DescribeNamespace(ctx context.Context, name string) (n Namespace, err error) {
	err = s.view(ctx, func(tx *sql.Tx) (err error) {
		n, err = scanNamespace(tx.QueryRowContext(ctx, `SELECT `+namespaceColumns+` FROM namespaces WHERE name = ?`, name))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return n, namespaceNotFound(name)
	}
	return n, failedIf("read namespace", err)
}

// NamespaceFilter selects namespaces.
type NamespaceFilter struct {
	After string   // names after this one
	Limit int      // negative is all
	Among []string // empty is all
}

// ListNamespaces returns namespaces and their contents, by name.
func (s *Store) ListNamespaces(ctx context.Context, f NamespaceFilter) ([]Namespace, error) {
	c := conditions{sql: `erased = 0`}
	if f.After != "" {
		c.and(`name > ?`, f.After)
	}
	if len(f.Among) > 0 {
		names, _ := json.Marshal(f.Among) // strings: cannot fail
		c.and(`name IN (SELECT value FROM json_each(?))`, string(names))
	}
	all := []Namespace{}
	err := s.view(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT `+namespaceColumns+` FROM namespaces WHERE `+c.sql+` ORDER BY name LIMIT ?`,
			append(c.args, f.Limit)...) //nolint:gosec // of constants
		if err != nil {
			return err
		}
		return scan(rows, func() error {
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

// Namespaces returns the names of all namespaces, sorted.
func (s *Store) Namespaces(ctx context.Context) ([]string, error) {
	var names []string
	err := s.view(ctx, func(tx *sql.Tx) (err error) {
		names, err = column[string](ctx, tx, `SELECT name FROM namespaces WHERE erased = 0 ORDER BY name`)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	return names, nil
}
