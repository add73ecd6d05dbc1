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

// fillIn finds the cosines, half of them in a second goroutine: their vectors are scattered in memory, and
// fetching one takes far longer than multiplying it.
func (c *cosines) fillIn(ctx context.Context, r *Retrieval, sp *vectorSpace) error {
	index, ok := sp.current()
	if !ok || r.Space != sp.name {
		return nil
	}
	if d, ok := index.(distant); ok {
		return c.fillInAtOnce(ctx, r.Vector, d)
	}
	fill := func(some []wantedCosine) {
		for i := range some {
			if w := &some[i]; !w.known {
				w.value, w.known = index.Similarity(r.Vector, w.id)
			}
		}
	}
	some := c.wanted
	var other sync.WaitGroup
	if n := len(some); n > parallelCosines {
		half := some[:n/2]
		some = some[n/2:]
		other.Go(func() { fill(half) })
	}
	fill(some)
	other.Wait()
	return nil
}

// fillInAtOnce asks another process for the cosines.
func (c *cosines) fillInAtOnce(ctx context.Context, v []float32, d distant) (err error) {
	var ids []uint64
	for _, w := range c.wanted {
		if !w.known {
			ids = append(ids, w.id)
		}
	}
	slices.Sort(ids)
	found := make(map[uint64]float64, len(ids))
	for some := range slices.Chunk(slices.Compact(ids), d.MaxOnly()) {
		var near []Scored
		near, err = d.Search(ctx, VectorQuery{Vector: v, K: len(some), Only: some})
		for _, s := range near {
			found[s.ID] = s.Score
		}
		if errors.Is(err, ErrBehind) { // the search says that
			err = nil
		}
		if err != nil {
			break
		}
	}
	for i := range c.wanted {
		if w := &c.wanted[i]; !w.known {
			w.value, w.known = found[w.id]
		}
	}
	return err
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
