package hnsw

import (
	"cmp"
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

// query is a vector with its cosines to all others.
type query struct {
	unit []float32
	sims []float64
}

func newQueries(units, vectors [][]float32) []query {
	queries := make([]query, len(units))
	for i, q := range units {
		queries[i] = query{q, make([]float64, len(vectors))}
		for j, v := range vectors {
			queries[i].sims[j] = dot(q, v)
		}
	}
	return queries
}

// order orders ids, nearest first, ties by id.
func (q query) order(a, b uint64) int {
	return cmp.Or(cmp.Compare(q.sims[b], q.sims[a]), cmp.Compare(a, b))
}

// exactly returns the k nearest ids that are accepted.
func (q query) exactly(k int, accept func(uint64) bool) (ids []uint64) {
	for id := range uint64(len(q.sims)) {
		if accept == nil || accept(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, q.order)
	return ids[:min(k, len(ids))]
}

// rescored returns the k best by the floats.
func (q query) rescored(k int, found []Near) (ids []uint64) {
	for _, n := range found {
		ids = append(ids, n.ID)
	}
	slices.SortFunc(ids, q.order)
	return ids[:min(k, len(ids))]
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

// walking makes a graph walk where it would scan, however long that takes.
func walking(g *Graph) *Graph {
	g.tuning = tuning{walkFrom: 1, visitShare: 1000}
	return g
}

// recall returns the share of the k nearest that searches with ef find.
func recall(t *testing.T, g *Graph, queries []query, k, ef int) float64 {
	t.Helper()
	hits, all := 0, 0
	for _, q := range queries {
		found, info := search(t, g, Query{Unit: q.unit, K: k, Ef: ef})
		if info.Exhaustive {
			t.Fatal("scanned")
		}
		live := func(id uint64) bool { _, there := g.byID[id]; return there }
		want := q.exactly(k, live)
		all += len(want)
		for _, id := range q.rescored(k, found) {
			count(&hits, slices.Contains(want, id))
		}
	}
	return float64(hits) / float64(all)
}

// lost returns how many vectors are not found with themselves.
func lost(t *testing.T, g *Graph, vectors [][]float32) (n int) {
	t.Helper()
	for id := range g.IDs() {
		found, _ := search(t, g, Query{Unit: vectors[id], K: 1})
		count(&n, rescored(vectors, vectors[id], 1, found)[0] != id)
	}
	return n
}

// TestRecall walks through a graph of clusters, before and after half of it was
// deleted and other vectors came.
func TestRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	const n = 2000
	vectors := clustered(n+n/2+60, 64, 40, .8, 7)
	vectors, units := vectors[:n+n/2], vectors[n+n/2:]
	queries := newQueries(units, vectors)
	g := walking(build(t, Options{Dimensions: 64, Workers: 1, LinkFrom: 1}, vectors[:n]))
	check := func(when string) {
		t.Helper()
		if err := g.check(); err != nil {
			t.Error(err)
		}
		if r := recall(t, g, queries, 10, 32); r < .98 {
			t.Errorf("%s: recall %.4f with ef 32", when, r)
		}
		if r := recall(t, g, queries, 10, 0); r < .999 {
			t.Errorf("%s: recall %.4f", when, r)
		}
		if n := lost(t, g, vectors); n > 0 {
			t.Errorf("%s: %d vectors do not find themselves", when, n)
		}
	}
	check("linked")
	for id := range uint64(n / 2) {
		g.Delete(2 * id)
	}
	check("deleted")
	if err := g.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("tidied")
	for id := uint64(n); id < n+n/2; id++ {
		if err := g.Put(id, vectors[id]); err != nil {
			t.Fatal(err)
		}
	}
	check("put")
	if err := g.Link(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("linked again")
}

// TestNearDuplicates looks for every vector of a few clusters that lie far apart, each
// so tight that the error of the codes is larger than what is between its vectors.
func TestNearDuplicates(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	vectors := clustered(2000, 64, 5, .01, 3)
	g := walking(build(t, Options{Dimensions: 64, EfConstruction: 64, Workers: 1, LinkFrom: 1}, vectors))
	if n := lost(t, g, vectors); n > 0 {
		t.Errorf("%d vectors do not find themselves", n)
	}
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
