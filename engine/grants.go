package engine

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/store"
)

// The wall between users. Who is bound to a user ([access.Grant].User) sees what is
// that user's and what is nobody's, and changes what is that user's. What is another
// user's is not found, whether it is there or not; to name another user is
// [ragctx.ErrDenied], as is to change what is nobody's, which all users see.

// actAs makes user the one that the grant of ctx acts for.
func actAs(ctx context.Context, user *string) error {
	u, err := access.From(ctx).ActAs(*user)
	if err == nil {
		*user = u
	}
	return err
}

// seenBy returns who the grant of ctx lets look.
func seenBy(ctx context.Context, by Viewer) (Viewer, error) {
	if access.From(ctx).User == "" {
		return by, nil
	}
	return Viewer{User: by.User}, actAs(ctx, &by.User)
}

// changedBy is seenBy for what is about to change a memory or a turn, with all that was
// of it.
func (e *Engine) changedBy(ctx context.Context, namespace, id string, by Viewer) (Viewer, error) {
	return e.ownedBy(ctx, namespace, by, func(ns int64, user string) (bool, error) { return e.store.Nobodys(ctx, ns, id, user) })
}

// endedBy is changedBy for what ends only what there is now of a memory: nobody keeps
// its user from that who had the id before.
func (e *Engine) endedBy(ctx context.Context, namespace, id string, by Viewer) (Viewer, error) {
	return e.ownedBy(ctx, namespace, by, func(ns int64, _ string) (bool, error) { return e.store.NobodysNow(ctx, ns, id) })
}

// ownedBy is seenBy where what is nobody's, as nobodys finds out, is not to be changed.
func (e *Engine) ownedBy(ctx context.Context, namespace string, by Viewer, nobodys func(ns int64, user string) (bool, error)) (Viewer, error) {
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
		return by, nil // there is nothing to change
	}
	if err != nil {
		return by, err
	}
	shared, err := nobodys(ns, by.User)
	if isNotFound(err) {
		return by, nil // it is another user's: what follows finds nothing, and says so as where there is nothing
	}
	if err == nil && shared {
		err = g.RequireShared()
	}
	return by, err
}

// boundFilter checks a filter of memories against the grant of ctx, and binds it to the
// user of that.
func boundFilter(ctx context.Context, f *store.MemoryFilter) error {
	if f.AnyUser {
		return access.From(ctx).RequireAllUsers()
	}
	return actAs(ctx, &f.UserID)
}

// shares refuses grants that may not change what belongs to no user.
func shares(ctx context.Context) error { return access.From(ctx).RequireShared() }

// enters refuses namespaces that the grant of ctx does not reach, where none is asked
// for by its id. "" is the default one.
func enters(ctx context.Context, namespace string) error {
	return access.From(ctx).RequireNamespace(spaceName(namespace))
}

// seesJob refuses jobs of namespaces that the grant of ctx does not reach as if they
// were not there. Those of no namespace concern all of them, and all users.
func seesJob(ctx context.Context, j store.Job) error {
	g := access.From(ctx)
	if g.RequireUnbound() == nil || j.Namespace != "" && g.Includes(j.Namespace) {
		return nil
	}
	return notFound("job", j.ID)
}

// changesJob is seesJob for what is about to change a job.
func (e *Engine) changesJob(ctx context.Context, id string) error {
	j, err := e.store.Job(ctx, id)
	if err == nil {
		err = seesJob(ctx, j)
	}
	if err == nil {
		err = shares(ctx)
	}
	if err == nil && j.Namespace == "" {
		err = managesAll(ctx)
	}
	return err
}

// managesAll refuses all but admins of all namespaces.
func managesAll(ctx context.Context) error {
	g := access.From(ctx)
	if err := g.RequireUnbound(); err != nil {
		return err
	}
	return g.RequireRole(access.Admin)
}

func notFound(what, id string) error {
	return fmt.Errorf("%s %q: %w", what, ragctx.Clip(id), ragctx.ErrNotFound)
}
