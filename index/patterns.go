package index

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/internal/text/analysis"
	"github.com/ragctx/ragctx/internal/trace"
)

// How many words a pattern stands for at most, and what one of them weighs beside the 1
// of a word of the query. Of n words each weighs as much over √n: together they say what
// one does, and the score counts them as so many.
const (
	mostBegun     = 16
	mostNear      = 4
	variantWeight = 0.5
)

// variants returns the words that q's patterns stand for, but for those that its text
// has.
func (h *Hybrid) variants(ctx context.Context, q *Query) (words []Wording) {
	if len(q.Patterns) == 0 {
		return nil
	}
	l, _, ok := h.lexical.serving()
	if !ok {
		return nil
	}
	defer trace.Start(ctx, trace.Keyword).End()
	seen := analysis.Query(q.Text)
	for _, p := range q.Patterns {
		most := mostNear
		if p.Kind == analysis.Prefix {
			most = mostBegun
		}
		matching, err := l.Words(ctx, p, most)
		if err != nil {
			h.opts.Logger.WarnContext(ctx, "words of a pattern were not looked up", "error", err)
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
