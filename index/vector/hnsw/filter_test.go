package hnsw

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFilters compares searches that accept few with exact ones, where what is
// accepted lies anywhere, near the query, and far from it; as they choose to go, and
// made to walk.
func TestFilters(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	const n = 6000
	vectors := clustered(n+25, 48, 60, .8, 11)
	vectors, units := vectors[:n], vectors[n:]
	queries := newQueries(units, vectors)
	g := build(t, Options{Dimensions: 48, EfConstruction: 64, LinkFrom: 1}, vectors)
	g.tuning.walkFrom = 1
	r := rand.New(rand.NewPCG(5, 5))
	lots := make([]float64, n)
	for i := range lots {
		lots[i] = r.Float64()
	}
	for _, share := range []float64{.001, .01, .05, .5, .98} {
		for name, accept := range map[string]func(q query) func(id uint64) bool{
			"anywhere": func(query) func(uint64) bool {
				return func(id uint64) bool { return lots[id] < share }
			},
			"near": func(q query) func(uint64) bool { return beyond(q, share, 1) },
			"far":  func(q query) func(uint64) bool { return beyond(q, share, -1) },
		} {
			t.Run(fmt.Sprint(name, share), func(t *testing.T) {
				filters(t, g, queries, accept)
				if name != "far" { // what is far is seldom found by walks
					chosen := g.tuning
					defer func() { g.tuning = chosen }()
					filters(t, walking(g), queries, accept)
				}
			})
		}
	}
}

func filters(t *testing.T, g *Graph, queries []query, accepts func(q query) func(uint64) bool) {
	const k = 10
	hits, all, scans, visited := 0, 0, 0, 0
	for _, q := range queries {
		accept := accepts(q)
		found, info := search(t, g, Query{Unit: q.unit, K: k, Ef: 64, Accept: accept})
		want := q.exactly(k, accept)
		got := q.rescored(k, found)
		if len(got) != len(want) {
			t.Fatalf("%d results, there are %d", len(got), len(want))
		}
		for _, id := range got {
			if !accept(id) {
				t.Fatalf("%d is not accepted", id)
			}
			count(&hits, slices.Contains(want, id))
		}
		all += len(want)
		visited += info.Visited
		count(&scans, info.Exhaustive)
	}
	recall := float64(hits) / float64(all)
	if recall < .95 {
		t.Errorf("recall %.3f", recall)
	}
	t.Logf("recall %.3f, %d of %d scanned, visited %d", recall, scans, len(queries), visited/len(queries))
}

// beyond accepts the share of the vectors that is nearest to a query, or with sign
// -1 farthest from it.
func beyond(q query, share, sign float64) func(uint64) bool {
	sorted := slices.Sorted(slices.Values(q.sims))
	if sign < 0 {
		limit := sorted[int(share*float64(len(sorted)))]
		return func(id uint64) bool { return q.sims[id] < limit }
	}
	limit := sorted[len(sorted)-int(share*float64(len(sorted)))]
	return func(id uint64) bool { return q.sims[id] >= limit }
}
