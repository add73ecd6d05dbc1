package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/rerank"
	"github.com/ragctx/ragctx/internal/resolve"
)

// rerankKey is the secret of the reranking service. It comes only from the environment, because
// command lines and settings files are widely readable.
const rerankKey = "rerank_key"

// rerankSettings are the settings of the reranking service, listed after the others.
func rerankSettings() []option {
	return []option{
		{"rerank_shape", "API of the reranking service: cohere, jina or tei; empty is no reranking", fixed(""), nil},
		{"rerank_url", "URL of the reranking service; empty is the hosted service of cohere or jina", fixed(""), nil},
		{"rerank_model", "model of the reranking service", fixed(""), nil},
		{"rerank_scores", "scale of the service's scores: unit, cosine or logit", fixed(string(rerank.Unit)), nil},
		{"rerank_top", "number of the best items that are reranked", fixed(strconv.Itoa(resolve.DefaultRerankTop)), checkRerankTop},
		{
			"rerank_timeout", "timeout of reranking, after which the order stays as it was",
			fixed(resolve.DefaultRerankTimeout.String()), checkPositiveTime,
		},
	}
}

func checkRerankTop(v string) error {
	if n, err := strconv.Atoi(v); err != nil || n < 1 || n > ragctx.MaxResultsLimit {
		return fmt.Errorf("is %q; use a whole number from 1 to %d", ragctx.Clip(v), ragctx.MaxResultsLimit)
	}
	return nil
}

func checkPositiveTime(v string) error {
	if d, err := time.ParseDuration(v); err != nil || d <= 0 {
		return fmt.Errorf("is %q; use a time such as 800ms or 2s", ragctx.Clip(v))
	}
	return nil
}

// rerankOptions returns the options of the service's client.
func (s *settings) rerankOptions() rerank.Options {
	return rerank.Options{
		Shape: rerank.Shape(s.k.String("rerank_shape")), URL: s.k.String("rerank_url"), Model: s.k.String("rerank_model"),
		Scores: rerank.Scale(s.k.String("rerank_scores")), APIKey: s.rerankKey, Timeout: s.RerankTimeout,
		MaxDocuments: s.RerankTop,
	}
}

// readReranker reads the settings, each of which was checked.
func (s *settings) readReranker(env lookupEnv) {
	s.rerankKey = secret(env, rerankKey)
	s.RerankTop, _ = strconv.Atoi(s.k.String("rerank_top"))
	s.RerankTimeout, _ = time.ParseDuration(s.k.String("rerank_timeout"))
}

// reranker returns a client of the service that the settings name, or nil. Mistakes are errors only
// here, where the data directory is opened, so that commands that call a server need no key.
func (s *settings) reranker() (*rerank.Client, error) {
	if !s.reranks() {
		return nil, nil
	}
	c, err := rerank.New(s.rerankOptions())
	if err != nil {
		return nil, s.refused(err, envName(rerankKey), "rerank_")
	}
	return c, nil
}

// reranks reports whether any setting names a service.
func (s *settings) reranks() bool {
	return s.k.String("rerank_shape")+s.k.String("rerank_url")+s.k.String("rerank_model") != ""
}
