package hnsw

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is what a graph must be like: vectors by id.
type model struct {
	g       *Graph
	vectors map[uint64][]float32
	pool    [][]float32 // what vectors are drawn from: clusters, copies among them
	next    uint64
}

func (m *model) put(t *rapid.T) {
	for range rapid.IntRange(1, 150).Draw(t, "n") {
		id := m.next
		if m.next++; len(m.vectors) > 0 && rapid.IntRange(0, 4).Draw(t, "again") == 0 {
			id = m.any(t)
		}
		v := rapid.SampledFrom(m.pool).Draw(t, "vector")
		m.vectors[id] = v
		if err := m.g.Put(id, v); err != nil {
			t.Fatal(err)
		}
	}
}

func (m *model) any(t *rapid.T) uint64 {
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.vectors))).Draw(t, "id")
}

func (m *model) remove(t *rapid.T) {
	for range rapid.IntRange(1, 100).Draw(t, "n") {
		if len(m.vectors) == 0 {
			return
		}
		id := m.any(t)
		delete(m.vectors, id)
		m.g.Delete(id)
	}
	m.g.Delete(1 << 60)
}

// check is called after every operation.
func (m *model) check(t *rapid.T) {
	ids := slices.Sorted(m.g.IDs())
	if want := slices.Sorted(maps.Keys(m.vectors)); !slices.Equal(ids, want) {
		t.Fatalf("ids %v, want %v", ids, want)
	}
	if err := m.g.check(); err != nil {
		t.Fatal(err)
	}
	for id, v := range m.vectors {
		if !m.g.Same(id, v) {
			t.Fatalf("vector of %d is another", id)
		}
	}
}

// selves looks for every vector with itself.
func (m *model) selves(t *rapid.T) {
	for id, v := range m.vectors {
		accept := func(x uint64) bool { return x == id }
		for _, q := range []Query{
			{Unit: v, K: 1},
			{Unit: v, K: 1, Ef: 1, Accept: accept},
			{Unit: v, K: 3, Accept: accept, Exhaustive: true},
		} {
			found, info, err := m.g.Search(t.Context(), q, nil)
			if err != nil || len(found) == 0 {
				t.Fatalf("%d: %v %v %+v", id, found, err, info)
			}
			best := found[0]
			if float64(best.Score)+float64(info.Error) < 1 {
				t.Fatalf("%d: found %v at most, %+v", id, found, info)
			}
			if q.Accept != nil && best.ID != id {
				t.Fatalf("%d: found %d", id, best.ID)
			}
		}
	}
}

