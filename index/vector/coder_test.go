//go:build !windows

package vector

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/coder/hnsw"

	"github.com/ragctx/ragctx/index"
)

func TestCoderReplacesAndRebuilds(t *testing.T) {
	const n, dim = 600, 8
	r := rand.New(rand.NewPCG(1, 1))
	c := newCoder(dim)
	for range 8 {
		fill(t, c, random(r, 0, n, dim))
		if dead := int(c.graph.size) - n; dead > n/2 {
			t.Fatalf("%d nodes are dead after a batch, for %d chunks", dead, n)
		}
	}
	chunks := random(r, 0, n, dim)
	fill(t, c, chunks)
	size := c.graph.size
	fill(t, c, chunks)
	if c.graph.size != size {
		t.Error("applying a batch again added nodes")
	}
	for _, u := range chunks[:20] {
		hits, err := c.Search(t.Context(), index.VectorQuery{Vector: u.Vector, K: 10})
		if err != nil || len(hits) != 10 {
			t.Fatalf("got %v, %v", hits, err)
		}
	}
}

func TestCoderNeverReturnsTheDead(t *testing.T) {
	const n, dim = 900, 8
	c := newCoder(dim)
	chunks := random(rand.New(rand.NewPCG(2, 2)), 0, n, dim)
	fill(t, c, chunks)
	var gone []uint64
	for id := uint64(0); id < n; id += 4 { // too few for a rebuild
		gone = append(gone, id)
	}
	if err := c.Apply(t.Context(), 0, nil, gone); err != nil {
		t.Fatal(err)
	}
	if c.graph.size != n {
		t.Fatal("the graph was rebuilt, so it has no dead nodes to test with")
	}
	for _, u := range chunks[:200] {
		hits, ok := c.nearest(mustUnit(t, u.Vector), 10)
		for _, h := range hits {
			if h.ID%4 == 0 {
				t.Fatalf("deleted chunk %d was found (ok %v)", h.ID, ok)
			}
		}
	}
}

func mustUnit(t *testing.T, v []float32) []float32 {
	t.Helper()
	u, err := queryUnit(v, len(v))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestCoderSurvivesPanics(t *testing.T) {
	const n, dim = 200, 8
	r := rand.New(rand.NewPCG(3, 3))
	chunks := random(r, 0, n, dim)
	for name, spoil := range map[string]func(*coder){
		"add":    func(c *coder) { c.graph.hnsw.Ml = 0 },
		"search": func(c *coder) { c.graph.hnsw.Distance = func(_, _ hnsw.Vector) float32 { panic("distance") } },
		"none":   func(c *coder) { c.graph, c.graphDisabled = nil, true },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCoder(dim)
			fill(t, c, chunks)
			spoil(c)
			for range 2 {
				hits, err := c.Search(t.Context(), index.VectorQuery{Vector: chunks[5].Vector, K: 3})
				if err != nil || len(hits) != 3 || hits[0].ID != 5 {
					t.Fatalf("got %v, %v", hits, err)
				}
				fill(t, c, random(r, n, 50, dim)) // builds the graph anew
			}
			if got := c.Stats().Chunks; got != n+50 {
				t.Errorf("%d chunks, want %d", got, n+50)
			}
		})
	}
}

func TestCoderRecall(t *testing.T) {
	c := newCoder(8)
	if got, err := c.Recall(t.Context()); err != nil || got != 1 {
		t.Errorf("recall of an empty index = %v, %v", got, err)
	}
	fill(t, c, random(rand.New(rand.NewPCG(4, 4)), 0, 1000, 8))
	got, err := c.Recall(t.Context())
	if err != nil || got < 0.1 || got > 1 {
		t.Errorf("recall = %v, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Recall(t.Context()); err == nil {
		t.Error("recall of a closed index is no error")
	}
}

func TestCoderClosesBesideSearches(t *testing.T) {
	c := newCoder(8)
	chunks := random(rand.New(rand.NewPCG(5, 5)), 0, 500, 8)
	fill(t, c, chunks)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for _, u := range chunks[:50] {
				if _, err := c.Search(t.Context(), index.VectorQuery{Vector: u.Vector, K: 10}); err != nil {
					return
				}
				c.Similarity(u.Vector)(u.ID)
			}
		})
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
}

func BenchmarkCoderSearch(b *testing.B) {
	const n, dim = 10_000, 256
	c := newCoder(dim)
	chunks := random(rand.New(rand.NewPCG(7, 7)), 0, n, dim)
	fill(b, c, chunks)
	recall, err := c.Recall(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if _, err := c.Search(b.Context(), index.VectorQuery{Vector: chunks[i%n].Vector, K: 10}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(recall, "recall@10")
}
