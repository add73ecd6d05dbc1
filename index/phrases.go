package index

import (
	"context"
	"slices"

	"github.com/ragctx/ragctx/internal/trace"
)

// requireTerms restricts accept, for both indexes, to chunks that have all of some terms. If these are few, it also lists
// the chunks to search.
func (h *Hybrid) requireTerms(ctx context.Context, c *catalog, terms []string, accept Accept) (Accept, Only) {
	if len(terms) == 0 {
		return accept, nil
	}
	l, complete, ok := h.keyword.serving()
	if !ok || !complete {
		return accept, nil // it is incomplete; the caller verifies the texts
	}
	defer trace.Start(ctx, trace.Keyword).End()
	chunks, err := l.Holding(ctx, terms)
	if err != nil {
		h.opts.Logger.WarnContext(ctx, "phrases ignored: they could not be looked up", "error", err)
		return accept, nil
	}
	return func(id uint64) bool {
		_, found := slices.BinarySearch(chunks, id)
		return found && (accept == nil || accept(id))
	}, c.wholeItems(chunks)
}
