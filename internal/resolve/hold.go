package resolve

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// maxHolds bounds how often candidates are fitted until what is shown stays as it is.
const maxHolds = 4

// fitHeld fits candidates, which come sorted, so that those which the query says were shown
// stay while their rank changes little. It returns them in the order of their turns, how
// they were fitted, and how that is shown.
//
// Asked again with what it showed it shows the same bytes: what was shown decides the turns,
// they decide which texts step down and what else has room, so candidates are fitted until
// that changes nothing more. Where it does not settle, nothing is held.
func (f *fitter) fitHeld(q ragctx.ContextQuery, list []*candidate) (turns []*candidate, p, shown placement) {
	free := f.fit(list)
	before := among(list, q.Shown)
	if len(before) == 0 {
		return list, free, free
	}
	unheld := free.ids()
	for range maxHolds {
		if slices.Equal(before, unheld) {
			break
		}
		var places map[*candidate]int
		turns, places = hold(before, list)
		p = f.fit(turns)
		shown = f.arranged(p, turns, places)
		now := shown.ids()
		if slices.Equal(now, before) {
			return turns, p, shown
		}
		before = now
	}
	return list, free, free
}

// among returns those of the ids that are candidates, each once.
func among(list []*candidate, ids []string) (found []string) {
	known := make(map[string]bool, len(list))
	for _, c := range list {
		known[c.item.ID] = true
	}
	for _, id := range ids {
		if known[id] {
			found = append(found, id)
			delete(known, id)
		}
	}
	return found
}

// ids returns the ids of what is shown, in order.
func (p *placement) ids() []string {
	var out []string
	for _, it := range p.items {
		out = append(out, it.ID)
	}
	return out
}

// hold orders candidates for selection so that those which were shown stay while their rank
// changes little. places tells where each comes that is shown.
func hold(before []string, list []*candidate) (turns []*candidate, places map[*candidate]int) {
	ranked := make([]string, len(list))
	for i, c := range list {
		ranked[i] = c.item.ID
	}
	order, at := budget.Hold(before, ranked, budget.DefaultHold)
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
	var at []int // by shown item
	for _, d := range p.decisions {
		if d.Status == budget.Included {
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
