package engine

import (
	"context"

	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/docs"
	"github.com/ragctx/ragctx/providers/memory"
)

// Conditional does what the engine's methods of the same names do, if the document or the
// memory is as its condition wants it; else it changes nothing and the error is
// [ragctx.ErrPrecondition].
type Conditional struct {
	engine *Engine
	when   store.Condition
}

// If returns the writes that a condition is for.
func (e *Engine) If(when store.Condition) Conditional { return Conditional{e, when} }

// PutDocument is [Engine.PutDocument].
func (c Conditional) PutDocument(ctx context.Context, namespace string, d docs.Document, root string) (store.Put, error) {
	return c.engine.putDocument(ctx, namespace, d, root, c.when)
}

// PutFile is [Engine.PutFile].
func (c Conditional) PutFile(ctx context.Context, namespace string, d docs.Document, data []byte, root string) (store.Put, error) {
	d, err := c.engine.fromFile(ctx, d, data)
	if err != nil {
		return store.Put{}, err
	}
	return c.PutDocument(ctx, namespace, d, root)
}

// DeleteDocument is [Engine.DeleteDocument].
func (c Conditional) DeleteDocument(ctx context.Context, namespace, id string) error {
	err := c.engine.endDocument(ctx, namespace, func(ns int64) (uint64, error) { return c.engine.store.DeleteDocument(ctx, ns, id, c.when) })
	return c.found(err, "document", id)
}

// EraseDocument is [Engine.EraseDocument].
func (c Conditional) EraseDocument(ctx context.Context, namespace, id string) (store.Erased, error) {
	if err := shares(ctx); err != nil {
		return store.Erased{}, err
	}
	if c.engine.nowhere(ctx, namespace) {
		return store.Erased{}, c.when.Missing("document", id)
	}
	return c.engine.erase(ctx, namespace, func(ns int64) (store.Erased, error) { return c.engine.store.EraseDocument(ctx, ns, id, c.when) })
}

// nowhere reports whether there is no such namespace, in which nothing is erased and no
// condition would be looked at.
func (e *Engine) nowhere(ctx context.Context, namespace string) bool {
	_, err := e.namespace(ctx, namespace, false)
	return isNotFound(err)
}

// ReviseMemory is [Engine.ReviseMemory].
func (c Conditional) ReviseMemory(ctx context.Context, namespace, id string, by Viewer, p memory.Patch) (memory.Memory, store.Status, error) {
	m, status, err := c.engine.reviseMemory(ctx, namespace, id, by, p, c.when)
	return m, status, c.found(err, "memory", id)
}

// DeleteMemory is [Engine.DeleteMemory].
func (c Conditional) DeleteMemory(ctx context.Context, namespace, id string, by Viewer) error {
	return c.engine.deleteMemory(ctx, namespace, id, by, c.when)
}

// EraseMemory is [Engine.EraseMemory].
func (c Conditional) EraseMemory(ctx context.Context, namespace, id string, by Viewer) (store.Erased, error) {
	return c.engine.eraseMemory(ctx, namespace, id, by, c.when)
}

// found turns that there is nothing into the error of a condition that wants something.
func (c Conditional) found(err error, noun, id string) error {
	if isNotFound(err) {
		if unmet := c.when.Missing(noun, id); unmet != nil {
			return unmet
		}
	}
	return err
}
