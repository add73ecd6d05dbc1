package budget

import (
	"cmp"
	"slices"
)

// DefaultHold is how many ranks better a new item must be to take the place of a shown one.
const DefaultHold = 3

// Hold says in which order ranked items, best first, are selected and shown, so that what
// was shown stays while its rank changes little: an item that was not shown has its turn
// before one that was only if it is more than hold ranks better. Those that stay are shown
// in the order in which they were, new ones after them, best first; so the bytes of what
// is shown change at the end, and as late as can be, which is what caches of prompts want.
//
// turns are the places in ranked in the order of selection, and places says by the place
// in ranked where an item comes among those that are shown. An id that is ranked twice
// counts as shown where it is better. Selecting from the same ranks again, with what was
// selected as shown, selects the same, also within a budget.
func Hold(shown, ranked []string, hold int) (turns, places []int) {
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
