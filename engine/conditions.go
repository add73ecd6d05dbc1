package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/memory"
)

// Conditional has the Engine's write methods of the same names, applied only if the document or
// memory meets the condition. Otherwise nothing changes and the error is [ragctx.ErrPrecondition].
type Conditional struct {
	engine    *core
	condition store.Condition
}

// If returns the conditional writes for a condition.
func (e *core) If(when store.Condition) Conditional { return Conditional{e, when} }

// PutDocument is [Documents.Put] under the condition.
func (c Conditional) PutDocument(
	ctx context.Context, namespace string, d ragctx.Document, root string,
) (store.Put, error) {
	return c.engine.putDocument(ctx, namespace, d, root, c.condition)
}

// PutFile is [Documents.PutFile] under the condition.
func (c Conditional) PutFile(
	ctx context.Context, namespace string, d ragctx.Document, data []byte, root string,
) (store.Put, error) {
	d, err := c.engine.fromFile(ctx, d, data)
	if err != nil {
		return store.Put{}, err
	}
	return c.PutDocument(ctx, namespace, d, root)
}

// DeleteDocument is [Documents.Delete] under the condition.
func (c Conditional) DeleteDocument(ctx context.Context, namespace, id string) error {
	err := c.engine.removeDocument(ctx, namespace,
		func(ns int64) (uint64, error) { return c.engine.store.DeleteDocument(ctx, ns, id, c.condition) })
	return c.unmetCondition(err, "document", id)
}

// EraseDocument is [Documents.Erase] under the condition.
func (c Conditional) EraseDocument(ctx context.Context, namespace, id string) (store.Erased, error) {
	if err := canModifyShared(ctx); err != nil {
		return store.Erased{}, err
	}
	if c.engine.namespaceMissing(ctx, namespace) {
		return store.Erased{}, c.condition.CheckMissing("document", id)
	}
	return c.engine.erase(ctx, namespace,
		func(ns int64) (store.Erased, error) { return c.engine.store.EraseDocument(ctx, ns, id, c.condition) })
}

// namespaceMissing reports whether a namespace does not exist, so that there is nothing to erase and no
// condition to evaluate.
func (e *core) namespaceMissing(ctx context.Context, namespace string) bool {
	_, err := e.namespace(ctx, namespace, false)
	return isNotFound(err)
}

// ReviseMemory is [Memories.Revise] under the condition.
func (c Conditional) ReviseMemory(
	ctx context.Context, namespace, id string, by Viewer, p memory.Patch,
) (ragctx.Memory, store.Status, error) {
	m, status, err := c.engine.reviseMemory(ctx, namespace, id, by, p, c.condition)
	return m, status, c.unmetCondition(err, "memory", id)
}

// DeleteMemory is [Memories.Delete] under the condition.
func (c Conditional) DeleteMemory(ctx context.Context, namespace, id string, by Viewer) error {
	return c.engine.deleteMemory(ctx, namespace, id, by, c.condition)
}

// EraseMemory is [Memories.Erase] under the condition.
func (c Conditional) EraseMemory(ctx context.Context, namespace, id string, by Viewer) (store.Erased, error) {
	return c.engine.eraseMemory(ctx, namespace, id, by, c.condition)
}

// unmetCondition replaces a not-found error by the failed precondition, if the condition requires an
// existing item.
func (c Conditional) unmetCondition(err error, noun, id string) error {
	if isNotFound(err) {
		if unmet := c.condition.CheckMissing(noun, id); unmet != nil {
			return unmet
		}
	}
	return err
}
