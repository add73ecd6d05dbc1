package index

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/internal/trace"
)

// requireTerms restricts accept, for both indexes, to chunks that have all of some terms.
func (h *Hybrid) requireTerms(ctx context.Context, terms []string, accept Accept) Accept {
	if len(terms) == 0 {
		return accept
	}
	l, complete, ok := h.keyword.serving()
	if !ok || !complete {
		return accept // it is incomplete; the caller verifies the texts
	}
	defer trace.Start(ctx, trace.Keyword).End()
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
