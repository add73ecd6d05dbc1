package hnsw

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ragctx/ragctx/index/vector/kernel"
)

// TestBeside searches while others put, delete, link and tidy. What stays in the
// graph all the time is found all the time.
func TestBeside(t *testing.T) {
	for _, k := range kernel.All() { // the race detector looks at the portable one
		t.Run(k.Name, func(t *testing.T) { beside(t, k) })
	}
}

func beside(t *testing.T, k *kernel.Kernels) {
	const stay, rounds = 400, 3
	vectors := clustered(stay+stay, 16, 30, .5, 9)
	g := build(t, Options{Dimensions: 16, Kernels: k, M: 8, EfConstruction: 40, Workers: 2, LinkFrom: 1}, vectors[:stay])
	walking(g)
	var done atomic.Bool
	var group sync.WaitGroup
	until := func(f func(i int)) {
		group.Go(func() {
			for i := 0; !done.Load(); i++ {
				f(i)
			}
		})
	}
	until(func(int) {
		if err := g.Link(t.Context()); err != nil {
			t.Error(err)
		}
	})
	until(func(int) {
		if err := g.Tidy(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for w := range 2 {
		until(func(i int) {
			id := (i*7 + w) % stay
			q := Query{Unit: vectors[id], K: 5, Dead: i%4 == 3, Exhaustive: i%16 == 15}
			if i%3 == 0 {
				q.Accept = func(id uint64) bool { return id < stay }
			}
			found, _, err := g.Search(t.Context(), q, nil)
			if err != nil || len(found) < 5 || found[0].Score < .99 {
				t.Errorf("%d: %v, %v", id, found, err)
			}
		})
	}
	for round := range rounds {
		for i, v := range vectors[stay:] {
			if id := uint64(stay + i); (i+round)%3 == 0 {
				g.Delete(id)
			} else if err := g.Put(id, v); err != nil {
				t.Fatal(err)
			}
			if !g.Same(uint64(i), vectors[i]) {
				t.Error("not the same")
			}
		}
		for range g.IDs() {
		}
		g.Stats()
		if err := g.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	group.Wait()
	if err := g.check(); err != nil {
		t.Fatal(err)
	}
}
