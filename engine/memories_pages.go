package engine

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/store"
)

// ListMemories lists memories by pages, as [Memories.List] does.
type ListMemories func(ctx context.Context, namespace string, f store.MemoryFilter) ([]ragctx.Memory,
	store.MemoryCursor, error)

// EachPage calls fn with the memories that match a filter, page by page in the filter's order, at
// most limit in total; 0 is all. It ignores the filter's own limit.
func EachPage(ctx context.Context, list ListMemories, namespace string, f store.MemoryFilter, limit int,
	fn func([]ragctx.Memory) error,
) error {
	for left := limit; ; {
		f.Limit = MaxPage
		if limit > 0 {
			f.Limit = min(left, MaxPage)
		}
		page, next, err := list(ctx, namespace, f)
		if err != nil {
			return err
		}
		if err := fn(page); err != nil {
			return err
		}
		left -= len(page)
		if next.ID == "" || limit > 0 && left <= 0 {
			return nil
		}
		f.After = next
	}
}
