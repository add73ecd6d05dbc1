package keyword

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// top keeps the k best hits in a heap, the worst at the root.
type top struct {
	k    int
	hits []found
}

// found is a hit and its place across all parts; see [view].
type found struct {
	index.Scored

	place int
}

// compareHits orders hits by descending score, then ascending id.
func compareHits(a, b found) int {
	switch {
	case a.Score > b.Score: // scores are never NaN
		return -1
	case a.Score < b.Score:
		return 1
	default:
		return cmp.Compare(a.ID, b.ID)
	}
}

// worse reports whether a ranks after b.
func worse(a, b *found) bool { return a.Score < b.Score || a.Score == b.Score && a.ID > b.ID }

func (t *top) full() bool { return len(t.hits) == t.k }

// admits reports whether push would keep the hit.
func (t *top) admits(hit found) bool {
	if !t.full() {
		return true
	}
	worst := &t.hits[0]
	return hit.Score > worst.Score || hit.Score == worst.Score && hit.ID < worst.ID
}

// push adds a hit that top admits.
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

// topScores keeps the k best scores in a heap, the smallest at the root. It yields the threshold
// for the k best.
type topScores struct {
	k      int
	scores []float64
}

// threshold returns the score needed to be among the k best, or 0 while there are fewer than k.
func (b *topScores) threshold() float64 {
	if len(b.scores) < b.k || b.k == 0 {
		return 0
	}
	return b.scores[0]
}

func (b *topScores) add(score float64) {
	switch {
	case len(b.scores) < b.k:
		b.scores = append(b.scores, score)
		b.up(score)
	case b.k > 0 && score > b.scores[0]:
		b.down(score)
	}
}

// up moves a score from the end to its position in the heap.
func (b *topScores) up(score float64) {
	i := len(b.scores) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if b.scores[parent] <= score {
			break
		}
		b.scores[i] = b.scores[parent]
		i = parent
	}
	b.scores[i] = score
}

// down replaces the smallest score and moves the new one to its position.
func (b *topScores) down(score float64) {
	i := 0
	for child := 1; child < len(b.scores); child = 2*i + 1 {
		if next := child + 1; next < len(b.scores) && b.scores[next] < b.scores[child] {
			child = next
		}
		if b.scores[child] >= score {
			break
		}
		b.scores[i] = b.scores[child]
		i = child
	}
	b.scores[i] = score
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
