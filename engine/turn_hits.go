package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// hasFacts reports whether facts were ever extracted from the turns of a namespace.
func (e *core) hasFacts(ctx context.Context, ns int64) (bool, error) {
	if _, ok := e.namespacesWithFacts.Load(ns); ok {
		return true, nil
	}
	yes, err := e.store.HasFacts(ctx, ns)
	if yes {
		e.namespacesWithFacts.Store(ns, struct{}{})
	}
	return yes, err
}

// maxOverfetch bounds the over-fetching needed when facts are replaced by their turns.
const maxOverfetch = 5000

// searchTurns searches, and replaces facts among the hits by the turns that they were extracted from: both
// would say the same, and the turn says more. A fact without its turn stays, as do all facts if
// the query has a filter, which applies to facts.
func (s searchSource) searchTurns(
	ctx context.Context, q ragctx.ContextQuery, iq index.Query, by *index.Ranking,
) (index.Result, error) {
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		return index.Result{}, nil
	}
	facts := false
	if err == nil && s.kind == store.KindMemories && q.Filter.IsZero() && q.AsOf.IsZero() {
		facts, err = s.engine.hasFacts(ctx, ns)
	}
	if err != nil {
		return index.Result{}, err
	}
	t := turnLookup{
		searchSource: s, ns: ns, now: iq.Now, terms: analysis.Query(iq.Text),
		turns: make(map[uint64][]passage.Chunk), termCounts: make(map[uint64]int),
	}
	wanted := iq.K
	for {
		res, err := s.searchWithFeedback(ctx, q, iq, by)
		if err != nil || !facts {
			return res, err
		}
		full := len(res.Hits) == iq.K
		if res.Hits, err = t.replaceFacts(ctx, res.Hits); err != nil {
			return index.Result{}, err
		}
		n := len(res.Hits)
		if n >= wanted || !full || iq.K >= maxOverfetch {
			res.Hits = res.Hits[:min(n, wanted)]
			return res, nil
		}
		iq.K = min(max(2*iq.K, nextK(iq.K, n, wanted)), maxOverfetch)
	}
}

// nextK returns how many hits to request if asked hits became n and wanted are needed: half more
// than a linear extrapolation, because the best hits share turns the least. So one more search
// usually suffices.
func nextK(asked, n, wanted int) int { return 3 * asked * wanted / (2 * max(n, 1)) }

// turnLookup caches the turns of hits within one query, which may take several searches.
type turnLookup struct {
	searchSource

	ns    int64
	now   time.Time
	terms []string                   // of the query
	turns map[uint64][]passage.Chunk // chunks of a fact's turn, by the fact's chunk; loaded once
	// termCounts is how many of the terms a turn's chunk contains.
	termCounts map[uint64]int
}

// load loads the turns of hits.
func (t *turnLookup) load(ctx context.Context, hits []index.Hit) error {
	var ids []uint64
	for _, h := range hits {
		if _, ok := t.turns[h.ID]; !ok {
			t.turns[h.ID] = nil
			ids = append(ids, h.ID)
		}
	}
	turns, err := t.engine.store.ChunksOfFacts(ctx, t.ns, ids, t.now)
	maps.Copy(t.turns, turns)
	return err
}

// replaceFacts replaces facts among hits by their turns. A turn that was hit itself keeps the better
// score.
func (t *turnLookup) replaceFacts(ctx context.Context, hits []index.Hit) ([]index.Hit, error) {
	if err := t.load(ctx, hits); err != nil {
		return hits, err
	}
	if !slices.ContainsFunc(hits, func(h index.Hit) bool { return len(t.turns[h.ID]) > 0 }) {
		return hits, nil
	}
	best := make(map[uint64]int, len(hits)) // place in out, by unit
	out := make([]index.Hit, 0, len(hits))
	for _, h := range hits {
		if chunks := t.turns[h.ID]; len(chunks) > 0 {
			u := t.closest(chunks)
			h.ID, h.Item, h.Ordinal = u.ID, u.Item, u.Ordinal
		}
		if i, ok := best[h.ID]; ok {
			if h.Score > out[i].Score {
				out[i] = h
			}
			continue
		}
		best[h.ID] = len(out)
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(a, b index.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// closest returns the chunk with most of the query's terms, the first of equals.
func (t *turnLookup) closest(chunks []passage.Chunk) passage.Chunk {
	if len(chunks) == 1 {
		return chunks[0]
	}
	most, at := -1, 0
	for i, u := range chunks {
		n, ok := t.termCounts[u.ID]
		if !ok {
			for _, term := range analysis.Index(u.Text) {
				if slices.Contains(t.terms, term) {
					n++
				}
			}
			t.termCounts[u.ID] = n
		}
		if n > most {
			most, at = n, i
		}
	}
	return chunks[at]
}

// Facts implements the memory provider's source interface.
func (s searchSource) Facts(
	ctx context.Context, q ragctx.ContextQuery, ids []string,
) (map[string][]ragctx.TurnFact, error) {
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) || len(ids) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if yes, err := s.engine.hasFacts(ctx, ns); err != nil || !yes {
		return nil, err
	}
	return s.engine.store.FactsOfTurns(ctx, ns, ids, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, AsOf: q.AsOf, Now: q.Now,
	})
}
