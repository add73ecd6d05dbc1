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

// Items searches and makes items of the hits: passages of documents, or whole memories. It returns
// Query.MaxResults distinct items if that many match, even if most hits are duplicates or parts of
// one text. A document that is replaced during the search is found in its old or its new version.
func (r *Retriever) Items(
	ctx context.Context, kind store.Kind, q ragctx.ContextQuery, plan index.Query,
) (Items, error) {
	s, err := r.begin(ctx, kind, q, plan, nil)
	if isNotFound(err) {
		return Items{}, nil
	}
	if err != nil {
		return Items{}, fmt.Errorf("search: %w", err)
	}
	defer s.done()
	return s.items(ctx, kind)
}

// items makes the items of a search.
func (s *search) items(ctx context.Context, kind store.Kind) (Items, error) {
	q := s.query
	var last found
	var made passage.Assembled
	for f, err := range s.results(ctx, max(minHits, hitsPerItem*(q.MaxResults+len(q.Exclude))), maxHits) {
		if err != nil {
			return Items{}, fmt.Errorf("search: %w", err)
		}
		if made, err = s.assemble(ctx, kind, f); err != nil {
			return Items{}, err
		}
		if last = f; made.Distinct >= q.MaxResults {
			break
		}
	}
	passage.ExplainFollowUp(q, s.plan, made.Items)
	return Items{
		Items: made.Items, More: made.More || last.more, Degraded: last.Degraded,
		Time: timeReading(q, s.plan, last.Window), Corrections: corrections(last.Corrections), Terms: last.Terms,
	}, nil
}

// assemble makes items of hits. Memories of a conversation also get forms that show them among
// their neighbours.
func (s *search) assemble(ctx context.Context, kind store.Kind, f found) (passage.Assembled, error) {
	defer trace.Start(ctx, trace.Passages).End()
	req := s.request(f.Result)
	req.Whole = kind == store.KindMemories
	made, err := passage.Assemble(ctx, s.Store, req)
	if err != nil {
		return made, err
	}
	if among := made.Among(); len(among) > 0 {
		around, err := s.index.Neighbors(ctx, s.plan.Where(f.State), among, passage.MaxNeighbors)
		if err != nil {
			return made, err
		}
		return made, made.Surround(ctx, around)
	}
	return made, nil
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
