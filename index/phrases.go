package index

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/internal/trace"
)

// requirePhrases restricts accept, for both indexes, to chunks that may contain q's phrases.
func (h *Hybrid) requirePhrases(ctx context.Context, q *Query, accept Accept) Accept {
	if len(q.Phrases) == 0 {
		return accept
	}
	l, complete, ok := h.keyword.serving()
	if !ok || !complete {
		return accept // it is incomplete; the caller verifies the texts
	}
	defer trace.Start(ctx, trace.Keyword).End()
	var terms []string
	for i := range q.Phrases {
		terms = append(terms, q.Phrases[i].Terms()...)
	}
	chunks, err := l.Holding(ctx, terms)
	if err != nil {
		h.opts.Logger.WarnContext(ctx, "phrases ignored: they could not be looked up", "error", err)
		return accept
	}
	return func(id uint64) bool {
		_, found := slices.BinarySearch(chunks, id)
		return found && (accept == nil || accept(id))
	}
}
