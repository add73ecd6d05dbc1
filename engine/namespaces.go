package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// CreateNamespace creates a namespace with quotas. It is for admins of all namespaces. Otherwise
// the first write to a namespace creates it, without quotas.
func (e Admin) CreateNamespace(ctx context.Context, name string, q store.Quotas) (store.Namespace, error) {
	if err := checkQuotas(ctx, name, q); err != nil {
		return store.Namespace{}, err
	}
	return e.store.CreateNamespace(ctx, name, q)
}

// SetQuotas changes the quotas of a namespace, effective with the next write. Existing items above
// a quota stay, and may be replaced by smaller ones. It is for admins of all namespaces.
func (e Admin) SetQuotas(ctx context.Context, name string, q store.Quotas) (store.Namespace, error) {
	if err := checkQuotas(ctx, name, q); err != nil {
		return store.Namespace{}, err
	}
	return e.store.SetQuotas(ctx, name, q)
}

func checkQuotas(ctx context.Context, name string, q store.Quotas) error {
	if err := requireAdmin(ctx); err != nil {
		return err
	}
	if err := checkNamespaceName(name); err != nil {
		return err
	}
	for _, n := range []struct {
		field string
		value int64
	}{{"documents", int64(q.Documents)}, {"memories", int64(q.Memories)}, {"text_bytes", q.TextBytes}} {
		if n.value < 0 {
			return ragctx.Invalid("quotas."+n.field, "is %d; use 0 for no limit, or more", n.value)
		}
	}
	return nil
}

// checkNamespaceName validates a namespace's name where "" is not the default one.
func checkNamespaceName(name string) error {
	if name == "" {
		return ragctx.Invalid("name", "is empty; name the namespace")
	}
	return ragctx.ValidName("name", name)
}

// Namespace returns the contents and quotas of a namespace.
func (e Admin) Namespace(ctx context.Context, name string) (store.Namespace, error) {
	if err := checkNamespaceName(name); err != nil {
		return store.Namespace{}, err
	}
	if err := canEnter(ctx, name); err != nil {
		return store.Namespace{}, err
	}
	return e.store.DescribeNamespace(ctx, name)
}

// Namespaces returns a page of the namespaces that the grant of ctx reaches, by name; the next
// page starts after its last name.
func (e Admin) Namespaces(ctx context.Context, after string, limit int) ([]store.Namespace, error) {
	if err := pageLimit(&limit); err != nil {
		return nil, err
	}
	return e.store.ListNamespaces(ctx, store.NamespaceFilter{
		After: after, Limit: limit,
		Among: access.From(ctx).Namespaces,
	})
}

// EraseNamespace erases a namespace with everything in it, as [Documents.Erase] erases a
// document. Its jobs end. Later writes under its name create a new namespace without quotas; writes
// in progress fail with [ragctx.ErrConflict]. It is for admins of all namespaces.
func (e Admin) EraseNamespace(ctx context.Context, name string) (store.Erased, error) {
	if err := requireAdmin(ctx); err != nil {
		return store.Erased{}, err
	}
	if err := checkNamespaceName(name); err != nil {
		return store.Erased{}, err
	}
	var f store.MemoryFilter
	f.AnyUser = true
	before := e.countTiers(ctx, name, f)
	took, err := e.eraseWithEvents(ctx, name, func(ragctx.Event) bool { return true },
		func(int64) (store.Erased, error) {
			took, err := e.store.EraseNamespace(ctx, name, func(note func() error) error {
				return e.jobs.stopNamespace(name, func() error { return e.snapshotter.SuspendAll(name, note) })
			})
			e.registry.forget(func(k SessionKey) bool { return k.Namespace == name })
			return took, err
		})
	e.publishCleared(ctx, name, f, before, took)
	return took, err
}

// stopNamespace stops the running jobs of a namespace, and calls do while no job starts. The contexts of
// the stopped jobs have ended, so they write nothing more.
func (s *jobs) stopNamespace(namespace string, do func() error) error {
	s.pickMu.Lock()
	defer s.pickMu.Unlock()
	s.mu.Lock()
	for _, r := range s.running {
		if r.snapshot().Namespace == namespace {
			r.stop()
		}
	}
	s.mu.Unlock()
	return do()
}

// removeIndex removes an index that is no longer used. It waits while the index is
// being opened or closed.
func (e *core) removeIndex(ctx context.Context, id store.Collection) error {
	remove := func() error {
		if err := e.opts.Indexes.Drop(ctx, indexOf(id)); err != nil {
			return fmt.Errorf("remove index: %w", err)
		}
		return nil
	}
	for end := time.Now().Add(indexWait); ; {
		err := e.collections.WithClosed(ctx, id, remove)
		if !errors.Is(err, ragctx.ErrConflict) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
