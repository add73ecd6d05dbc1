package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"time"

	ragindex "github.com/ragctx/ragctx/index"
)

// opening is the cost of opening a stored index, in seconds.
type opening struct {
	Units     int     `json:"units"`
	DiskBytes int64   `json:"disk_bytes"`
	Open      float64 `json:"open_seconds"`
	First     float64 `json:"to_first_answer_seconds"`
	FirstCPU  float64 `json:"to_first_answer_cpu_seconds"`
	Graph     float64 `json:"to_graph_answers_seconds"` // until searches use the graph
	CPU       float64 `json:"cpu_seconds"`              // in total
	Bytes     int64   `json:"anonymous_bytes"`
}

// openStored opens the native index in a directory and searches it. If the directory does not
// exist, it fills one with generated vectors and measures only that, because opening must be
// measured in a process of its own.
func openStored(ctx context.Context, args []string, out io.Writer) error {
	dir := args[0]
	set := flag.NewFlagSet("open", flag.ContinueOnError)
	n := set.Int("n", 1_000_000, "vectors, if the directory is to be filled")
	dim := set.Int("dim", 384, "components")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	x := &storedIndex{graph: "native", dir: dir}
	if _, err := os.Stat(filepath.Join(dir, "filled")); err != nil {
		return x.fill(ctx, *n, *dim, out)
	}
	var o opening
	m, err := measure(func() error { return x.opening(ctx, *dim, &o) })
	o.CPU, o.Bytes = m.CPU, m.Bytes
	if err := errors.Join(err, x.index.Close()); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(o)
}

func (x *storedIndex) opening(ctx context.Context, dim int, o *opening) error {
	query := newClustered(dim, 1).next(queryNoise)
	began, cpu := time.Now(), processTime()
	if err := x.open(dim); err != nil {
		return err
	}
	o.Open = time.Since(began).Seconds()
	if _, err := x.index.Search(ctx, ragindex.VectorQuery{Vector: query, K: k}); err != nil {
		return err
	}
	o.First, o.FirstCPU = time.Since(began).Seconds(), (processTime() - cpu).Seconds()
	if err := x.settled(ctx); err != nil {
		return err
	}
	o.Graph = time.Since(began).Seconds()
	st := x.index.Stats()
	o.Units, o.DiskBytes = st.Chunks, st.Bytes
	return nil
}

// fill writes an index of n vectors.
func (x *storedIndex) fill(ctx context.Context, n, dim int, out io.Writer) error {
	if err := x.open(dim); err != nil {
		return err
	}
	m, err := measure(func() error {
		c := newClustered(dim, 1)
		units := make([]ragindex.VectorChunk, 0, batch)
		for i := range n {
			units = append(units, ragindex.VectorChunk{ID: uint64(i), Vector: c.next(noise)})
			if len(units) == batch || i == n-1 {
				if err := x.index.Apply(ctx, uint64(i)+1, units, nil); err != nil {
					return err
				}
				units = units[:0]
			}
		}
		if err := x.index.Flush(ctx); err != nil {
			return err
		}
		return x.settled(ctx)
	})
	if err := errors.Join(err, x.index.Close()); err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(m); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(x.dir, "filled"), nil, 0o600)
}
