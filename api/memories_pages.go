package api

import (
	"context"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// ListMemories lists memories by pages, as [engine.Memories.List] and [Client.ListMemories] do.
type ListMemories func(ctx context.Context, namespace string, f store.MemoryFilter) ([]ragctx.Memory,
	store.MemoryCursor, error)

// EachPage calls fn with the memories that match a filter, page by page in the filter's order, at
// most limit in total; 0 is all. It ignores the filter's own limit.
func EachPage(ctx context.Context, list ListMemories, namespace string, f store.MemoryFilter, limit int,
	fn func([]ragctx.Memory) error,
) error {
	for left := limit; ; {
		f.Limit = engine.MaxPage
		if limit > 0 {
			f.Limit = min(left, engine.MaxPage)
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

// MemoryOrder returns the order with a name; [store.ByScore] is named score.
func MemoryOrder(name string) store.Order {
	if name == "score" {
		return store.ByScore
	}
	return store.Order(name)
}
