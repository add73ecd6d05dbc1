package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/store"
)

// The search modes.
const (
	ModeKeyword = "keyword" // the keyword index alone
	ModeVector  = "vector"  // the vector index alone
	ModeHybrid  = "hybrid"  // both, fused by the engine
)

// Modes returns all modes.
func Modes() []string { return []string{ModeKeyword, ModeVector, ModeHybrid} }

// depth is the number of documents, and of chunks, that are kept per question.
const depth = 100

// The first search asks for firstHits chunks. If they belong to too few documents, further searches
// ask for four times as many, up to mostHits.
const (
	firstHits = 400
	mostHits  = 16 << 10
)

// asker asks the questions of a set.
type asker struct {
	eng *engine.Engine
	set *Set
	via string
	cpu func() (time.Duration, bool)
	// ranking and params are the search settings of every question.
	ranking index.Ranking
	params  map[string]any
}

// answer is the result of one question.
type answer struct {
	docs   []Scored // the best documents, at most depth, in run order
	chunks []Span   // the best chunks, at most depth, in the engine's order
	wall   time.Duration
	cpu    time.Duration
}

// rankingOf returns the ranking of a mode.
func rankingOf(mode string) index.Ranking {
	if mode == ModeHybrid {
		return index.Ranking{}
	}
	return index.Ranking{Method: mode}
}

// query returns the engine query for a question.
func (a *asker) query(q *Question) ragctx.ContextQuery {
	name := q.scope(a.set.Field)
	out := ragctx.ContextQuery{Query: q.Text, Namespace: name, Params: a.params}
	if sc := a.set.scopes[name]; sc != nil && a.via != ViaDocs {
		out.Now = sc.last
	}
	return out
}

// warm opens the indexes and waits until they are complete, so that neither counts as query time.
func (a *asker) warm(ctx context.Context) error {
	for _, name := range a.set.scopeNames() {
		for {
			_, err := a.hits(ctx, ragctx.ContextQuery{Query: "warm", Namespace: name}, 1)
			if err == nil {
				break
			}
			if !errors.Is(err, ragctx.ErrUnavailable) {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(warmRetry):
			}
		}
	}
	return nil
}

// warmRetry is the interval between checks of an index that is being built.
const warmRetry = 100 * time.Millisecond

func (a *asker) hits(ctx context.Context, q ragctx.ContextQuery, k int) ([]engine.Hit, error) {
	kind := store.KindDocuments
	if a.via != ViaDocs {
		kind = store.KindMemories
	}
	hits, degraded, err := a.eng.Indexes().Hits(ctx, q, engine.HitsOptions{Kind: kind, K: k, Ranking: a.ranking})
	if err == nil && len(degraded) > 0 {
		err = fmt.Errorf("%v did not run: %w", degraded, ragctx.ErrUnavailable)
	}
	return hits, err
}

// ask finds the best documents for a question. The times are those of the first search; deeper
// searches exist only for measuring.
func (a *asker) ask(ctx context.Context, q *Question) (answer, error) {
	query := a.query(q)
	want := 0
	if sc := a.set.scopes[q.scope(a.set.Field)]; sc != nil {
		want = min(depth, sc.docs)
	}
	var out answer
	cpu, known := a.cpu()
	start := time.Now()
	hits, err := a.hits(ctx, query, firstHits)
	out.wall = time.Since(start)
	if after, ok := a.cpu(); ok && known {
		out.cpu = after - cpu
	}
	for k := firstHits; err == nil; {
		out.docs = best(hits)
		if len(out.docs) >= want || len(hits) < k || k >= mostHits {
			break
		}
		k = min(4*k, mostHits)
		hits, err = a.hits(ctx, query, k)
	}
	if err != nil {
		return out, fmt.Errorf("question %s: %w", q.ID, err)
	}
	out.docs = out.docs[:min(depth, len(out.docs))]
	out.chunks = spansOf(hits)
	return out, nil
}

// spansOf returns the best chunks, at most depth.
func spansOf(hits []engine.Hit) []Span {
	out := make([]Span, 0, min(depth, len(hits)))
	for _, h := range hits[:min(depth, len(hits))] {
		out = append(out, Span{Doc: h.Key, Start: h.Start.Rune, End: h.End.Rune, Score: h.Score})
	}
	return out
}

// best returns the documents, each with the score of its best chunk.
func best(hits []engine.Hit) []Scored {
	at := make(map[string]int, len(hits))
	var docs []Scored
	for _, h := range hits {
		i, ok := at[h.Key]
		if !ok {
			at[h.Key] = len(docs)
			docs = append(docs, Scored{h.Key, h.Score})
			continue
		}
		docs[i].Score = max(docs[i].Score, h.Score)
	}
	sortRanking(docs)
	return docs
}

// Latency summarises the durations of single searches by one client, in milliseconds. Percentiles
// are exact (nearest rank).
type Latency struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
	P99 float64 `json:"p99_ms"`
	// CPU is the mean CPU time of a search; 0 if unknown.
	CPU float64 `json:"cpu_ms"`
}

func latencyOf(walls []time.Duration, cpu time.Duration) Latency {
	if len(walls) == 0 {
		return Latency{}
	}
	slices.Sort(walls)
	at := func(percent int) float64 { return ms(walls[(len(walls)*percent+99)/100-1]) }
	return Latency{P50: at(50), P95: at(95), P99: at(99), CPU: ms(cpu) / float64(len(walls))}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
