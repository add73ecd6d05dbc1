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

// Reranker scores how well texts answer a query; package rerank has one that
// asks a service. It is called concurrently.
type Reranker interface {
	// Rerank returns a relevance of 0 to 1 for each text, in the order of the
	// texts, and returns soon after ctx is done.
	Rerank(ctx context.Context, query string, texts []string) ([]float64, error)
}

// Defaults of how items are reranked.
const (
	DefaultRerankTop     = 50
	DefaultRerankTimeout = time.Second
)

// paramRerank is the parameter of a query that, when false, leaves the reranker
// out. degradedRerank names it where it failed; the signals tell its score and
// the relevance before.
const (
	paramRerank    = "rerank"
	degradedRerank = "rerank"

	signalRerank = "rerank"
	signalBefore = "before_rerank"
)

// When diversity is asked for, items are chosen from widerBy times as many as may
// be shown, and from leastChoice if those are more. Each costs the time of making
// it; a wider choice found no more in the measured set.
const (
	widerBy     = 2
	leastChoice = 20
)

// reranks reports whether the items of q go to the reranker.
func (r *Resolver) reranks(q ragctx.ContextQuery) bool {
	return r.opts.Reranker != nil && q.Params[paramRerank] != false && strings.TrimSpace(q.Query) != ""
}

// judges reports whether the relevance of items decides how much of them an answer to q
// shows: q leaves that to ragctx, asks something, and no reranker has its own scale.
func (r *Resolver) judges(q ragctx.ContextQuery) bool {
	return q.MinRelevance == nil && strings.TrimSpace(q.Query) != "" && !r.reranks(q)
}

// Wider returns q as providers are to be asked, so that [Resolver.Order] has
// something to choose from: for more items where their order may change, and for
// those of any relevance where the relevance may. Items that were shown before are asked for
// no differently: more of them would be other passages, and other bytes.
func (r *Resolver) Wider(q ragctx.ContextQuery) ragctx.ContextQuery {
	if r.reranks(q) {
		q.MinRelevance = nil
	}
	q.MaxResults = min(max(q.MaxResults, r.pool(q)), ragctx.MaxResultsLimit)
	q.Shown = nil // what others found is no provider's business
	return q
}

// pool returns how many items of each provider take part in ordering.
func (r *Resolver) pool(q ragctx.ContextQuery) (n int) {
	if r.reranks(q) {
		n = r.opts.RerankTop
	}
	if q.Diversity > 0 {
		n = max(n, min(max(widerBy*q.MaxResults, leastChoice), maxDiverse))
	}
	return n
}

// Order brings the items that answer q, which come best first, into the order in
// which they are shown: by the reranker's relevance, if there is a reranker, and
// then as q's Diversity asks. It drops what is then below q's minimum relevance.
// degraded names the reranker if it failed; the order is then as if there were
// none. Without anything to do the items are returned as they are. The error is
// that of ctx.
func (r *Resolver) Order(ctx context.Context, q ragctx.ContextQuery, items []ragctx.ContextItem) (ordered []ragctx.ContextItem, degraded []string, err error) {
	if !r.reranks(q) && q.Diversity == 0 {
		return items, nil, nil
	}
	list := make([]*candidate, len(items))
	for i, it := range items {
		list[i] = &candidate{item: it, rank: it.Relevance, index: i}
	}
	o, err := r.order(ctx, q, list)
	if err != nil {
		return nil, nil, err
	}
	ordered = make([]ragctx.ContextItem, len(o.list))
	for i, c := range o.list {
		ordered[i] = c.item
	}
	return ordered, o.degraded, nil
}

// ordering is a list in the order in which it is shown.
type ordering struct {
	list     []*candidate
	below    []*candidate // of less relevance than was asked for
	degraded []string
}

// order orders candidates, which come sorted and without duplicates. Required
// ones stay first and as they are; what was not reranked stays behind what was.
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

// atLeast returns the candidates of that relevance, and notes the others.
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

// rerank gives the first of the list the reranker's relevance and sorts them by
// it. It returns how many they are. After an error nothing is changed.
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

// rerankTime returns how long the reranker may take: the answer has to be put
// together in what the request has left after it.
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

// rescore replaces the relevance. What the operator's configuration adds to the
// rank stays.
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
