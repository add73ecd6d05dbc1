package main

import (
	"context"
	"os"
	"time"

	ragindex "github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/index/vector"
)

// batch is how many vectors a leg is given at a time, as an ingest would.
const batch = 1000

// graphUnits is more than the units that a leg has without a graph.
const graphUnits = 10_000

// legIndex is a dense leg as the product uses it, with its files in a directory.
type legIndex struct {
	graph string // the setting vector_graph
	dir   string // made and removed when empty
	leg   ragindex.VectorIndex
}

func (x *legIndex) open(dim int) error {
	leg, err := vector.New(vector.Options{Dir: x.dir, Graph: x.graph, Dimensions: dim, Identity: "bench"})
	x.leg = leg
	return err
}

func (x *legIndex) build(ctx context.Context, base matrix, _ int) error {
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
	if err := x.leg.Flush(ctx); err != nil {
		return err
	}
	return x.settled(ctx)
}

// apply adds rows from..to.
func (x *legIndex) apply(ctx context.Context, base matrix, from, to int) error {
	units := make([]ragindex.VectorChunk, 0, batch)
	for i := from; i < to; {
		units = units[:0]
		for ; i < to && len(units) < batch; i++ {
			units = append(units, ragindex.VectorChunk{ID: uint64(i), Vector: base.row(i)})
		}
		if err := x.leg.Apply(ctx, uint64(i), units, nil); err != nil {
			return err
		}
	}
	return nil
}

// settled waits until the leg has no background work left: until a graph has all
// vectors.
func (x *legIndex) settled(ctx context.Context) error {
	for {
		st := x.leg.Stats()
		if st.Kind != "native" || st.Chunks < graphUnits || st.Graph.Answers && st.Graph.Waiting == 0 {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (x *legIndex) search(ctx context.Context, q []float32, k, _ int, to []uint32) ([]uint32, error) {
	return x.ask(ctx, ragindex.VectorQuery{Vector: q, K: k}, to)
}

func (x *legIndex) exact(ctx context.Context, q []float32, k int, to []uint32) ([]uint32, error) {
	return x.ask(ctx, ragindex.VectorQuery{Vector: q, K: k, Exact: true}, to)
}

func (x *legIndex) ask(ctx context.Context, q ragindex.VectorQuery, to []uint32) ([]uint32, error) {
	hits, err := x.leg.Search(ctx, q)
	for _, h := range hits {
		to = append(to, uint32(h.ID))
	}
	return to, err
}

// Close removes the leg's files.
func (x *legIndex) Close() error {
	if err := x.leg.Close(); err != nil {
		return err
	}
	return os.RemoveAll(x.dir)
}
