package main

import (
	"context"
	"os"
	"time"

	ragindex "github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector"
)

// batch is the number of vectors per write, as in an ingest.
const batch = 1000

// graphRows is the number of rows from which an index has a graph, with a margin.
const graphRows = 10_000

// storedIndex is a vector index as the engine uses it, with its files in a directory.
type storedIndex struct {
	graph string // the setting vector_graph
	dir   string // created and removed if empty
	index ragindex.VectorIndex
}

func (x *storedIndex) open(dim int) error {
	stored, err := vector.New(vector.Options{Dir: x.dir, Graph: x.graph, Dimensions: dim, Identity: "bench"})
	x.index = stored
	return err
}

func (x *storedIndex) build(ctx context.Context, base matrix, _ int) error {
	if x.dir == "" {
		dir, err := os.MkdirTemp("", "vector-bench-")
		if err != nil {
			return err
		}
		x.dir = dir
	}
	if err := x.open(base.dim); err != nil {
		return err
	}
	if err := x.apply(ctx, base, 0, base.rows); err != nil {
		return err
	}
	if err := x.index.Flush(ctx); err != nil {
		return err
	}
	return x.settled(ctx)
}

// apply adds rows from..to.
func (x *storedIndex) apply(ctx context.Context, base matrix, from, to int) error {
	units := make([]ragindex.VectorChunk, 0, batch)
	for i := from; i < to; {
		units = units[:0]
		for ; i < to && len(units) < batch; i++ {
			units = append(units, ragindex.VectorChunk{ID: uint64(i), Vector: base.row(i)})
		}
		if err := x.index.Apply(ctx, uint64(i), units, nil); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until the index has no background work left, so its graph has all vectors.
func (x *storedIndex) settled(ctx context.Context) error {
	for {
		st := x.index.Stats()
		if st.Kind != "native" || st.Chunks < graphRows || st.Graph.Answers && st.Graph.Waiting == 0 {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (x *storedIndex) search(ctx context.Context, q []float32, k, _ int, to []uint32) ([]uint32, error) {
	return x.ask(ctx, ragindex.VectorQuery{Vector: q, K: k}, to)
}

func (x *storedIndex) exact(ctx context.Context, q []float32, k int, to []uint32) ([]uint32, error) {
	return x.ask(ctx, ragindex.VectorQuery{Vector: q, K: k, Exact: true}, to)
}

func (x *storedIndex) ask(ctx context.Context, q ragindex.VectorQuery, to []uint32) ([]uint32, error) {
	hits, err := x.index.Search(ctx, q)
	for _, h := range hits {
		to = append(to, uint32(h.ID))
	}
	return to, err
}

// Close removes the index's files.
func (x *storedIndex) Close() error {
	if err := x.index.Close(); err != nil {
		return err
	}
	return os.RemoveAll(x.dir)
}
