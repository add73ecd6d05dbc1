package indextest

import (
	"math"

	"pgregory.net/rapid"

	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

type modelTerm struct {
	kind analysis.Kind
	text string
}

// modelTerms returns the terms of a query with the sum of their weights.
func modelTerms(q index.KeywordQuery) map[modelTerm]float64 {
	weights := make(map[modelTerm]float64)
	collect := func(of func(string) []analysis.QueryTerm) {
		for _, w := range append([]index.Wording{{Text: q.Text, Weight: 1}}, q.More...) {
			if !(w.Weight > 0) {
				continue
			}
			terms := of(w.Text)
			if w.Term {
				terms = []analysis.QueryTerm{{Text: w.Text, Count: 1}}
			}
			for _, t := range terms {
				weights[modelTerm{t.Kind, t.Text}] += float64(t.Count) * min(w.Weight, 1000)
			}
		}
	}
	if collect(analysis.ContentFeatures); len(weights) == 0 {
		collect(analysis.QueryTerms)
	}
	return weights
}

type modelParams struct{ k1, b, pairs, grams, passage, opening float64 }

func newModelParams(p index.KeywordParams) modelParams {
	or := func(v, byDefault float64) float64 {
		if v == 0 {
			return byDefault
		}
		return max(v, 0)
	}
	return modelParams{or(p.K1, 1.2), or(p.B, 0.9), or(p.Pairs, 0.2), or(p.Grams, 0.2), or(p.Passage, 0.5), or(p.Opening, 0.15)}
}

// weigh applies the weights of the kinds and drops terms of weight 0.
func (p modelParams) weigh(terms map[modelTerm]float64) map[modelTerm]float64 {
	for t, w := range terms {
		if w *= []float64{analysis.Word: 1, analysis.Pair: p.pairs, analysis.Gram: p.grams}[t.kind]; w == 0 {
			delete(terms, t)
		} else {
			terms[t] = w
		}
	}
	return terms
}

// drawQuery draws a query; half of them have only a text.
func drawQuery(rt *rapid.T) index.KeywordQuery {
	q := index.KeywordQuery{Text: drawWords(rt, "query", 4)}
	drawSpelling(rt, &q)
	if rapid.Bool().Draw(rt, "plain") {
		return q
	}
	weight := rapid.SampledFrom([]float64{-1, 0, 0.01, 0.3, 0.5, 1, 3, 700, 1000, math.Inf(1), math.NaN()})
	for range rapid.IntRange(0, 3).Draw(rt, "wordings") {
		q.More = append(q.More, index.Wording{Text: drawWords(rt, "wording", 4), Weight: weight.Draw(rt, "weight")})
	}
	draw := func(label string, from ...float64) float64 { return rapid.SampledFrom(from).Draw(rt, label) }
	q.Params = index.KeywordParams{
		K1: draw("k1", 0, 1e-300, 0.4, 2, 1000), B: draw("b", 0, 1e-300, 0.3, 1),
		Pairs: draw("pairs", 0, -1, 0.1, 1, 100), Grams: draw("grams", 0, -2, 0.5, 1),
		Passage: draw("passage", 0, -100, 0.3, 2, 100),
		Opening: draw("opening", 0, -1, 0.5, 100),
	}
	return q
}
