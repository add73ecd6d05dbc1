package hnsw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// clustered returns n unit vectors around so many centres, the same for a seed.
func clustered(n, dim, centres int, spread float32, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	normal := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	middle := make([][]float32, centres)
	for i := range middle {
		middle[i] = unit(normal())
	}
	vectors := make([][]float32, n)
	for i := range vectors {
		v := unit(normal())
		for j, x := range middle[r.IntN(centres)] {
			v[j] = x + spread*v[j]
		}
		vectors[i] = unit(v)
	}
	return vectors
}

// unit makes v a unit vector.
func unit(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

func dot(a, b []float32) float64 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func newGraph(tb testing.TB, o Options) *Graph {
	g, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// build links vectors under their indices.
func build(tb testing.TB, o Options, vectors [][]float32) *Graph {
	g := newGraph(tb, o)
	for i, v := range vectors {
		if err := g.Put(uint64(i), v); err != nil {
			tb.Fatal(err)
		}
	}
	if err := g.Link(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return g
}

func search(tb testing.TB, g *Graph, q Query) ([]Near, Info) {
	found, info, err := g.Search(tb.Context(), q, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return found, info
}

// exactly returns the ids of the k nearest that are accepted, by ties of ids.
func exactly(vectors [][]float32, q []float32, k int, accept func(uint64) bool) []uint64 {
	type hit struct {
		id  uint64
		sim float64
	}
	var hits []hit
	for i, v := range vectors {
		if accept == nil || accept(uint64(i)) {
			hits = append(hits, hit{uint64(i), dot(q, v)})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.sim > b.sim {
			return -1
		}
		if a.sim < b.sim {
			return 1
		}
		return 0
	})
	ids := make([]uint64, min(k, len(hits)))
	for i := range ids {
		ids[i] = hits[i].id
	}
	return ids
}

// rescored returns the ids of the k best by the floats.
func rescored(vectors [][]float32, q []float32, k int, found []Near) []uint64 {
	ids := make([]uint64, len(found))
	for i, n := range found {
		ids[i] = n.ID
	}
	slices.SortFunc(ids, func(a, b uint64) int {
		x, y := dot(q, vectors[a]), dot(q, vectors[b])
		if x > y || x == y && a < b {
			return -1
		}
		return 1
	})
	return ids[:min(k, len(ids))]
}

func TestRecall(t *testing.T) {
	vectors := clustered(12200, 64, 100, .8, 7)
	vectors, queries := vectors[:12000], vectors[12000:]
	g := build(t, Options{Dimensions: 64}, vectors)
	t.Logf("%+v", g.Stats())
	hits, visited := 0, 0
	for _, q := range queries {
		found, info := search(t, g, Query{Unit: q, K: 10})
		if info.Exhaustive {
			t.Fatal("scanned")
		}
		visited += info.Visited
		want := exactly(vectors, q, 10, nil)
		for _, id := range rescored(vectors, q, 10, found) {
			if slices.Contains(want, id) {
				hits++
			}
		}
	}
	t.Logf("recall %.4f, visited %d", float64(hits)/2000, visited/200)
	lost := 0
	for i, v := range vectors {
		found, _ := search(t, g, Query{Unit: v, K: 1})
		if rescored(vectors, v, 1, found)[0] != uint64(i) {
			lost++
		}
	}
	t.Logf("lost %d", lost)
}

// TestReuse puts as many as were deleted: the slots of those are used again.
func TestReuse(t *testing.T) {
	vectors := clustered(3000, 16, 10, .5, 4)
	g := build(t, Options{Dimensions: 16, LinkFrom: 1}, vectors[:2000])
	for round := range 3 {
		for i := range 1000 {
			g.Delete(uint64(i))
		}
		if err := g.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if st := g.Stats(); st.Live != 1000 || st.Dead > 1 { // the root stays
			t.Fatalf("%+v", st)
		}
		for i := range 1000 {
			if err := g.Put(uint64(i), vectors[(i+round*500)%3000]); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Link(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := g.check(); err != nil {
			t.Fatal(err)
		}
	}
	if slots := g.slots.Load(); slots > 2010 {
		t.Errorf("%d slots for 2000 vectors", slots)
	}
}
