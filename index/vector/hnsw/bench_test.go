package hnsw

import (
	"fmt"
	"testing"
)

func BenchmarkSearch(b *testing.B) {
	vectors := clustered(30_000, 384, 300, .8, 5)
	vectors, queries := vectors[:29_000], vectors[29_000:]
	g := build(b, Options{Dimensions: 384, EfConstruction: 100}, vectors)
	run := func(name string, q Query) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var out []Near
			i := 0
			for b.Loop() {
				q.Unit = queries[i%len(queries)]
				out, _, _ = g.Search(b.Context(), q, out[:0])
				i++
			}
		})
	}
	for _, ef := range []int{20, 64, defaultEf(10)} {
		run(fmt.Sprintf("ef=%d", ef), Query{K: 10, Ef: ef})
	}
	for _, of := range []uint64{1, 2, 10, 100} {
		run(fmt.Sprintf("accept=1in%d", of), Query{K: 10, Accept: func(id uint64) bool { return id%of == 0 }})
	}
	run("exhaustive", Query{K: 10, Exhaustive: true})
}

func BenchmarkLink(b *testing.B) {
	vectors := clustered(10_000, 384, 100, .8, 5)
	for b.Loop() {
		build(b, Options{Dimensions: 384, LinkFrom: 1}, vectors)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(vectors)), "µs/vector")
}

func BenchmarkPut(b *testing.B) {
	vectors := clustered(1000, 384, 10, .8, 5)
	g := newGraph(b, Options{Dimensions: 384})
	id := uint64(0)
	for b.Loop() {
		g.Put(id%20_000, vectors[id%1000])
		id++
	}
}
