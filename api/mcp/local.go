package mcp

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/providers/procedures"
)

// Local returns an [Engine] for an engine in this process.
func Local(e *engine.Engine) Engine { return local{e} }

type local struct{ *engine.Engine }

func (l local) Document(ctx context.Context, namespace, id string, version int) (store.Document, string, error) {
	return l.Documents().Get(ctx, namespace, id, version)
}

func (l local) ListDocuments(ctx context.Context, namespace string, o store.ListOptions) ([]store.Document, error) {
	return l.Documents().List(ctx, namespace, o)
}

func (l local) PutDocument(ctx context.Context, namespace string, d ragctx.Document, root string) (store.Put, error) {
	return l.Documents().Put(ctx, namespace, d, root)
}

func (l local) Passage(ctx context.Context, namespace, id string) (passage.Chunk, error) {
	return l.Documents().Passage(ctx, namespace, id)
}

func (l local) Skill(ctx context.Context, namespace, item string) (procedures.ID, ragctx.ProcedureVersion, error) {
	return l.Procedures().Skill(ctx, namespace, item)
}

func (l local) Remember(ctx context.Context, m ragctx.Memory) (ragctx.Memory, store.Status, error) {
	return l.Memories().Put(ctx, m)
}

func (l local) FindMemory(ctx context.Context, namespace, id string, by engine.Viewer) (store.Quarantined, error) {
	return l.Memories().Find(ctx, namespace, id, by)
}

func (l local) MemoryHistory(ctx context.Context, namespace, id string, by engine.Viewer) ([]ragctx.MemoryChange,
	error,
) {
	return l.Memories().History(ctx, namespace, id, by)
}

func (l local) DeleteMemory(ctx context.Context, namespace, id, user string, anyUser bool) error {
	return l.Memories().Delete(ctx, namespace, id, user, anyUser)
}

func (l local) EraseMemory(ctx context.Context, namespace, id, user string, anyUser bool) (store.Erased, error) {
	return l.Memories().Erase(ctx, namespace, id, user, anyUser)
}

func (l local) Job(ctx context.Context, id string) (engine.Job, error) { return l.Jobs().Get(ctx, id) }

func (l local) ListJobs(ctx context.Context, f store.JobFilter) ([]engine.Job, error) {
	return l.Jobs().List(ctx, f)
}

func (l local) JobItems(ctx context.Context, id string, f store.ItemFilter) ([]store.JobItem, error) {
	return l.Jobs().Items(ctx, id, f)
}
