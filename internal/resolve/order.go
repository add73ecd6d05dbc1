package resolve

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/queryexpand"
	"github.com/ragctx/ragctx/internal/trace"
)

// Reranker scores how well texts answer a query; package rerank has one that calls a service. It is
// called concurrently.
type Reranker interface {
	// Rerank returns a relevance of 0 to 1 for each text, in the order of the texts. It must return
	// soon after ctx is done.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Defaults of reranking.
const (
	DefaultRerankTop     = 50
	DefaultRerankTimeout = time.Second
)

// paramRerank is the parameter of a query that, when false, disables the reranker. degradedRerank
// reports its failure. The signals are its score and the relevance before.
const (
	paramRerank    = "rerank"
	degradedRerank = "rerank"

	signalRerank = "rerank"
	signalBefore = "before_rerank"
)

// For diversity, items are chosen from widerBy times the number of shown items, and from at least
// leastChoice. Each costs the time of making it; larger pools found no more in the measured set.
const (
	widerBy     = 2
	leastChoice = 20
)

// reranks reports whether the items of q go to the reranker.
func (r *Resolver) reranks(q ragctx.ContextQuery) bool {
	return r.opts.Reranker != nil && q.Params[paramRerank] != false && strings.TrimSpace(q.Query) != ""
}

// limitsByRelevance reports whether the relevance of an item limits how much of it is shown: q sets
// no minimum relevance, has a question, and no reranker uses a scale of its own.
func (r *Resolver) limitsByRelevance(q ragctx.ContextQuery) bool {
	return q.MinRelevance == nil && strings.TrimSpace(q.Query) != "" && !r.reranks(q)
}

// providerQuery returns the query to send to providers, so that ordering has a choice: it
// asks for more items if their order may change, and for any relevance if the relevance may. Items
// shown before do not change it, because more items would mean other passages and other bytes.
func (r *Resolver) providerQuery(q ragctx.ContextQuery) ragctx.ContextQuery {
	if r.reranks(q) {
		q.MinRelevance = nil
	}
	q.MaxResults = min(max(q.MaxResults, r.poolSize(q)), ragctx.MaxResultsLimit)
	q.Shown = nil // providers do not see the items of others
	return q
}

// poolSize returns the number of items of each provider that take part in ordering.
func (r *Resolver) poolSize(q ragctx.ContextQuery) (n int) {
	if r.reranks(q) {
		n = r.opts.RerankTop
	}
	if q.Diversity > 0 {
		n = max(n, min(max(widerBy*q.MaxResults, leastChoice), maxDiverse))
	}
	return n
}

// ordering is a list in the order in which it is shown.
type ordering struct {
	list     []*candidate
	below    []*candidate // below the minimum relevance
	degraded []string
}

// order orders sorted candidates without duplicates. Required ones stay first and unchanged.
// Candidates that were not reranked stay behind those that were.
func (r *Resolver) order(ctx context.Context, q ragctx.ContextQuery, list []*candidate) (ordering, error) {
	o := ordering{list: list}
	required := 0
	for required < len(list) && list[required].item.Required {
		required++
	}
	top, rest := list[required:], []*candidate(nil)
	if r.reranks(q) {
		span := trace.Start(ctx, trace.Rerank)
		n, err := r.rerank(ctx, q, top)
		span.End()
		if ctx.Err() != nil {
			return o, fmt.Errorf("resolve context: %w", ctx.Err())
		}
		if err != nil {
			r.opts.Logger.WarnContext(ctx, "reranking failed", "error", err)
			o.degraded, n = []string{degradedRerank}, len(top)
		}
		top, rest = o.atLeast(q.LeastRelevance(), top[:n]), o.atLeast(q.LeastRelevance(), top[n:])
	}
	if q.Diversity > 0 {
		top = diversify(list[:required], top, q.Diversity)
	}
	o.list = slices.Concat(list[:required], top, rest)
	return o, nil
}

// atLeast returns the candidates with at least the given relevance and records the others.
func (o *ordering) atLeast(least float64, list []*candidate) []*candidate {
	var kept []*candidate
	for _, c := range list {
		if c.item.Relevance < least {
			o.below = append(o.below, c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// rerank replaces the relevance of the first candidates by the reranker's and sorts them by it. It
// returns their number. After an error the list is unchanged.
func (r *Resolver) rerank(ctx context.Context, q ragctx.ContextQuery, list []*candidate) (int, error) {
	list = list[:min(len(list), r.opts.RerankTop)]
	if len(list) == 0 {
		return 0, nil
	}
	texts := make([]string, len(list))
	for i, c := range list {
		texts[i] = c.passage()
	}
	timeout := r.rerankTime(ctx)
	if timeout <= 0 {
		return 0, fmt.Errorf("%w: the request has no time left for it", errTimeout)
	}
	called := start(ctx, &r.opts, &r.reranker, timeout, func(ctx context.Context) ([]float64, error) {
		return r.opts.Reranker.Rerank(ctx, queryexpand.Question(q), texts)
	}).wait()
	if called.err != nil {
		return 0, called.err
	}
	if err := checkScores(called.result, len(list)); err != nil {
		return 0, err
	}
	for i, c := range list {
		c.rescore(called.result[i], q.Explain)
	}
	slices.SortStableFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.item.Relevance, a.item.Relevance))
	})
	return len(list), nil
}

// rerankTime returns the time limit of the reranker. It leaves some of the request's time for
// assembling the answer.
func (r *Resolver) rerankTime(ctx context.Context) time.Duration {
	const reserve = 20 * time.Millisecond
	deadline, ok := ctx.Deadline()
	if !ok {
		return r.opts.RerankTimeout
	}
	left := time.Until(deadline)
	return min(r.opts.RerankTimeout, left-max(left/8, reserve))
}

func checkScores(scores []float64, n int) error {
	if len(scores) != n {
		return fmt.Errorf("the reranker returned %d scores for %d texts", len(scores), n)
	}
	for i, s := range scores {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("the reranker gave text %d the score %v; a relevance is 0 to 1", i, s)
		}
	}
	return nil
}

// rescore replaces the relevance. The hints of the provider still add to the rank.
func (c *candidate) rescore(relevance float64, explain bool) {
	relevance = ragctx.Rounded(relevance)
	if explain {
		signals := make(map[string]float64, len(c.item.Signals)+2)
		maps.Copy(signals, c.item.Signals)
		signals[signalRerank], signals[signalBefore] = relevance, c.item.Relevance
		c.item.Signals = signals
	}
	c.item.Relevance = relevance
	c.rank = c.hints.rank(relevance)
}
