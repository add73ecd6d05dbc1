package passage

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
	"github.com/ragctx/ragctx/internal/trace"
)

// Searcher searches for chunks and reads them.
type Searcher interface {
	Source
	// Search finds chunks in the query's namespace.
	Search(ctx context.Context, q ragctx.ContextQuery, s index.Query) (index.Result, error)
}

// Result is the result of [Find].
type Result struct {
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

// Find requests a few chunks per item at first. It requests four times as many while distinct items
// are missing and the index has more.
const (
	chunksPerItem = 3
	minChunks     = 50
	maxChunks     = 5000
)

// Find searches and assembles. It returns Query.MaxResults distinct items if that many match, even
// if most hits are duplicates or parts of one text. A document that is replaced during the search
// is found in its old or its new version.
func Find(ctx context.Context, src Searcher, q ragctx.ContextQuery, s index.Query, whole bool) (Result, error) {
	s.K = max(minChunks, chunksPerItem*(q.MaxResults+len(q.Exclude)))
	for {
		found, err := src.Search(ctx, q, s)
		if err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
		span := trace.Start(ctx, trace.Passages)
		a, err := Assemble(ctx, src, Request{
			Query: q, Search: s, Hits: found.Hits, State: found.State, Terms: found.Terms, Whole: whole,
		})
		span.End()
		if err != nil {
			return Result{}, err
		}
		if a.Distinct < q.MaxResults && len(found.Hits) == s.K && s.K < maxChunks {
			s.K = min(4*s.K, maxChunks)
			continue
		}
		explainFollowUp(q, s, a.Items)
		return Result{
			Items: a.Items, More: a.More || len(found.Hits) == s.K, Degraded: found.Degraded, Time: timeReading(q, s, found.Window),
			Corrections: corrections(found.Corrections), Terms: found.Terms,
		}, nil
	}
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
