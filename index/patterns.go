package index

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/trace"
)

// The maximum number of words that a pattern expands to, and the weight of one of them relative to
// 1 for a word of the query. With n words, each weighs variantWeight/√n: together they mean what
// one word means, but the score counts n of them.
const (
	maxPrefixWords = 16
	maxNearWords   = 4
	variantWeight  = 0.5
)

// expandPatterns returns the words that match r's patterns, without the words of its text.
func (h *Hybrid) expandPatterns(ctx context.Context, r *Retrieval) (words []Wording) {
	if len(r.Patterns) == 0 {
		return nil
	}
	l, _, ok := h.keyword.serving()
	if !ok {
		return nil
	}
	defer trace.Start(ctx, trace.Keyword).End()
	seen := analysis.Query(r.Text)
	for _, p := range r.Patterns {
		most := maxNearWords
		if p.Kind == analysis.Prefix {
			most = maxPrefixWords
		}
		matching, err := l.Words(ctx, p, most)
		if err != nil {
			h.opts.Logger.WarnContext(ctx, "pattern ignored: its words could not be looked up", "error", err)
			return words
		}
		weight := variantWeight / math.Sqrt(float64(len(matching)))
		for _, word := range matching {
			if !slices.Contains(seen, word) {
				seen = append(seen, word)
				words = append(words, Wording{Text: word, Weight: weight, Term: true})
			}
		}
	}
	return words
}
