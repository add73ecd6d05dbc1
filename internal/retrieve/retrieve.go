// Package retrieve finds the stored texts that answer a query. It has the open indexes, the embedding
// spaces, the rankings and the store that a search needs, so every call leads down.
//
// A search resolves its namespace, embeds the question and asks the index of one kind of item for
// hits. Facts among the hits are replaced by their turns. Package passage checks the hits against
// the store and joins them to items.
package retrieve

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
)

// Store is the part of the store that searches read.
type Store interface {
	passage.Source
	access.Namespaces
	store.Settings
	// ListMemories returns the memories that match a filter, in its order.
	ListMemories(ctx context.Context, ns int64, f store.MemoryFilter) ([]ragctx.Memory, error)
	// HasFacts reports whether facts were ever extracted from the turns of a namespace.
	HasFacts(ctx context.Context, ns int64) (bool, error)
	// FactsOfTurns returns the facts extracted from turns, by turn, as far as the filter permits.
	FactsOfTurns(ctx context.Context, ns int64, turns []string, f store.MemoryFilter) (map[string][]ragctx.TurnFact, error)
	// ChunksOfFacts returns the chunks of the turns from which facts were extracted, by the fact's chunk.
	ChunksOfFacts(ctx context.Context, ns int64, chunks []uint64, now time.Time) (map[uint64][]passage.Chunk, error)
}

// Options are the parts of a [Retriever]; all are required but the weights.
type Options struct {
	Store       Store
	Collections *Collections
	Spaces      *Spaces
	Weights     ragctx.MemoryWeights // of importance and recency
	Logger      *slog.Logger
}

// Retriever finds documents and memories. It is safe for concurrent use.
type Retriever struct {
	Options

	Rankings Rankings

	withFacts sync.Map // ids of namespaces that have extracted facts
}

// New returns a retriever.
func New(o Options) *Retriever {
	return &Retriever{Options: o, Rankings: Rankings{store: o.Store}}
}

// NoteFacts records that facts were extracted from the turns of a namespace.
func (r *Retriever) NoteFacts(ns int64) { r.withFacts.Store(ns, struct{}{}) }

// hasFacts reports whether facts were ever extracted from the turns of a namespace.
func (r *Retriever) hasFacts(ctx context.Context, ns int64) (bool, error) {
	if _, ok := r.withFacts.Load(ns); ok {
		return true, nil
	}
	yes, err := r.Store.HasFacts(ctx, ns)
	if yes {
		r.NoteFacts(ns)
	}
	return yes, err
}

// Facts returns the facts extracted from the turns with the given ids, by turn, as far as the query may
// see them.
func (r *Retriever) Facts(
	ctx context.Context, q ragctx.ContextQuery, ids []string,
) (map[string][]ragctx.TurnFact, error) {
	ns, err := access.Namespace(ctx, r.Store, q.Namespace, false)
	if isNotFound(err) || len(ids) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if yes, err := r.hasFacts(ctx, ns); err != nil || !yes {
		return nil, err
	}
	return r.Store.FactsOfTurns(ctx, ns, ids, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, AsOf: q.AsOf, Now: q.Now,
	})
}

// ListByScore returns the memories in the query's scope with the highest score of importance and
// recency.
func (r *Retriever) ListByScore(ctx context.Context, q ragctx.ContextQuery) ([]ragctx.Memory, error) {
	ns, err := access.Namespace(ctx, r.Store, q.Namespace, false)
	if isNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := r.Store.ListMemories(ctx, ns, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, Filter: q.Filter, Exclude: q.Exclude,
		AsOf: q.AsOf, Now: q.Now, Limit: q.MaxResults, Weights: r.Weights,
	})
	for i := range found {
		found[i].Score = ragctx.Rounded(found[i].Score)
	}
	return found, err
}

// chunkBatch bounds how many chunks [Retriever.Within] reads per store call.
const chunkBatch = 5000

// Within returns the ids of all memories in scope within the time that the plan names, ordered by
// time. It returns false if the time could not be resolved.
func (r *Retriever) Within(
	ctx context.Context, q ragctx.ContextQuery, plan index.Query,
) (ids []string, read bool, err error) {
	ns, err := access.Namespace(ctx, r.Store, q.Namespace, false)
	if isNotFound(err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	idx, release, err := r.Collections.Get(ctx, store.Collection{Namespace: ns, Kind: store.KindMemories})
	if err != nil {
		return nil, false, err
	}
	defer release()
	found, read, err := idx.Within(ctx, plan)
	if err != nil {
		return nil, false, err
	}
	seen := make(map[string]bool)
	for hits := range slices.Chunk(found.Hits, chunkBatch) {
		chunks, err := passage.Load(ctx, r.Store,
			passage.Request{Query: q, Search: plan, Hits: hits, State: found.State})
		if err != nil {
			return nil, false, err
		}
		for _, u := range chunks {
			if !seen[u.Item.Key] {
				seen[u.Item.Key] = true
				ids = append(ids, u.Item.Key)
			}
		}
	}
	return ids, read, nil
}

func isNotFound(err error) bool { return errors.Is(err, ragctx.ErrNotFound) }
