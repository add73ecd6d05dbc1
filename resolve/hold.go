package resolve

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/pack"
)

// fitHeld fits candidates, which come sorted, so that those which the query says were shown
// stay while their rank changes little. It returns them in the order of their turns, how
// they were fitted, and how that is shown.
//
// What was shown is shown again where it is what would be shown without having been:
// turns decide which texts step down, and so what else has room.
func (f *fitter) fitHeld(q ragctx.ContextQuery, list []*candidate) (turns []*candidate, p, shown placement) {
	if len(q.Shown) > 0 {
		if p := f.fit(list); shows(p, q.Shown, list) {
			return list, p, p
		}
	}
	turns, places := hold(q, list)
	p = f.fit(turns)
	return turns, p, f.arranged(p, turns, places)
}

// shows reports whether the items of p are those of the ids that are candidates, in order.
func shows(p placement, ids []string, list []*candidate) bool {
	known := make(map[string]bool, len(list))
	for _, c := range list {
		known[c.item.ID] = true
	}
	n := 0
	for _, id := range ids {
		if !known[id] {
			continue
		}
		if n == len(p.items) || p.items[n].ID != id {
			return false
		}
		n++
	}
	return n == len(p.items)
}

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
