//go:build !windows

package vector

import (
	"context"

	"github.com/ragctx/ragctx/index"
)

// The parameters of Recall.
const (
	recallAt     = 10
	recallSample = 50
)

// Recall returns recall@10, within 0..1, of searches for up to 50 stored vectors, spread evenly,
// against the exact scan. A hit as near as the tenth exact one counts. An empty index has recall 1.
func (c *coder) Recall(ctx context.Context) (float64, error) {
	state := c.flat.state.Load()
	if state == nil {
		return 0, index.ErrClosed
	}
	var found, wanted int
	for _, v := range state.sample(recallSample, c.flat.dim) {
		exact, err := c.flat.Search(ctx, index.VectorQuery{Vector: v, K: recallAt})
		if err != nil {
			return 0, err
		}
		got, err := c.Search(ctx, index.VectorQuery{Vector: v, K: recallAt})
		if err != nil {
			return 0, err
		}
		if len(exact) == 0 {
			continue // all were deleted concurrently
		}
		wanted += len(exact)
		for _, h := range got {
			if h.Score >= exact[len(exact)-1].Score {
				found++
			}
		}
	}
	if wanted == 0 {
		return 1, nil
	}
	return min(1, float64(found)/float64(wanted)), nil
}

// sample returns the vectors of up to n live rows, spread evenly.
func (s *snapshot) sample(n, dim int) [][]float32 {
	step := max(1, s.rows/n)
	var rows [][]float32
	seen := 0
	for _, b := range s.blocks {
		if b == nil {
			continue
		}
		for row := range b.rows {
			if seen%step == 0 && len(rows) < n {
				rows = append(rows, decoded(b.row(row, stride(dim)), dim))
			}
			seen++
		}
	}
	return rows
}
