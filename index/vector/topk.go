package vector

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/index"
)

// topK collects the k best hits offered to it: the highest scores, ties by ascending id. It is a
// binary heap with the worst hit at the root.
type topK struct {
	hits []index.Scored
	k    int
}

// newTopK returns an empty topK, or nil if k is not positive.
func newTopK(k int) *topK {
	if k <= 0 {
		return nil
	}
	return &topK{hits: make([]index.Scored, 0, k), k: k}
}

// better orders hits, best first.
func better(a, b index.Scored) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// full reports whether t has k hits, so that a further one must beat the root.
func (t *topK) full() bool { return len(t.hits) == t.k }

// admits reports whether h would be added.
func (t *topK) admits(h index.Scored) bool { return !t.full() || better(h, t.hits[0]) < 0 }

// add adds an admitted hit.
func (t *topK) add(h index.Scored) {
	if t.full() {
		t.hits[0] = h
		t.down()
		return
	}
	t.hits = append(t.hits, h)
	for i := len(t.hits) - 1; i > 0; {
		parent := (i - 1) / 2
		if better(t.hits[i], t.hits[parent]) < 0 {
			return
		}
		t.hits[i], t.hits[parent] = t.hits[parent], t.hits[i]
		i = parent
	}
}

// down sifts the root down.
func (t *topK) down() {
	for i := 0; ; {
		worst := 2*i + 1
		if worst >= len(t.hits) {
			return
		}
		if right := worst + 1; right < len(t.hits) && better(t.hits[worst], t.hits[right]) < 0 {
			worst = right
		}
		if better(t.hits[worst], t.hits[i]) < 0 {
			return
		}
		t.hits[i], t.hits[worst] = t.hits[worst], t.hits[i]
		i = worst
	}
}

// sorted returns the hits, best first, and leaves t unusable.
func (t *topK) sorted() []index.Scored {
	slices.SortFunc(t.hits, better)
	return t.hits
}
