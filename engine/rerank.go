package engine

import (
	"context"
	"fmt"
	"math"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/index"
)

// Rerank returns the relevance of texts to a query, 0 to 1, in their order: by the reranker of [Options], or
// else by the ranking of the indexes, with the active embedder. Nothing is stored.
func (e Indexes) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	if e.opts.Reranker != nil {
		scores, err := e.opts.Reranker.Rerank(ctx, query, texts)
		if err == nil && len(scores) != len(texts) {
			err = fmt.Errorf("%w: the reranker returned %d scores for %d texts", ragctx.ErrUnavailable, len(scores), len(texts))
		}
		return scores, err
	}
	var fusion index.Fusion
	with := e.spaces.Current.Load().Embedder
	if with == nil {
		return round(index.Texts(query, texts, nil, fusion)), nil
	}
	if c, ok := with.(embed.Calibrated); ok {
		fusion.EmbedderWeight, fusion.VectorFloor = c.VectorWeight(), c.NoiseFloor()
	}
	question, err := with.EmbedQuery(ctx, query)
	if err != nil {
		return nil, err
	}
	vectors, err := with.EmbedDocuments(ctx, texts)
	if err != nil {
		return nil, err
	}
	cosines := make([]float64, len(texts))
	for i, v := range vectors {
		cosines[i] = cosine(question, v)
	}
	return round(index.Texts(query, texts, cosines, fusion)), nil
}

func round(list []float64) []float64 {
	for i, x := range list {
		list[i] = ragctx.Rounded(x)
	}
	return list
}

// cosine returns the cosine of two vectors; 0 without a direction.
func cosine(a, b []float32) float64 {
	if len(a) == 0 || len(a) != len(b) {
		return 0
	}
	var dot, x, y float64
	for i := range a {
		dot, x, y = dot+float64(a[i])*float64(b[i]), x+float64(a[i])*float64(a[i]), y+float64(b[i])*float64(b[i])
	}
	if x == 0 || y == 0 {
		return 0
	}
	return max(0, dot/math.Sqrt(x*y))
}
