package resolve

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/pack"
)

// hold orders candidates for selection so that those which the query says were shown stay
// while their rank changes little. places tells where each comes that is shown; it is nil
// where nothing was.
func hold(q ragctx.ContextQuery, list []*candidate) (turns []*candidate, places map[*candidate]int) {
	if len(q.Shown) == 0 {
		return list, nil
	}
	ranked := make([]string, len(list))
	for i, c := range list {
		ranked[i] = c.item.ID
	}
	order, at := pack.Hold(q.Shown, ranked, pack.DefaultHold)
	turns, places = make([]*candidate, len(list)), make(map[*candidate]int, len(list))
	for i, n := range order {
		turns[i] = list[n]
		places[list[n]] = at[n]
	}
	return turns, places
}

// arranged returns what was placed of a list in the order of places, unless it fits in
// the order of ranks alone: in another order the whole can be a little longer.
func (f *fitter) arranged(p placement, list []*candidate, places map[*candidate]int) placement {
	if len(places) == 0 {
		return p
	}
	var at []int // by shown item
	for _, d := range p.decisions {
		if d.Status == pack.Included {
			at = append(at, places[list[d.Index]])
		}
	}
	order := make([]int, len(at))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return at[a] - at[b] })
	shown := p
	shown.items = make([]ragctx.ContextItem, len(order))
	for i, n := range order {
		shown.items[i] = p.items[n]
	}
	if f.weigh(&shown); shown.tokens > f.caps.MaxTokens {
		return p
	}
	return shown
}
