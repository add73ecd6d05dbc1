package passage

import (
	"context"
	"fmt"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

// Searcher is where hits come from.
type Searcher interface {
	Source
	// Search finds units in the query's namespace.
	Search(ctx context.Context, q ragctx.ContextQuery, s index.Query) (index.Result, error)
	// Time reads the clock by which the store dates its changes.
	Time() time.Time
	// Refresh makes the index hold everything that the store holds now.
	Refresh(ctx context.Context, q ragctx.ContextQuery) error
}

// Finding is the outcome of [Find].
type Finding struct {
	Items []ragctx.ContextItem
	// More says that further items match.
	More bool
	// Degraded names signals that did not run.
	Degraded []string
}

// How many units are asked for: at first a few per item, then four times as
// many as before while distinct items are missing and units are left.
const (
	unitsPerItem = 3
	minUnits     = 50
	maxUnits     = 5000
)

// maxRefreshes bounds how often a search is repeated because the store moved on
// between the search and the look at its hits.
const maxRefreshes = 3

// Find searches and assembles. It returns Query.MaxResults different items
// whenever that many match, also when most hits are copies of each other or parts of one text.
// A document that is replaced meanwhile is found in its old or its new version.
func Find(ctx context.Context, src Searcher, q ragctx.ContextQuery, s index.Query, whole bool) (Finding, error) {
	s.K = max(minUnits, unitsPerItem*(q.MaxResults+len(q.Exclude)))
	for refreshes := 0; ; {
		started := src.Time()
		found, err := src.Search(ctx, q, s)
		if err != nil {
			return Finding{}, fmt.Errorf("search: %w", err)
		}
		a, err := Assemble(ctx, src, Request{Query: q, Search: s, Started: started, Hits: found.Hits, Whole: whole})
		if err != nil {
			return Finding{}, err
		}
		if a.Stale && refreshes < maxRefreshes {
			refreshes++
			if err := src.Refresh(ctx, q); err != nil {
				return Finding{}, fmt.Errorf("refresh index: %w", err)
			}
			continue
		}
		if a.Distinct < q.MaxResults && len(found.Hits) == s.K && s.K < maxUnits {
			s.K = min(4*s.K, maxUnits)
			continue
		}
		return Finding{Items: a.Items, More: a.More || len(found.Hits) == s.K, Degraded: found.Degraded}, nil
	}
}
