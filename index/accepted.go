package index

import (
	"cmp"
	"slices"
)

// Deeper returns the first n hits of a search in another process, and whether there are no more.
type Deeper func(n int) (hits []Scored, all bool, err error)

// BestAccepted returns the k best accepted hits of a search, best first. It repeats the search with greater n, at most with most, until
// enough are accepted. listed says that a list narrows the search already, so that most hits are accepted.
func BestAccepted(k, most int, accept Accept, listed bool, search Deeper) ([]Scored, error) {
	k = min(k, most)
	if k <= 0 {
		return nil, nil
	}
	n := k
	if accept != nil && !listed {
		n = min(2*k, most)
	}
	for {
		found, all, err := search(n)
		if err != nil {
			return nil, err
		}
		hits := make([]Scored, 0, k)
		for _, h := range found {
			if accept == nil || accept(h.ID) {
				hits = append(hits, h)
			}
		}
		if len(hits) >= k || all || n == most {
			slices.SortFunc(hits, func(a, b Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
			return hits[:min(k, len(hits))], nil
		}
		n = min(4*n, most)
	}
}