// exact compares an exhaustive search with the model.
func (m *model) exact(t *rapid.T) {
	q := rapid.SampledFrom(m.pool).Draw(t, "query")
	k := rapid.IntRange(0, 50).Draw(t, "k")
	mod := rapid.SampledFrom([]uint64{1, 2, 5, 1000}).Draw(t, "mod")
	accept := func(id uint64) bool { return id%mod == 0 }
	found, info, err := m.g.Search(t.Context(), Query{Unit: q, K: k, Accept: accept, Exhaustive: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b uint64) int {
		x, y := dot(q, m.vectors[a]), dot(q, m.vectors[b])
		if x > y || x == y && a < b {
			return -1
		}
		return 1
	}
	var want, got []uint64
	for id := range m.vectors {
		if accept(id) {
			want = append(want, id)
		}
	}
	for _, n := range found {
		if diff := float64(n.Score) - dot(q, m.vectors[n.ID]); diff > float64(info.Error) || -diff > float64(info.Error) {
			t.Fatalf("%d is off by %g, at most %g was said", n.ID, diff, info.Error)
		}
		got = append(got, n.ID)
	}
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	want, got = want[:min(k, len(want))], got[:min(k, len(got))]
	if !slices.Equal(got, want) {
		t.Fatalf("found %v, want %v", got, want)
	}
}

// TestModel runs random operations beside an obviously right model.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		vectors := clustered(300, 16, 5, rapid.SampledFrom([]float32{.01, .3, 3}).Draw(t, "spread"), seed)
		for range 10 { // copies that are likely to meet
			vectors = append(vectors, vectors[0], vectors[1], vectors[2])
		}
		g, err := New(Options{Dimensions: 16, M: 4, EfConstruction: 16, LinkFrom: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		walking(g)
		m := &model{g: g, vectors: make(map[uint64][]float32), pool: vectors}
		do := func(f func() error) func(*rapid.T) {
			return func(t *rapid.T) {
				if err := f(); err != nil {
					t.Fatal(err)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"put":    m.put,
			"delete": m.remove,
			"link":   do(func() error { return g.Link(t.Context()) }),
			"tidy":   do(func() error { return g.Tidy(t.Context()) }),
			"selves": m.selves,
			"exact":  m.exact,
		})
	})
}

// check returns an error if something that is always true of a graph at rest is not.
func (g *Graph) check() error {
	d := g.dir.Load()
	nodes, live, held, waiting := 0, 0, 0, 0
	for slot := range g.slots.Load() {
		c, at := d.chunk(slot)
		count(&live, c.live.has(at))
		count(&held, c.held.has(at))
		count(&waiting, c.live.has(at) && c.waiting.has(at))
		if c.live.has(at) && !c.held.has(at) {
			return fmt.Errorf("slot %d is live and not held", slot)
		}
		if !d.isNode(slot) {
			continue
		}
		nodes++
		if err := g.checkNode(d, slot); err != nil {
			return err
		}
	}
	got := fmt.Sprint(g.counts.nodes.Load(), g.counts.live.Load(), g.counts.held.Load(), g.Waiting())
	if want := fmt.Sprint(nodes, live, held, waiting); got != want {
		return fmt.Errorf("nodes, live, held, waiting are %s, counted as %s", want, got)
	}
	return nil
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}

// checkNode checks a node's lists and its place in the tree.
func (g *Graph) checkNode(d *directory, slot uint32) error {
	s := g.borrow()
	defer g.giveBack(s)
	for level := range d.level(slot) + 1 {
		list := s.read(slot, level)
		for i, x := range list {
			if x == slot || slices.Contains(list[:i], x) || !d.isNode(x) || d.level(x) < level {
				return fmt.Errorf("the list of slot %d at level %d has slot %d: %v", slot, level, x, list)
			}
		}
	}
	for steps, at := 0, slot; ; steps++ {
		parent := g.parent(d, at)
		if parent == 0 {
			if at+1 != g.root.Load() {
				return fmt.Errorf("slot %d has no parent", at)
			}
			return nil
		}
		if !slices.Contains(s.read(at, 0), parent-1) || !slices.Contains(s.read(parent-1, 0), at) {
			return fmt.Errorf("slot %d and its parent %d are not linked", at, parent-1)
		}
		if at = parent - 1; steps > int(g.slots.Load()) {
			return fmt.Errorf("slot %d is in a circle of parents", slot)
		}
	}
}

// TestCopies puts 100,000 copies of one vector, by ids in no order, among others.
func TestCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it computes for long")
	}
	const copies = 100_000
	others := clustered(5000, 32, 20, .8, 3)
	g := walking(newGraph(t, Options{Dimensions: 32, EfConstruction: 64}))
	for _, id := range rand.New(rand.NewPCG(1, 2)).Perm(copies) {
		g.Put(uint64(id), others[0])
	}
	for i, v := range others[1:] {
		g.Put(uint64(copies+i), v)
	}
	if err := g.Link(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := g.Stats(); st.Nodes > 5010 || st.Waiting != 0 {
		t.Fatalf("%+v", st)
	}
	for _, q := range []Query{
		{K: 10},
		{K: 10, Accept: func(id uint64) bool { return id%2 == 1 }},
		{K: 1000},
		{K: 10, Exhaustive: true},
	} {
		q.Unit = others[0]
		found, info := search(t, g, q)
		want := uint64(0)
		for _, n := range found[:q.K] {
			for q.Accept != nil && !q.Accept(want) {
				want++
			}
			if n.ID != want {
				t.Fatalf("%+v: %d, want %d: %v", info, n.ID, want, found)
			}
			want++
		}
	}
	q := others[4000]
	if found, info := search(t, g, Query{Unit: q, K: 10}); info.Exhaustive || !slices.Contains(rescoredIDs(found), copies+3999) {
		t.Fatalf("%v %+v", found, info)
	}
	for id := range uint64(copies - 3) {
		g.Delete(id)
	}
	if err := g.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.check(); err != nil {
		t.Fatal(err)
	}
	if found, _ := search(t, g, Query{Unit: others[0], K: 3}); found[0].ID != copies-3 || found[2].ID != copies-1 {
		t.Fatalf("%v", found)
	}
}

func rescoredIDs(found []Near) (ids []uint64) {
	for _, n := range found {
		ids = append(ids, n.ID)
	}
	return ids
}
