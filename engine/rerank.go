package engine

import (
	"context"
	"fmt"

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
	space := e.spaces.Current.Load()
	with := space.Embedder
	if with == nil {
		return round(index.Texts(query, texts, nil, fusion)), nil
	}
	space.Calibrate(&fusion)
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
		cosines[i] = max(0, embed.Cosine(question, v))
	}
	return round(index.Texts(query, texts, cosines, fusion)), nil
}

func round(list []float64) []float64 {
	for i, x := range list {
		list[i] = ragctx.Rounded(x)
	}
	return list
}
