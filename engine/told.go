package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/passage"
	"github.com/ragctx/ragctx/providers/memory"
	"github.com/ragctx/ragctx/store"
)

// hasFacts reports whether something was ever found in the turns of a namespace.
func (e *Engine) hasFacts(ctx context.Context, ns int64) (bool, error) {
	if _, ok := e.taught.Load(ns); ok {
		return true, nil
	}
	yes, err := e.store.HasFacts(ctx, ns)
	if yes {
		e.taught.Store(ns, struct{}{})
	}
	return yes, err
}

// maxTold bounds how many hits are asked for to get as many that are no facts.
const maxTold = 5000

// told searches, and puts a turn in the place of what was found in it: a fact and the
// words that it is from would say the same twice, and the words say more. A fact
// whose turn is not there any more stands for itself, and so do all of them where the
// query has a filter, which is about the facts.
func (s source) told(ctx context.Context, q ragctx.ContextQuery, iq index.Query, by *index.Ranking) (index.Result, error) {
	ns, err := s.engine.namespace(ctx, q.Namespace, false)
	if isNotFound(err) {
		return index.Result{}, nil
	}
	facts := false
	if err == nil && s.kind == store.Memories && q.Filter.IsZero() && q.AsOf.IsZero() {
		facts, err = s.engine.hasFacts(ctx, ns)
	}
	if err != nil {
		return index.Result{}, err
	}
	wanted := iq.K
	for {
		res, err := s.find(ctx, q, iq, by)
		if err != nil || !facts {
			return res, err
		}
		full := len(res.Hits) == iq.K
		if res.Hits, err = s.byTurn(ctx, ns, iq, res.Hits); err != nil {
			return index.Result{}, err
		}
		if len(res.Hits) >= wanted || !full || iq.K >= maxTold {
			res.Hits = res.Hits[:min(len(res.Hits), wanted)]
			return res, nil
		}
		iq.K = min(2*iq.K, maxTold)
	}
}

// byTurn replaces facts among hits by their turns. A turn that is among them as well
// has the better score of the two.
func (s source) byTurn(ctx context.Context, ns int64, iq index.Query, hits []index.Hit) ([]index.Hit, error) {
	ids := make([]uint64, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	turns, err := s.engine.store.ToldIn(ctx, ns, ids, iq.Now)
	if err != nil || len(turns) == 0 {
		return hits, err
	}
	terms := analysis.Query(iq.Text)
	best := make(map[uint64]int, len(hits)) // place in out, by unit
	out := make([]index.Hit, 0, len(hits))
	for _, h := range hits {
		if units := turns[h.ID]; len(units) > 0 {
			u := closest(units, terms)
			h.ID, h.Parent, h.Ordinal = u.ID, u.Item, u.Ordinal
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

// Facts implements the memory provider's source.
func (s source) Facts(ctx context.Context, q ragctx.ContextQuery, ids []string) (map[string][]memory.Fact, error) {
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
	return s.engine.store.FactsOf(ctx, ns, ids, store.MemoryFilter{
		UserID: q.UserID, AgentID: q.AgentID, SessionID: "", AsOf: q.AsOf, Now: q.Now,
	})
}

// closest returns the unit that has most of some terms, the first of equals.
func closest(units []passage.Unit, terms []string) passage.Unit {
	most, at := -1, 0
	for i, u := range units {
		n := 0
		for _, t := range analysis.Index(u.Text) {
			if slices.Contains(terms, t) {
				n++
			}
		}
		if n > most {
			most, at = n, i
		}
	}
	return units[at]
}
