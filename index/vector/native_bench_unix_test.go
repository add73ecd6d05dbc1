//go:build unix

package vector

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector/hnsw"
)

// subjects returns n chunks around 500 centres, as texts of many subjects have them.
func subjects(r *rand.Rand, first uint64, n, dim int) []index.VectorChunk {
	chunks := random(r, first, n, dim)
	for _, u := range chunks {
		centre := rand.New(rand.NewPCG(r.Uint64N(500), 7))
		for j := range u.Vector {
			u.Vector[j] = u.Vector[j]*.5 + float32(centre.NormFloat64())
		}
	}
	return chunks
}

// processTime is the time that all processors have worked for this process.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkApplyKinds adds a thousand vectors to 20,000 and deletes as many, with a
// graph that links nothing and without one.
func BenchmarkApplyKinds(b *testing.B) {
	const n, size, dim = 20_000, 1000, 384
	for _, kind := range []string{kindFlat, kindNative} {
		b.Run(kind, func(b *testing.B) {
			ix, err := New(Options{Graph: kind, Dimensions: dim, minGraphChunks: 1, graphs: &graphFactory{empty: func() (annGraph, error) {
				return hnsw.New(hnsw.Options{Dimensions: dim, LinkFrom: 1 << 29})
			}}})
			if err != nil {
				b.Fatal(err)
			}
			defer ix.Close()
			r := rand.New(rand.NewPCG(1, 1))
			fill(b, ix, random(r, 0, n, dim))
			batches := [][]index.VectorChunk{random(r, 0, size, dim), random(r, 0, size, dim)}
			gone := make([]uint64, size)
			begin := processTime()
			for i := uint64(n); b.Loop(); i += size {
				batch := batches[i/size%2]
				for j := range batch {
					batch[j].ID, gone[j] = i+uint64(j), i-n+uint64(j)
				}
				if err := ix.Apply(b.Context(), 0, batch, gone); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processTime()-begin)/float64(b.N*size), "cpu-ns/vector")
		})
	}
}

// BenchmarkNative fills, searches, and opens an index of 100,000 chunks.
func BenchmarkNative(b *testing.B) {
	const n, dim = 100_000, 384
	o := Options{Graph: kindNative, Dir: b.TempDir(), Dimensions: dim}
	ix := openTiny(b, o)
	r := rand.New(rand.NewPCG(1, 1))
	begin := time.Now()
	for first := 0; first < n; first += 1000 {
		fill(b, ix, subjects(r, uint64(first), 1000, dim))
	}
	b.Logf("applied in %v", time.Since(begin))
	mustFlush(b, ix)
	settle(b, ix)
	b.Logf("linked in %v: %+v", time.Since(begin), ix.Stats())
	probes := subjects(r, 0, 100, dim)
	for _, exact := range []bool{false, true} {
		b.Run(fmt.Sprintf("search/exact=%v", exact), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := ix.Search(b.Context(), index.VectorQuery{Vector: probes[i%100].Vector, K: 10, Exact: exact}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	_ = ix.Close()
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			ix := openTiny(b, o)
			_ = ix.Close()
		}
	})
	b.Run("answers", func(b *testing.B) {
		for b.Loop() {
			ix := openTiny(b, o)
			settle(b, ix)
			_ = ix.Close()
		}
	})
}
