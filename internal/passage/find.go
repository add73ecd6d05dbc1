package passage

import (
	"context"
	"fmt"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
	"github.com/ragctx/ragctx/internal/trace"
)

// Searcher is where hits come from.
type Searcher interface {
	Source
	// Search finds units in the query's namespace.
	Search(ctx context.Context, q ragctx.ContextQuery, s index.Query) (index.Result, error)
}

// Finding is the outcome of [Find].
type Finding struct {
	Items []ragctx.ContextItem
	// More says that further items match.
	More bool
	// Degraded names signals that did not run.
	Degraded []string
	// Time is what the question was read to say about time, where that is to be
	// explained.
	Time *ragctx.TimeReading
	// Corrections are the words of the question that were read as others; Terms is what
	// was searched for beside its own.
	Corrections []ragctx.Correction
	Terms       []string
}

// How many units are asked for: at first a few per item, then four times as
// many as before while distinct items are missing and units are left.
const (
	unitsPerItem = 3
	minUnits     = 50
	maxUnits     = 5000
)

// Find searches and assembles. It returns Query.MaxResults different items
// whenever that many match, also when most hits are copies of each other or parts
// of one text. A document that is replaced meanwhile is found in its old or its new version.
func Find(ctx context.Context, src Searcher, q ragctx.ContextQuery, s index.Query, whole bool) (Finding, error) {
	s.K = max(minUnits, unitsPerItem*(q.MaxResults+len(q.Exclude)))
	for {
		found, err := src.Search(ctx, q, s)
		if err != nil {
			return Finding{}, fmt.Errorf("search: %w", err)
		}
		span := trace.Start(ctx, trace.Passages)
		a, err := Assemble(ctx, src, Request{Query: q, Search: s, Hits: found.Hits, State: found.State, Terms: found.Terms, Whole: whole})
		span.End()
		if err != nil {
			return Finding{}, err
		}
		if a.Distinct < q.MaxResults && len(found.Hits) == s.K && s.K < maxUnits {
			s.K = min(4*s.K, maxUnits)
			continue
		}
		explainReading(q, s, a.Items)
		return Finding{
			Items: a.Items, More: a.More || len(found.Hits) == s.K, Degraded: found.Degraded, Time: readingOf(q, s, found.Window),
			Corrections: corrections(found.Corrections), Terms: found.Terms,
		}, nil
	}
}

// corrections returns what an index read otherwise as callers are told.
func corrections(read []index.Correction) (told []ragctx.Correction) {
	for _, c := range read {
		told = append(told, ragctx.Correction{Word: c.Word, As: c.As})
	}
	return told
}

// readingOf explains the time that a question names.
func readingOf(q ragctx.ContextQuery, s index.Query, w *timeexpr.Window) *ragctx.TimeReading {
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
