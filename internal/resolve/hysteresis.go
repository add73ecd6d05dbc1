package resolve

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/budget"
)

// maxHysteresisRounds is the maximum number of times that candidates are fitted until the shown
// items no longer change.
const maxHysteresisRounds = 4

// fitWithHysteresis fits the sorted candidates with hysteresis: the items that the query lists as
// shown stay while their rank changes little. It returns the candidates in the order of selection,
// their placement, and the placement as shown.
//
// A query that lists the items of its last answer gets the same bytes. The shown items determine
// the order of selection, and the order determines which texts are shortened. So candidates are
// fitted until the result is stable. If it does not become stable, hysteresis is not applied.
func (f *fitter) fitWithHysteresis(q ragctx.ContextQuery, list []*candidate) (turns []*candidate, p, shown placement) {
	free := f.fit(list)
	before := presentIDs(list, q.Shown)
	if len(before) == 0 {
		return list, free, free
	}
	withoutHysteresis := free.ids()
	for range maxHysteresisRounds {
		if slices.Equal(before, withoutHysteresis) {
			break
		}
		var places map[*candidate]int
		turns, places = hysteresis(before, list)
		p = f.fit(turns)
		shown = f.inPlaces(p, turns, places)
		now := shown.ids()
		if slices.Equal(now, before) {
			return turns, p, shown
		}
		before = now
	}
	return list, free, free
}

// presentIDs returns the ids that are candidates, without duplicates.
func presentIDs(list []*candidate, ids []string) (found []string) {
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

// ids returns the ids of the shown items, in order.
func (p *placement) ids() []string {
	var out []string
	for _, it := range p.items {
		out = append(out, it.ID)
	}
	return out
}

// hysteresis orders candidates for selection so that shown ones stay while their rank changes
// little. places is the place of each candidate if it is shown.
func hysteresis(before []string, list []*candidate) (turns []*candidate, places map[*candidate]int) {
	ranked := make([]string, len(list))
	for i, c := range list {
		ranked[i] = c.item.ID
	}
	order, at := budget.Hysteresis(before, ranked, budget.DefaultHysteresis)
	turns, places = make([]*candidate, len(list)), make(map[*candidate]int, len(list))
	for i, n := range order {
		turns[i] = list[n]
		places[list[n]] = at[n]
	}
	return turns, places
}

// inPlaces returns a placement in the order of places. It returns p unchanged if it fits only in
// the order of ranks, because another order can be slightly longer.
func (f *fitter) inPlaces(p placement, list []*candidate, places map[*candidate]int) placement {
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
	if f.measureWhole(&shown); shown.tokens > f.caps.MaxTokens {
		return p
	}
	return shown
}
