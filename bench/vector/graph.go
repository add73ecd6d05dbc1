package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ragctx/ragctx/index/vector/hnsw"
	"github.com/ragctx/ragctx/index/vector/kernel"
)

// graphIndex is the graph of the native index at any width. Like the native index, it ranks the
// hits again by rows of 16-bit codes in a mapped file.
type graphIndex struct {
	options hnsw.Options
	graph   *hnsw.Graph
	rows    kernel.Rows16
	unit    []float32 // of the query
	near    []hnsw.Near
	ids     []uint32
	sims    []float32
	order   []int
}

func (x *graphIndex) build(ctx context.Context, base matrix, threads int) error {
	var err error
	if x.rows, err = encoded(base); err != nil {
		return err
	}
	x.unit = kernel.Aligned[float32](x.rows.Stride)
	x.options.Dimensions, x.options.Workers = base.dim, threads
	if x.graph, err = hnsw.New(x.options); err != nil {
		return err
	}
	for i := range base.rows {
		if err := x.graph.Put(uint64(i), base.row(i)); err != nil {
			return err
		}
	}
	return x.graph.Link(ctx)
}

// encoded maps an encoded copy of rows.
func encoded(base matrix) (kernel.Rows16, error) {
	stride := kernel.Stride16(base.dim)
	f, err := os.CreateTemp("", "vector-bench-")
	if err != nil {
		return kernel.Rows16{}, err
	}
	defer f.Close()
	defer os.Remove(f.Name())
	size := base.rows * stride * 2
	if err := f.Truncate(int64(size)); err != nil {
		return kernel.Rows16{}, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return kernel.Rows16{}, fmt.Errorf("map: %w", err)
	}
	all := unsafe.Slice((*int16)(unsafe.Pointer(&data[0])), base.rows*stride)
	for i := range base.rows {
		kernel.Encode16(all[i*stride:(i+1)*stride], base.row(i))
	}
	return kernel.Rows16{Chunks: [][]int16{all}, Shift: 31, Stride: stride}, nil
}

func (x *graphIndex) search(ctx context.Context, q []float32, k, ef int, to []uint32) ([]uint32, error) {
	copy(x.unit, q)
	near, _, err := x.graph.Search(ctx, hnsw.Query{Unit: x.unit, K: k, Ef: ef}, x.near[:0])
	return x.best(near, k, to), err
}

func (x *graphIndex) exact(ctx context.Context, q []float32, k int, to []uint32) ([]uint32, error) {
	copy(x.unit, q)
	near, _, err := x.graph.Search(ctx, hnsw.Query{Unit: x.unit, K: k, Exhaustive: true}, x.near[:0])
	return x.best(near, k, to), err
}

// best appends the k best of the graph's hits.
func (x *graphIndex) best(near []hnsw.Near, k int, to []uint32) []uint32 {
	x.near, x.ids, x.order = near, x.ids[:0], x.order[:0]
	for i, n := range near {
		x.ids, x.order = append(x.ids, uint32(n.ID)), append(x.order, i)
	}
	x.sims = slices.Grow(x.sims[:0], len(near))[:len(near)]
	kernel.Best().Dot16(x.unit, x.rows, x.ids, x.sims)
	slices.SortFunc(x.order, func(a, b int) int {
		if x.sims[a] > x.sims[b] {
			return -1
		}
		return 1
	})
	for _, i := range x.order[:min(k, len(x.order))] {
		to = append(to, x.ids[i])
	}
	return to
}
