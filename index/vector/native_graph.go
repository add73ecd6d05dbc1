package vector

import (
	"runtime"

	"github.com/ragctx/ragctx/index/vector/hnsw"
)

// hnswGraphs returns the factory for graphs of package hnsw.
func hnswGraphs(o Options) *graphFactory {
	options := hnsw.Options{
		Dimensions: o.Dimensions,
		LinkFrom:   o.minGraphChunks,
		// Half of the cores, so that searches need not wait for a time slice of ten milliseconds.
		Workers: max(1, runtime.GOMAXPROCS(0)/2),
	}
	return &graphFactory{
		empty: func() (annGraph, error) { return hnsw.New(options) },
		open:  func(path string) (annGraph, string, error) { return hnsw.Read(o.FS, path, options) },
	}
}
