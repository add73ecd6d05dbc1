package hnsw

import (
	"context"
	"errors"
	"math"
	"testing"
)

func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{},
		{Dimensions: -1},
		{Dimensions: 1 << 17},
		{Dimensions: 8, M: 1},
		{Dimensions: 8, M: 65},
		{Dimensions: 8, EfConstruction: 3},
		{Dimensions: 8, Workers: -1},
		{Dimensions: 8, LinkFrom: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// TestFew searches graphs of no, one and two vectors, linked and not.
func TestFew(t *testing.T) {
	for _, dim := range []int{1, 3, 64, 65, 384} {
		g := newGraph(t, Options{Dimensions: dim, LinkFrom: 1})
		walking(g)
		v := make([]float32, dim+7) // padded
		v[dim-1] = 1
		expect := func(k int, want ...Near) {
			t.Helper()
			for _, exhaustive := range []bool{false, true} {
				found, _ := search(t, g, Query{Unit: v, K: k, Exhaustive: exhaustive})
				if len(found) != len(want) {
					t.Fatalf("%d dimensions: %v, want %v", dim, found, want)
				}
				for i := range want {
					if found[i].ID != want[i].ID || math.Abs(float64(found[i].Score-want[i].Score)) > 1e-6 {
						t.Fatalf("%d dimensions: %v, want %v", dim, found, want)
					}
				}
			}
		}
		link := func() {
			if err := g.Link(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect(3)
		link()
		g.Put(5, v)
		expect(0)
		expect(-1)
		expect(3, Near{5, 1})
		link()
		expect(3, Near{5, 1})
		w := make([]float32, dim)
		w[0]--
		g.Put(3, w)
		far := Near{3, 0}
		if dim == 1 {
			far.Score = -1
		}
		expect(1000, Near{5, 1}, far)
		link()
		expect(2, Near{5, 1}, far)
		g.Delete(5)
		expect(2, far)
		if err := g.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		expect(2, far)
		g.Put(3, v)
		expect(2, Near{3, 1})
	}
}

// TestDead finds what was deleted if it is asked to.
func TestDead(t *testing.T) {
	vectors := clustered(400, 16, 5, .5, 2)
	for _, linkFrom := range []int{1, 1000} {
		g := build(t, Options{Dimensions: 16, LinkFrom: linkFrom}, vectors)
		walking(g)
		g.Delete(7)
		g.Put(8, vectors[9])
		if g.Deleted() != 2 {
			t.Errorf("%d were deleted", g.Deleted())
		}
		for _, exhaustive := range []bool{false, true} {
			q := Query{Unit: vectors[7], K: 10, Ef: 40, Exhaustive: exhaustive}
			if found, _ := search(t, g, q); found[0].ID == 7 || len(found) < 10 {
				t.Errorf("%v", found)
			}
			q.Dead = true
			if found, _ := search(t, g, q); found[0].ID != 7 || len(found) < 10 {
				t.Errorf("%v", found)
			}
			q.Unit = vectors[8]
			if found, _ := search(t, g, q); found[0].ID != 8 || len(found) < 10 {
				t.Errorf("%v", found)
			}
		}
	}
}

// TestCancel ends a search, Link and Tidy early.
func TestCancel(t *testing.T) {
	vectors := clustered(300, 16, 5, .5, 2)
	g := newGraph(t, Options{Dimensions: 16, LinkFrom: 1})
	for i, v := range vectors {
		g.Put(uint64(i), v)
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if err := g.Link(ctx); !errors.Is(err, reason) || g.Waiting() != 300 {
		t.Errorf("%v, %d wait", err, g.Waiting())
	}
	if err := g.Link(t.Context()); err != nil || g.Waiting() != 0 {
		t.Errorf("%v, %d wait", err, g.Waiting())
	}
	for id := range uint64(100) {
		g.Delete(id)
	}
	if err := g.Tidy(ctx); !errors.Is(err, reason) || g.Stats().Dead != 100 {
		t.Errorf("%v, %+v", err, g.Stats())
	}
	if _, _, err := g.Search(ctx, Query{Unit: vectors[0], K: 1}, nil); !errors.Is(err, reason) {
		t.Error(err)
	}
	if err := g.check(); err != nil {
		t.Error(err)
	}
}
