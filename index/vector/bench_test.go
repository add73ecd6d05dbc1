package vector

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ragctx/ragctx/index"
)

func BenchmarkFlatSearch(b *testing.B) {
	for _, c := range []struct{ n, dim int }{{30_000, 256}, {30_000, 384}} {
		f := filled(b, c.n, c.dim)
		q := random(rand.New(rand.NewPCG(9, 9)), 0, 1, c.dim)[0].Vector
		for name, accept := range map[string]index.Accept{"all": nil, "1in100": func(id uint64) bool { return id%100 == 0 }} {
			b.Run(fmt.Sprintf("%dx%d/%s", c.n, c.dim, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.Search(b.Context(), index.VectorQuery{Vector: q, K: 100, Accept: accept}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFlatApply replaces one or a thousand of 30,000 vectors, alone and
// beside a goroutine that searches without pause.
func BenchmarkFlatApply(b *testing.B) {
	const n, dim = 30_000, 256
	for _, size := range []int{1, 1000} {
		for _, beside := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/searching=%v", size, beside), func(b *testing.B) {
				f := filled(b, n, dim)
				r := rand.New(rand.NewPCG(8, 8))
				batches := [][]index.VectorChunk{random(r, 0, size, dim), random(r, 0, size, dim)}
				defer searching(b, f, batches[0][0].Vector, beside)()
				for i := 0; b.Loop(); i++ {
					if err := f.Apply(b.Context(), 0, batches[i%2], nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// searching searches beside the benchmark until the returned function is called.
func searching(b *testing.B, f *flat, q []float32, on bool) (stop func()) {
	if !on {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := f.Search(b.Context(), index.VectorQuery{Vector: q, K: 10}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func BenchmarkSimilarity(b *testing.B) {
	const dim = 256
	f := filled(b, 1000, dim)
	q := random(rand.New(rand.NewPCG(6, 6)), 0, 1, dim)[0].Vector
	for b.Loop() {
		f.Similarity(q)(500)
	}
}

// BenchmarkOpen opens an index of 100,000 stored vectors, and searches it once, which
// also checks all rows.
func BenchmarkOpen(b *testing.B) {
	const n, dim = 100_000, 256
	o := Options{Dir: b.TempDir(), Dimensions: dim}
	ix := mustOpen(b, o)
	r := rand.New(rand.NewPCG(5, 5))
	for first := 0; first < n; first += 1000 {
		fill(b, ix, random(r, uint64(first), 1000, dim))
	}
	mustFlush(b, ix)
	_ = ix.Close()
	q := index.VectorQuery{Vector: random(r, 0, 1, dim)[0].Vector, K: 10}
	for _, search := range []bool{false, true} {
		b.Run(fmt.Sprintf("search=%v", search), func(b *testing.B) {
			for b.Loop() {
				ix := mustOpen(b, o)
				if search {
					if _, err := ix.Search(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
				_ = ix.Close()
			}
		})
	}
}
