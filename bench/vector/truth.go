package main

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"sync"
)

// tolerance is how far the score of a hit may be below the k-th true neighbour's. Copies of a text
// are equally good, and so are scores that differ by rounding.
const tolerance = 1e-6

// truth holds the score of the k-th nearest row of each query.
type truth struct {
	base, queries matrix
	k             int
	bound         []float64
}

// newTruth compares all queries with all rows, or reads the stored result.
func newTruth(set string, base, queries matrix, k int) (*truth, error) {
	t := &truth{base: base, queries: queries, k: k, bound: make([]float64, queries.rows)}
	path := set + ".truth"
	want := []uint64{
		uint64(base.rows), uint64(queries.rows), uint64(k),
		math.Float64bits(dot(base.row(base.rows-1), queries.row(0))),
	}
	head, err := binary.Append(nil, binary.LittleEndian, want)
	if err != nil {
		return nil, err
	}
	if data, err := os.ReadFile(path); err == nil && len(data) == len(head)+8*len(t.bound) &&
		string(data[:len(head)]) == string(head) {
		_, err := binary.Decode(data[len(head):], binary.LittleEndian, t.bound)
		return t, err
	}
	var wg sync.WaitGroup
	for half := range 2 {
		wg.Go(func() {
			for i := half; i < queries.rows; i += 2 {
				t.bound[i] = t.kth(queries.row(i))
			}
		})
	}
	wg.Wait()
	data, err := binary.Append(head, binary.LittleEndian, t.bound)
	if err != nil {
		return nil, err
	}
	return t, os.WriteFile(path, data, 0o644)
}

// kth returns the score of the k-th nearest row.
func (t *truth) kth(q []float32) float64 {
	best := make([]float64, 0, t.k+1)
	for i := range t.base.rows {
		s := dot(q, t.base.row(i))
		if len(best) == t.k && s <= best[t.k-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, s, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, s)
		best = best[:min(len(best), t.k)]
	}
	return best[len(best)-1]
}

// recall returns the share of the true neighbours in hits, which holds k ids for each query.
func (t *truth) recall(hits []uint32) float64 {
	found := 0
	for at := 0; at+t.k <= len(hits); at += t.k {
		query := at / t.k
		ids := slices.Clone(hits[at : at+t.k])
		slices.Sort(ids)
		for _, id := range slices.Compact(ids) {
			if int(id) < t.base.rows && dot(t.queries.row(query), t.base.row(int(id))) >= t.bound[query]-tolerance {
				found++
			}
		}
	}
	return float64(found) / float64(len(hits))
}
