package index

import (
	"context"
	"math"
	"slices"

	"github.com/ragctx/ragctx/analysis"
	"github.com/ragctx/ragctx/timing"
)

// How many words a pattern stands for at most, and what one of them weighs beside the 1
// of a word of the query. Of n words each weighs as much over √n: together they say what
// one does, and the score counts them as so many.
const (
	mostBegun     = 16
	mostNear      = 4
	variantWeight = 0.5
)

// variants returns what q is searched for beside its text: its wordings, and the words
// that its patterns stand for.
func (h *Hybrid) variants(ctx context.Context, q *Query) []Wording {
	if len(q.Patterns) == 0 {
		return q.More
	}
	l, _, ok := h.lexical.serving()
	if !ok {
		return q.More
	}
	defer timing.Start(ctx, timing.Keyword).End()
	more, seen := slices.Clone(q.More), analysis.Query(q.Text)
	for _, p := range q.Patterns {
		most := mostNear
		if p.Kind == analysis.Prefix {
			most = mostBegun
		}
		words, err := l.Words(ctx, p, most)
		if err != nil {
			h.opts.Logger.WarnContext(ctx, "words of a pattern were not looked up", "error", err)
			return more
		}
		weight := variantWeight / math.Sqrt(float64(len(words)))
		for _, word := range words {
			if !slices.Contains(seen, word) {
				seen = append(seen, word)
				more = append(more, Wording{Text: word, Weight: weight, Term: true})
			}
		}
	}
	return more
}
