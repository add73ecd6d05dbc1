package resolve

import "github.com/ragctx/ragctx"

// Diversify orders items, best first, with the given diversity.
func Diversify(items []ragctx.ContextItem, diversity float64) []ragctx.ContextItem {
	list := make([]*candidate, len(items))
	for i, it := range items {
		list[i] = &candidate{item: it, rank: it.Relevance, index: i}
	}
	if diversity > 0 {
		list = diversify(nil, list, diversity)
	}
	out := make([]ragctx.ContextItem, len(list))
	for i, c := range list {
		out[i] = c.item
	}
	return out
}
