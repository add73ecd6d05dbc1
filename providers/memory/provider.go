package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/retrieve"
	"github.com/ragctx/ragctx/internal/store"
	"github.com/ragctx/ragctx/internal/text/sentence"
)

// Name is the memory provider's name.
const Name = "memory"

// signal names the score of importance and recency in explanations.
const signal = "importance_recency"

// Provider answers queries from memories. It implements [ragctx.ContextProvider].
type Provider struct {
	retriever *retrieve.Retriever
	weights   ragctx.MemoryWeights
}

// NewProvider returns a provider of the memories that a retriever finds. The weights are those of
// importance and recency.
func NewProvider(from *retrieve.Retriever, w ragctx.MemoryWeights) *Provider {
	return &Provider{retriever: from, weights: w.WithDefaults()}
}

var _ ragctx.ContextProvider = (*Provider)(nil)

// Name implements [ragctx.ContextProvider].
func (p *Provider) Name() string { return Name }

// Query implements [ragctx.ContextProvider]. Relevance is the match with the query, or without a
// query the score of importance and recency.
func (p *Provider) Query(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: Name}
	if !q.Wants(ragctx.TypeMemory) {
		return res, nil
	}
	if q.Query == "" {
		return p.listByScore(ctx, q)
	}
	plan := Plan(q)
	found, err := p.retriever.Items(ctx, store.KindMemories, q, plan, retrieve.Order{})
	if err != nil {
		return res, fmt.Errorf("memories: %w", err)
	}
	res.Degraded, res.Truncated, res.Time = found.Degraded, found.More, found.Time
	res.Corrections, res.Terms = found.Corrections, found.Terms
	if err := p.annotate(ctx, q, found.Items); err != nil {
		return res, fmt.Errorf("memories: %w", err)
	}
	for _, it := range found.Items {
		p.explain(q, &it)
		res.Add(it)
	}
	if res.IsEmpty() {
		res.Note = "no memory in scope matches the query"
		if plan.Time != nil && plan.Time.List {
			res.Note = "no memory in scope falls within the time that the query names"
		}
	}
	return res, nil
}

// Bounds of the superseding facts reported with a turn.
const (
	maxSuperseding      = 2
	maxSupersedingChars = 200
)

// annotate adds to each turn the facts found in it and the facts that superseded them. The words of
// the turn stay unchanged.
func (p *Provider) annotate(ctx context.Context, q ragctx.ContextQuery, items []ragctx.ContextItem) error {
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	facts, err := p.retriever.Facts(ctx, q, ids)
	if err != nil {
		return fmt.Errorf("facts of turns: %w", err)
	}
	for i := range items {
		var found, since []string
		for _, f := range facts[items[i].ID] {
			found = append(found, f.ID)
			if s := sentence.Clip(f.SupersededBy, maxSupersedingChars); s != "" && len(since) < maxSuperseding &&
				!slices.Contains(since, s) {
				since = append(since, s)
			}
		}
		if len(found) > 0 {
			items[i].Metadata["facts"], items[i].Since = found, strings.Join(since, " ")
		}
	}
	return nil
}

// explain adds the score of importance and recency to the signals.
func (p *Provider) explain(q ragctx.ContextQuery, it *ragctx.ContextItem) {
	if q.Explain {
		it.Signals[signal] = p.weights.Score(it.Importance, age(q.Now, it.Occurred))
	}
}

func (p *Provider) listByScore(ctx context.Context, q ragctx.ContextQuery) (ragctx.ContextResult, error) {
	res := ragctx.ContextResult{Provider: Name}
	memories, err := p.retriever.ListByScore(ctx, q)
	if err != nil {
		return res, fmt.Errorf("list memories: %w", err)
	}
	for _, m := range memories {
		it := Item(m, q.Depth)
		if q.Explain {
			it.Signals = map[string]float64{signal: m.Score}
		}
		res.Add(it)
	}
	if res.IsEmpty() {
		res.Note = "there is no memory in scope"
	}
	return res, nil
}

// Item returns a memory that was listed rather than searched as an item; its relevance is its
// score.
func Item(m ragctx.Memory, depth ragctx.ContextDepth) ragctx.ContextItem {
	it := ragctx.ContextItem{
		ID: m.ID, Type: ragctx.TypeMemory, Source: "memory", Depth: depth, Content: m.Content,
		Occurred: m.Occurred, Importance: m.Importance, Metadata: m.Metadata,
	}
	abstract := ragctx.Form{Depth: ragctx.DepthAbstract, Text: sentence.Clip(m.Content, passage.AbstractChars)}
	overview := ragctx.Form{Depth: ragctx.DepthOverview, Text: sentence.Clip(m.Content, passage.OverviewChars)}
	switch depth {
	case ragctx.DepthAbstract:
		it.Content = abstract.Text
	case ragctx.DepthFull:
		it.Forms.Shorter = []ragctx.Form{overview, abstract}
	default:
		it.Content, it.Forms.Shorter = overview.Text, []ragctx.Form{abstract}
	}
	return it.WithRelevance(m.Score)
}

func age(now, t time.Time) time.Duration { return max(0, now.Sub(t)) }
