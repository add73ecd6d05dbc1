package vector

import (
	"errors"
	"io"
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
		empty: func() (neighbours, error) {
			g, err := hnsw.New(options)
			if err != nil {
				return nil, err
			}
			return graphInMemory{g}, nil
		},
	}
}

// graphInMemory is a graph that is in no file.
type graphInMemory struct{ *hnsw.Graph }

func (graphInMemory) Write(io.Writer, string) error { return errors.ErrUnsupported }

func (graphInMemory) Close() error { return nil }
