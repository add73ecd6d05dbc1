package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/passage"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/store"
)

// source gives a provider its view of the engine: the store's texts and the
// indexes of one kind of item.
type source struct {
	passage.Source

	engine *Engine
	kind   store.Kind
}

func (e *Engine) source(k store.Kind) source {
	return source{Source: e.store, engine: e, kind: k}
}

// Search implements the providers' sources.
func (s source) Search(ctx context.Context, q ragctx.ContextQuery, iq index.Query) (index.Result, error) {
	iq.Fusion = s.engine.fusion
	return s.search(ctx, q.Namespace, iq)
}

func (s source) search(ctx context.Context, namespace string, iq index.Query) (index.Result, error) {
	ns, err := s.engine.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return index.Result{}, nil
	}
	if err != nil {
		return index.Result{}, err
	}
	col, release, err := s.engine.collections.get(ctx, store.Collection{Namespace: ns, Kind: s.kind})
	if err != nil {
		return index.Result{}, err
	}
	defer release()
	var degraded []string
	if iq.Vector, err = s.engine.embedder.EmbedQuery(ctx, iq.Text); err != nil {
		s.engine.opts.Logger.WarnContext(ctx, "embedder failed on a query", "error", err)
		iq.Vector, degraded = nil, []string{"vector"}
	} else if !usable(iq.Vector, s.engine.embedder.Identity().Dimensions) {
		iq.Vector = nil
	}
	res, err := col.index.Search(ctx, iq)
	res.Degraded = append(degraded, res.Degraded...)
	return res, err
}

// Recall implements the memory provider's source.
func (s source) Recall(ctx context.Context, q ragctx.ContextQuery) ([]memory.Memory, error) {
	found, _, err := s.engine.ListMemories(ctx, q.Namespace, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, SessionID: q.SessionID, Filter: q.Filter, Exclude: q.Exclude,
		AsOf: q.AsOf, Now: q.Now, Limit: q.MaxResults,
	})
	return found, err
}
