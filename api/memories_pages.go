package api

import "github.com/ragctx/ragctx/internal/store"

// MemoryOrder returns the order with a name; [store.ByScore] is named score.
func MemoryOrder(name string) store.Order {
	if name == "score" {
		return store.ByScore
	}
	return store.Order(name)
}
