package engine

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// This file isolates users. A grant bound to a user ([access.Grant].User) reads that user's items
// and shared ones (items without a user), and changes only that user's. Another user's item is
// reported as not found, whether it exists or not. Naming another user, or changing a shared item,
// is [ragctx.ErrDenied].

// actAs sets user to the user that the grant of ctx acts for.
func actAs(ctx context.Context, user *string) error {
	u, err := access.From(ctx).ActAs(*user)
	if err == nil {
		*user = u
	}
	return err
}

// canRead returns the viewer as the grant of ctx permits it to read.
func canRead(ctx context.Context, by Viewer) (Viewer, error) {
	if access.From(ctx).User == "" {
		return by, nil
	}
	return Viewer{User: by.User}, actAs(ctx, &by.User)
}

// canModify returns the viewer that may change a memory or a turn with all its versions.
func (e *core) canModify(ctx context.Context, namespace, id string, by Viewer) (Viewer, error) {
	return e.rejectShared(ctx, namespace, by,
		func(ns int64, user string) (bool, error) { return e.store.WasEverShared(ctx, ns, id, user) })
}

// canDelete is canModify for operations on the current version only: the owner may end it even if
// earlier versions were shared.
func (e *core) canDelete(ctx context.Context, namespace, id string, by Viewer) (Viewer, error) {
	return e.rejectShared(ctx, namespace, by,
		func(ns int64, _ string) (bool, error) { return e.store.IsShared(ctx, ns, id) })
}

// rejectShared is canRead, but rejects shared items, which isShared detects.
func (e *core) rejectShared(
	ctx context.Context, namespace string, by Viewer, isShared func(ns int64, user string) (bool, error),
) (Viewer, error) {
	g := access.From(ctx)
	if g.User == "" {
		return by, nil
	}
	if err := actAs(ctx, &by.User); err != nil {
		return by, err
	}
	by.Anyone = false
	ns, err := e.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return by, nil // nothing exists to change
	}
	if err != nil {
		return by, err
	}
	shared, err := isShared(ns, by.User)
	if isNotFound(err) {
		return by, nil // another user's item: the operation will report it as not found
	}
	if err == nil && shared {
		err = g.RequireShared()
	}
	return by, err
}

// restrictFilter checks a memory filter against the grant of ctx, and limits it to the grant's user.
func restrictFilter(ctx context.Context, f *store.MemoryFilter) error {
	if f.AnyUser {
		return access.From(ctx).RequireAllUsers()
	}
	return actAs(ctx, &f.UserID)
}

// canModifyShared rejects grants that may not change shared items.
func canModifyShared(ctx context.Context) error { return access.From(ctx).RequireShared() }

// canEnter rejects namespaces that the grant of ctx does not reach, for operations that do not
// resolve the namespace's id. "" is the default one.
func canEnter(ctx context.Context, namespace string) error {
	return access.From(ctx).RequireNamespace(namespaceName(namespace))
}

// canReadJob reports jobs of unreachable namespaces as not found. Jobs without a namespace concern all
// namespaces and users.
func canReadJob(ctx context.Context, j store.Job) error {
	g := access.From(ctx)
	if g.RequireUnbound() == nil || j.Namespace != "" && g.Includes(j.Namespace) {
		return nil
	}
	return notFound("job", j.ID)
}

// canModifyJob is canReadJob for operations that change a job.
func (e *core) canModifyJob(ctx context.Context, id string) error {
	j, err := e.store.Job(ctx, id)
	if err == nil {
		err = canReadJob(ctx, j)
	}
	if err == nil {
		err = canModifyShared(ctx)
	}
	if err == nil && j.Namespace == "" {
		err = requireAdmin(ctx)
	}
	return err
}

// requireAdmin rejects all grants except admins of all namespaces.
func requireAdmin(ctx context.Context) error {
	g := access.From(ctx)
	if err := g.RequireUnbound(); err != nil {
		return err
	}
	return g.RequireRole(access.Admin)
}

func notFound(what, id string) error {
	return fmt.Errorf("%s %q: %w", what, ragctx.Clip(id), ragctx.ErrNotFound)
}
