package retrieve

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// turnLookup replaces facts among the hits by the turns that they were extracted from: both would say
// the same, and the turn says more. A fact without its turn stays. It caches the turns within one
// query, which may take several searches.
type turnLookup struct {
	store Store
	ns    int64
	now   time.Time
	terms []string                   // of the query
	turns map[uint64][]passage.Chunk // chunks of a fact's turn, by the fact's chunk; loaded once
	// termCounts is how many of the terms a turn's chunk contains.
	termCounts map[uint64]int
}

func newTurnLookup(s Store, ns int64, plan index.Query) *turnLookup {
	return &turnLookup{
		store: s, ns: ns, now: plan.Now, terms: analysis.Query(plan.Text),
		turns: make(map[uint64][]passage.Chunk), termCounts: make(map[uint64]int),
	}
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
	turns, err := t.store.ChunksOfFacts(ctx, t.ns, ids, t.now)
	maps.Copy(t.turns, turns)
	return err
}

// replace replaces facts among hits by their turns. A turn that was hit itself keeps the better
// score.
func (t *turnLookup) replace(ctx context.Context, hits []index.Hit) ([]index.Hit, error) {
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
