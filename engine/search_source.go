package engine

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/queryexpand"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/trace"
)

// searchSource gives a provider access to the store's texts and the indexes of one kind of item.
type searchSource struct {
	passage.Source

	engine *core
	kind   store.Kind
}

func (e *core) searchSource(k store.Kind) searchSource {
	return searchSource{Source: e.store, engine: e, kind: k}
}

// Search implements the providers' source interfaces.
func (s searchSource) Search(ctx context.Context, q ragctx.ContextQuery, iq index.Query) (index.Result, error) {
	return s.searchTurns(ctx, q, iq, nil)
}

// searchWithFeedback searches. If the query asks for pseudo-relevance feedback, it searches again with words of
// the best hits.
func (s searchSource) searchWithFeedback(
	ctx context.Context, q ragctx.ContextQuery, iq index.Query, by *index.Ranking,
) (index.Result, error) {
	asked := iq.More
	if !queryexpand.WantsFeedback(q) || iq.Time != nil && iq.Time.List {
		return s.searchIndex(ctx, q.Namespace, iq, asked, by)
	}
	first := iq
	first.K = queryexpand.FeedbackTexts
	found, err := s.searchIndex(ctx, q.Namespace, first, asked, by)
	if err != nil || len(found.Hits) == 0 {
		return found, err
	}
	best, err := passage.Resolve(ctx, s, passage.Request{
		Query: q, Search: iq, Hits: found.Hits, State: found.State,
	})
	if err != nil {
		return index.Result{}, err
	}
	texts := make([]string, len(best))
	for i, b := range best {
		texts[i] = b.Unit.Text
	}
	fed := queryexpand.Feedback(iq.Text, texts, queryexpand.FeedbackOptions{})
	iq.More = slices.Concat(asked, passage.IndexWordings(fed))
	return s.searchIndex(ctx, q.Namespace, iq, asked, by)
}

// searchIndex searches the index of a namespace, with the namespace's ranking unless by is given. The
// vector combines the query and the wordings in asked. Hits found only by the vector index must
// exceed the embedder's noise floor, unless only that index is searched.
func (s searchSource) searchIndex(
	ctx context.Context, namespace string, iq index.Query, asked []index.Wording, by *index.Ranking,
) (index.Result, error) {
	ns, err := s.engine.namespace(ctx, namespace, false)
	if isNotFound(err) {
		return index.Result{}, nil
	}
	if err != nil {
		return index.Result{}, err
	}
	id := store.Collection{Namespace: ns, Kind: s.kind}
	if by == nil {
		own, err := s.engine.rankings.get(ctx, s.engine.store, id)
		if err != nil {
			return index.Result{}, err
		}
		by = &own
	}
	by.Apply(&iq)
	col, release, err := s.engine.collections.get(ctx, id)
	if err != nil {
		return index.Result{}, err
	}
	defer release()
	for {
		name := col.index.Space()
		res, err := s.searchSpace(ctx, col.index, s.engine.spaces.named(name), iq, asked)
		if ctx.Err() != nil || col.index.Space() == name {
			return res, err
		}
		// The embedding space changed during the search, so the vector was not compared; search
		// again.
	}
}

func (s searchSource) searchSpace(
	ctx context.Context, idx *index.Hybrid, in *embeddingSpace, iq index.Query, asked []index.Wording,
) (index.Result, error) {
	var degraded []string
	var err error
	span := trace.Start(ctx, trace.Embed)
	iq.Vector, err = in.vectorFor(ctx, iq, asked)
	span.End()
	if err != nil {
		s.engine.opts.Logger.Log(ctx, embedderLogLevel(err), "embedder failed on a query", "error", err)
		degraded = []string{"vector"}
	}
	if in != nil {
		iq.Space = in.name()
	}
	if in != nil {
		in.calibrate(&iq.Fusion)
	}
	res, err := idx.Search(ctx, iq)
	res.Degraded = append(degraded, res.Degraded...)
	return res, err
}

// ListByScore implements the memory provider's source interface.
func (s searchSource) ListByScore(ctx context.Context, q ragctx.ContextQuery) ([]ragctx.Memory, error) {
	found, _, err := s.engine.Memories().List(ctx, q.Namespace, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, SessionID: q.SessionID, Filter: q.Filter, Exclude: q.Exclude,
		AsOf: q.AsOf, Now: q.Now, Limit: q.MaxResults,
	})
	return found, err
}

// Around implements [passage.Conversation].
func (s searchSource) Around(
	ctx context.Context, q ragctx.ContextQuery, iq index.Query, state uint64, chunks []uint64, n int,
) ([]index.Neighbors, error) {
	none := make([]index.Neighbors, len(chunks))
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		return none, nil
	}
	if err != nil {
		return nil, err
	}
	col, release, err := s.engine.collections.get(ctx, store.Collection{Namespace: ns, Kind: s.kind})
	if err != nil {
		return nil, err
	}
	defer release()
	return col.index.Neighbors(iq, state, chunks, n), nil
}

// Items implements [passage.Conversation].
func (s searchSource) Items(ctx context.Context, ids []uint64) (map[uint64]*passage.Item, error) {
	return s.engine.store.Items(ctx, ids)
}

// Texts implements [passage.Conversation].
func (s searchSource) Texts(ctx context.Context, items []uint64) (map[uint64]string, error) {
	return s.engine.store.Texts(ctx, items)
}
