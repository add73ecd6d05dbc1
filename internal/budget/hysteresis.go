package budget

import (
	"cmp"
	"slices"
)

// DefaultHysteresis is the number of ranks by which a new item must be better to replace a shown
// one.
const DefaultHysteresis = 3

// Hysteresis orders ranked items, best first, so that shown items stay while their rank changes
// little. A new item is selected before a shown one only if it is more than hold ranks better.
// Items that stay keep their order, and new ones follow them, best first. The bytes shown thus
// change as late as possible, which keeps prompt caches valid.
//
// turns lists indexes into ranked in the order of selection. places[i] is the position of ranked[i]
// among the shown items. An id that is ranked twice counts as shown at the better rank. Selecting
// again from the same ranks, with the selection as shown, gives the same selection, also within a
// budget.
func Hysteresis(shown, ranked []string, hold int) (turns, places []int) {
	before := make(map[string]int, len(shown))
	for i, id := range slices.Backward(shown) {
		before[id] = i
	}
	ranks := make([]int, len(ranked))
	turns, places = make([]int, len(ranked)), make([]int, len(ranked))
	for i, id := range ranked {
		turns[i], ranks[i], places[i] = i, i, len(shown)+i
		if at, was := before[id]; was {
			ranks[i], places[i] = i-max(hold, 0), at
			delete(before, id)
		}
	}
	slices.SortStableFunc(turns, func(a, b int) int {
		return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(places[a], places[b]))
	})
	return turns, places
}
