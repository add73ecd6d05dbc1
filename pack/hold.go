package assemble

import (
	"cmp"
	"slices"
)

// Ranked is an item that could be shown.
type Ranked struct {
	// ID tells the item, and Tokens what it costs.
	ID     string
	Tokens int
}

// DefaultHold is how many ranks better a new item must be to take the place of a shown one.
const DefaultHold = 3

// Hold selects what is shown of ranked items, best first, so that what was shown stays
// while its rank changes little: an item that was not shown takes the place of one that was
// only if it is more than hold ranks better. Those that stay keep their order, new ones
// come after them, best first; so the bytes of what is shown change at the end, and as late
// as can be, which is what caches of prompts want.
//
// At most most items of at most budget tokens are selected; one that does not fit is passed
// over. Asked again with what it returned as shown, Hold returns the same. An id that is
// ranked twice counts where it is better.
func Hold(shown []string, ranked []Ranked, most, budget, hold int) []Ranked {
	place := make(map[string]int, len(shown))
	for i, id := range slices.Backward(shown) {
		place[id] = i
	}
	type candidate struct {
		Ranked

		rank, place int
	}
	seen := make(map[string]bool, len(ranked))
	var all []candidate
	for i, r := range ranked {
		if seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		c := candidate{Ranked: r, rank: i, place: len(shown) + i}
		if p, was := place[r.ID]; was {
			c.place, c.rank = p, i-max(hold, 0)
		}
		all = append(all, c)
	}
	better := func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.place, b.place)) }
	slices.SortFunc(all, better)
	var chosen []candidate
	for _, c := range all {
		if len(chosen) < most && c.Tokens <= budget {
			chosen, budget = append(chosen, c), budget-c.Tokens
		}
	}
	slices.SortFunc(chosen, func(a, b candidate) int { return cmp.Compare(a.place, b.place) })
	out := make([]Ranked, len(chosen))
	for i, c := range chosen {
		out[i] = c.Ranked
	}
	return out
}
