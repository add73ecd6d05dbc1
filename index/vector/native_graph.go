package vector

import (
	"runtime"

	"github.com/ragctx/ragctx/index/vector/hnsw"
)

// hnswGraphs returns how graphs of package hnsw are made.
func hnswGraphs(o Options) *graphs {
	options := hnsw.Options{
		Dimensions: o.Dimensions,
		LinkFrom:   o.graphUnits,
		// Half of the cores: searches need not wait for a turn of ten milliseconds.
		Workers: max(1, runtime.GOMAXPROCS(0)/2),
	}
	return &graphs{
		empty: func() (neighbours, error) { return hnsw.New(options) },
		open:  func(path string) (neighbours, string, error) { return hnsw.Read(o.FS, path, options) },
	}
}
