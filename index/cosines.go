package index

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
)

// cosines has the cosines that a search lacks.
type cosines struct {
	near   []Scored // those that the vector index returned, by id
	wanted []wantedCosine
}

// wantedCosine is the cosine of a candidate, or of a chunk next to it.
type wantedCosine struct {
	id     uint64
	at     int  // the candidate in its list
	around bool // it is of a chunk next to the candidate
	known  bool
	value  float64
}

func byID(a, b Scored) int { return cmp.Compare(a.ID, b.ID) }

func scoredByID(s Scored, id uint64) int { return cmp.Compare(s.ID, id) }

// want adds the cosine of a candidate, or of a chunk next to it.
func (c *cosines) want(id uint64, at int, around bool) {
	w := wantedCosine{id: id, at: at, around: around}
	if around {
		var i int
		if i, w.known = slices.BinarySearchFunc(c.near, id, scoredByID); w.known {
			w.value = c.near[i].Score
		}
	}
	c.wanted = append(c.wanted, w)
}

// parallelCosines is the number of cosines from which a second goroutine is worth its cost.
const parallelCosines = 16

// distant is a vector index in another process. One search asks it for many cosines, since each call of
// [VectorIndex.Similarity] waits for the network.
type distant interface {
	VectorIndex
	// MaxOnly is how many chunks [VectorQuery.Only] may name.
	MaxOnly() int
}

// SimilarityBySearch implements Similarity of a [VectorIndex] by its Search, for an index in another process.
func SimilarityBySearch(search func(context.Context, VectorQuery) ([]Scored, error), v []float32) func(id uint64) (float64, bool) {
	return func(id uint64) (float64, bool) {
		near, err := search(context.Background(), VectorQuery{Vector: v, K: 1, Only: Only{id}})
		if len(near) == 0 || err != nil && !errors.Is(err, ErrBehind) {
			return 0, false
		}
		return near[0].Score, true
	}
}

// fillIn finds the cosines, each once: the hits of an item are chunks next to each other.
func (c *cosines) fillIn(ctx context.Context, r *Retrieval, sp *vectorSpace) (err error) {
	index, ok := sp.current()
	if !ok || r.Space != sp.name {
		return nil
	}
	ids := make([]uint64, 0, len(c.wanted))
	for _, w := range c.wanted {
		if !w.known {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var found []Scored
	if d, ok := index.(distant); ok {
		found, err = cosinesAtOnce(ctx, ids, r.Vector, d)
	} else {
		found = cosinesOf(ids, index.Similarity(r.Vector))
	}
	for i := range c.wanted {
		if w := &c.wanted[i]; !w.known {
			var at int
			if at, w.known = slices.BinarySearchFunc(found, w.id, scoredByID); w.known {
				w.value = found[at].Score
			}
		}
	}
	return err
}

// cosinesOf returns the cosines of chunks, by id, half of them found in a second goroutine: their vectors are scattered in
// memory, and fetching one takes far longer than multiplying it.
func cosinesOf(ids []uint64, cosine func(id uint64) (float64, bool)) []Scored {
	find := func(some []uint64) []Scored {
		found := make([]Scored, 0, len(ids))
		for _, id := range some {
			if score, ok := cosine(id); ok {
				found = append(found, Scored{ID: id, Score: score})
			}
		}
		return found
	}
	if len(ids) <= parallelCosines {
		return find(ids)
	}
	var second []Scored
	var other sync.WaitGroup
	other.Go(func() { second = find(ids[len(ids)/2:]) })
	first := find(ids[:len(ids)/2])
	other.Wait()
	return append(first, second...)
}

// cosinesAtOnce asks another process for the cosines of chunks. It returns them by id.
func cosinesAtOnce(ctx context.Context, ids []uint64, v []float32, d distant) (found []Scored, err error) {
	for some := range slices.Chunk(ids, d.MaxOnly()) {
		var near []Scored
		near, err = d.Search(ctx, VectorQuery{Vector: v, K: len(some), Only: some})
		found = append(found, near...)
		if errors.Is(err, ErrBehind) { // the search says that
			err = nil
		}
		if err != nil {
			break
		}
	}
	slices.SortFunc(found, byID)
	return found, err
}

// assign sets the cosines of the candidates. Those of one candidate follow each other, its own first.
func (c *cosines) assign(list []Candidate) {
	for i := 0; i < len(c.wanted); {
		at := c.wanted[i].at
		sum, n := 0.0, 0
		for ; i < len(c.wanted) && c.wanted[i].at == at; i++ {
			switch w := &c.wanted[i]; {
			case !w.around:
				list[at].Signals.Vector = w.value
			case w.known:
				sum, n = sum+w.value, n+1
			}
		}
		if n > 0 {
			list[at].Around = sum/float64(n) - list[at].Signals.Vector
		}
	}
}
