package keyword

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// top keeps the k best hits in a heap with the worst of them first.
type top struct {
	k    int
	hits []found
}

// found is a hit, and its place in all parts; see [view].
type found struct {
	index.Scored

	place int
}

// compareHits orders best first, ties by ascending id.
func compareHits(a, b found) int {
	switch {
	case a.Score > b.Score: // scores are numbers
		return -1
	case a.Score < b.Score:
		return 1
	default:
		return cmp.Compare(a.ID, b.ID)
	}
}

// worse reports whether a comes after b.
func worse(a, b *found) bool { return a.Score < b.Score || a.Score == b.Score && a.ID > b.ID }

func (t *top) full() bool { return len(t.hits) == t.k }

// threshold returns what a hit must score to be kept, or more.
func (t *top) threshold() float64 {
	if !t.full() || t.k == 0 {
		return 0
	}
	return t.hits[0].Score
}

// admits reports whether push would keep the hit.
func (t *top) admits(hit found) bool {
	if !t.full() {
		return true
	}
	worst := &t.hits[0]
	return hit.Score > worst.Score || hit.Score == worst.Score && hit.ID < worst.ID
}

// push adds a hit that is admitted.
func (t *top) push(hit found) {
	if t.full() {
		t.hits[0] = hit
		t.down()
		return
	}
	t.hits = append(t.hits, hit)
	for i := len(t.hits) - 1; i > 0; {
		parent := (i - 1) / 2
		if !worse(&t.hits[i], &t.hits[parent]) {
			return
		}
		t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
		i = parent
	}
}

func (t *top) down() {
	for i := 0; ; {
		last := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(t.hits) && worse(&t.hits[child], &t.hits[last]) {
				last = child
			}
		}
		if last == i {
			return
		}
		t.hits[i], t.hits[last] = t.hits[last], t.hits[i]
		i = last
	}
}

// sorted returns the hits, best first.
func (t *top) sorted() []index.Scored {
	slices.SortFunc(t.hits, compareHits)
	var out []index.Scored
	if len(t.hits) > 0 {
		out = make([]index.Scored, len(t.hits))
	}
	for i, hit := range t.hits {
		out[i] = hit.Scored
	}
	return out
}
