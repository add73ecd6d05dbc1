package retrieve

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
	"github.com/ragctx/ragctx/internal/trace"
)

// Items are the items that answer a query.
type Items struct {
	Items []ragctx.ContextItem
	// More is true if further items match.
	More bool
	// Degraded names the signals that did not run.
	Degraded []string
	// Time explains the time expression of the question. It is set if the query asks for an
	// explanation.
	Time *ragctx.TimeReading
	// Corrections are the words of the question that were corrected. Terms are the terms that were
	// searched for in addition to its words.
	Corrections []ragctx.Correction
	Terms       []string
}

// A search for items requests a few hits per item at first.
const (
	hitsPerItem = 3
	minHits     = 50
)

// widerBy multiplies the items that are compared if an order other than by relevance applies.
const widerBy = 3

// Order is an order of items other than by relevance. The zero value is none.
type Order struct {
	// Applies reports whether one of the items may change its place.
	Applies func([]ragctx.ContextItem) bool
	Sort    func([]ragctx.ContextItem)
}

// Items searches and makes items of the hits: passages of documents, or whole memories. It returns
// Query.MaxResults distinct items if that many match, even if most hits are duplicates or parts of
// one text. A document that is replaced during the search is found in its old or its new version.
func (r *Retriever) Items(
	ctx context.Context, kind store.Kind, q ragctx.ContextQuery, plan index.Query, by Order,
) (Items, error) {
	s, err := r.begin(ctx, kind, q, plan, nil)
	if isNotFound(err) {
		return Items{}, nil
	}
	if err != nil {
		return Items{}, fmt.Errorf("search: %w", err)
	}
	defer s.done()
	return s.items(ctx, kind, by)
}

// items makes the items of a search.
func (s *search) items(ctx context.Context, kind store.Kind, by Order) (Items, error) {
	q := s.query
	src := passage.NewLoaded(s.Store)
	var last found
	var made passage.Assembled
	wanted, sorted := q.MaxResults, false
	for k := max(minHits, hitsPerItem*(wanted+len(q.Exclude))); ; {
		var err error
		if last, err = s.results(ctx, k); err != nil {
			return Items{}, fmt.Errorf("search: %w", err)
		}
		if made, err = s.assemble(ctx, src, kind, last, wanted); err != nil {
			return Items{}, err
		}
		if !sorted && by.Applies != nil && by.Applies(made.Items) {
			sorted, wanted = true, min(widerBy*wanted, ragctx.MaxResultsLimit)
			if made, err = s.assemble(ctx, src, kind, last, wanted); err != nil {
				return Items{}, err
			}
		}
		if made.Distinct >= wanted || made.Spent || !last.more || k >= maxHits {
			break
		}
		k = min(s.moreHits(k, made.Distinct, wanted), maxHits)
	}
	more := made.More || last.more
	if sorted {
		by.Sort(made.Items)
		kept := passage.FirstDistinct(made.Items, q.MaxResults)
		more, made.Items = more || len(kept) < len(made.Items), kept
	}
	if err := s.complete(ctx, &made, last.State); err != nil {
		return Items{}, err
	}
	passage.ExplainFollowUp(q, s.plan, made.Items)
	return Items{
		Items: made.Items, More: more, Degraded: last.Degraded,
		Time: timeReading(q, s.plan, last.Window), Corrections: corrections(last.Corrections), Terms: last.Terms,
	}, nil
}

// moreHits returns the number of hits to examine after k of them made too few distinct items: a quarter more than would
// suffice with as many items per hit, from half as many more to four times as many. Hits that were found are examined first.
func (s *search) moreHits(k, distinct, wanted int) int {
	more := max(3*k/2, min(5*k*wanted/(4*max(distinct, 1)), 4*k))
	if n := len(s.last.Hits); n > k {
		return min(n, more)
	}
	return more
}

// assemble makes items of hits, without their other forms.
func (s *search) assemble(
	ctx context.Context, src passage.Source, kind store.Kind, f found, wanted int,
) (passage.Assembled, error) {
	defer trace.Start(ctx, trace.Passages).End()
	req := s.request(f.Result)
	req.Query.MaxResults = wanted
	req.Whole = kind == store.KindMemories
	return passage.Assemble(ctx, src, req)
}

// complete adds the other forms of items. Memories of a conversation also get forms that show them
// among their neighbours.
func (s *search) complete(ctx context.Context, made *passage.Assembled, state uint64) error {
	defer trace.Start(ctx, trace.Passages).End()
	if err := made.Complete(ctx); err != nil {
		return err
	}
	among := made.Among()
	if len(among) == 0 {
		return nil
	}
	around, err := s.index.Neighbors(ctx, s.plan.Where(state), among, passage.MaxNeighbors)
	if err != nil {
		return err
	}
	return made.Surround(ctx, around)
}

// corrections converts the corrections of an index.
func corrections(read []index.Correction) (out []ragctx.Correction) {
	for _, c := range read {
		out = append(out, ragctx.Correction{Word: c.Word, As: c.As})
	}
	return out
}

// timeReading explains the time expression of a question.
func timeReading(q ragctx.ContextQuery, s index.Query, w *timeexpr.Window) *ragctx.TimeReading {
	if !q.Explain || s.Time == nil || w == nil {
		return nil
	}
	r := &ragctx.TimeReading{From: w.From, To: w.To, Sessions: w.Sessions, Use: ragctx.TimeBoost}
	if s.Time.List {
		r.Use = ragctx.TimeFilter
	}
	if at := s.Time.Reading; at.End <= len(q.Query) {
		r.Words = q.Query[at.Start:at.End]
	}
	return r
}
