package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Parameters of BM25 for texts that are in no index.
const (
	textSaturation = 1.2
	textLength     = 0.75
)

// Texts returns the relevance of texts that are in no index, in their order. It is computed as for hits, but the
// keyword score has single words only. The texts, and [priorTexts] more without the words, give the weights of words.
// cosines are those of the texts with the question; nil means that there are no vectors.
func Texts(question string, texts []string, cosines []float64, f Fusion) []float64 {
	hits := make([]Candidate, len(texts))
	for i, k := range keywordShares(question, texts) {
		hits[i].ID, hits[i].Item, hits[i].Signals.Keyword = uint64(i), uint64(i), k
		if cosines != nil {
			hits[i].Signals.Vector = cosines[i]
		}
	}
	fuse(hits, f, question, true, cosines != nil)
	slices.SortStableFunc(hits, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	out := make([]float64, len(texts))
	for _, h := range setRelevance(hits, true) {
		if h.Score > 0 {
			out[h.ID] = h.Relevance
		}
	}
	return out
}

// keywordShares returns the BM25 score of each text as a share of the best possible one.
func keywordShares(question string, texts []string) []float64 {
	terms := analysis.QueryTerms(question)
	counts := make([]map[string]int, len(texts))
	words := 0.0
	for i, text := range texts {
		counts[i] = make(map[string]int)
		for _, term := range analysis.Index(text) {
			counts[i][term]++
			counts[i][""]++ // all of them
		}
		words += float64(counts[i][""])
	}
	average := max(1, words/float64(max(1, len(texts))))
	shares, best := make([]float64, len(texts)), 0.0
	for _, term := range terms {
		with := 0
		for _, c := range counts {
			with += min(1, c[term.Text])
		}
		weight := float64(term.Count) * math.Log1p((float64(len(texts)-with+priorTexts)+0.5)/(float64(with)+0.5))
		best += weight * (textSaturation + 1)
		for i, c := range counts {
			n := float64(c[term.Text])
			shares[i] += weight * n * (textSaturation + 1) / (n + textSaturation*(1-textLength+textLength*float64(c[""])/average))
		}
	}
	for i := range shares {
		shares[i] /= max(best, math.SmallestNonzeroFloat64)
	}
	return shares
}
