package compat

import "github.com/ragctx/ragctx"

// Score returns the score of an explained item, 0 to 1. Clients of other APIs compare scores with thresholds for
// cosines, which the relevance of a short text hardly reaches. So the score is the probability that the relevance or
// the cosine, taken as independent probabilities, is right.
func Score(it ragctx.ContextItem) float64 {
	return 1 - (1-ragctx.Clamp01(it.Relevance))*(1-ragctx.Clamp01(it.Signals["vector"]))
}
