package main

import (
	"context"
	"errors"
	"math/rand"
	"strconv"

	"github.com/coder/hnsw"
	"github.com/philippgille/chromem-go"
)

var errNoScan = errors.New("this index has no exact scan")

// coderIndex is github.com/coder/hnsw with its defaults.
type coderIndex struct{ graph *hnsw.Graph[uint32] }

func (x *coderIndex) build(_ context.Context, base matrix, _ int) error {
	x.graph = hnsw.NewGraph[uint32]()
	x.graph.Rng = rand.New(rand.NewSource(1))
	for i := range base.rows {
		x.graph.Add(hnsw.MakeNode(uint32(i), base.row(i)))
	}
	return nil
}

func (x *coderIndex) search(_ context.Context, q []float32, k, ef int, to []uint32) ([]uint32, error) {
	if ef == 0 {
		ef = 20 // the library's default
	}
	x.graph.EfSearch = ef
	for _, n := range x.graph.Search(q, k) {
		to = append(to, n.Key)
	}
	return to, nil
}

func (x *coderIndex) exact(context.Context, []float32, int, []uint32) ([]uint32, error) {
	return nil, errNoScan
}

// chromemIndex is github.com/philippgille/chromem-go, which always scans.
type chromemIndex struct{ docs *chromem.Collection }

func (x *chromemIndex) build(ctx context.Context, base matrix, threads int) error {
	c, err := chromem.NewDB().CreateCollection("all", nil, nil)
	if err != nil {
		return err
	}
	x.docs = c
	documents := make([]chromem.Document, base.rows)
	for i := range documents {
		documents[i] = chromem.Document{ID: strconv.Itoa(i), Embedding: append([]float32(nil), base.row(i)...)}
	}
	return c.AddDocuments(ctx, documents, threads)
}

func (x *chromemIndex) search(ctx context.Context, q []float32, k, _ int, to []uint32) ([]uint32, error) {
	return x.exact(ctx, q, k, to)
}

func (x *chromemIndex) exact(ctx context.Context, q []float32, k int, to []uint32) ([]uint32, error) {
	hits, err := x.docs.QueryEmbedding(ctx, append([]float32(nil), q...), k, nil, nil)
	for _, h := range hits {
		id, err := strconv.ParseUint(h.ID, 10, 32)
		if err != nil {
			return nil, err
		}
		to = append(to, uint32(id))
	}
	return to, err
}
