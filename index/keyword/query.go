package keyword

import (
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// feature is a feature of a query. Its weight is the sum of its frequencies in the wordings, each
// times the weight of the wording.
type feature struct {
	text   string
	kind   analysis.Kind
	weight float64
	words  []int // of a gram: indexes of the words that contain it
}

// featuresOf returns the distinct features of all wordings of a query, in order of first
// appearance.
func featuresOf(q *index.KeywordQuery) []feature {
	texts := q.Wordings()
	if features := merged(texts, analysis.ContentFeatures); len(features) > 0 {
		return features
	}
	return merged(texts, analysis.QueryTerms)
}

// merged merges the features of several wordings, as returned by of.
func merged(texts []index.Wording, of func(text string) []analysis.QueryTerm) (features []feature) {
	place := make(map[string]int) // strings of different kinds differ
	for _, t := range texts {
		terms := termsOf(t, of)
		places := make([]int, len(terms))
		for n, f := range terms {
			i, ok := place[f.Text]
			if !ok {
				i = len(features)
				place[f.Text] = i
				features = append(features, feature{text: f.Text, kind: f.Kind})
			}
			features[i].weight += t.Weight * float64(f.Count)
			places[n] = i
		}
		for n, f := range terms {
			for _, word := range f.Words {
				features[places[n]].words = append(features[places[n]].words, places[word])
			}
		}
	}
	return features
}

// termsOf returns the features of a wording, as returned by of, or the wording itself if it is a
// term.
func termsOf(t index.Wording, of func(text string) []analysis.QueryTerm) []analysis.QueryTerm {
	if t.Term {
		return []analysis.QueryTerm{{Text: t.Text, Count: 1, Kind: analysis.Word}}
	}
	return of(t.Text)
}

// kindWeights holds the weight of features by [analysis.Kind].
type kindWeights [analysis.Gram + 1]float64

func kindWeightsOf(p index.KeywordParams) kindWeights {
	return kindWeights{analysis.Word: 1, analysis.Pair: p.Pairs, analysis.Gram: p.Grams}
}

// QueryFeature is a feature of a query with its weight in the score, 1 for a word that the query has once.
type QueryFeature struct {
	Text   string
	Kind   analysis.Kind
	Weight float64
	// Of has the words that contain a gram.
	Of []string
}

// QueryFeatures returns the features that a search for q scores, for an index that keeps them elsewhere.
func QueryFeatures(q *index.KeywordQuery) (list []QueryFeature) {
	weights := kindWeightsOf(q.Params.WithDefaults())
	all := featuresOf(q)
	for _, f := range all {
		if w := f.weight * weights[f.kind]; w > 0 {
			of := make([]string, len(f.words))
			for i, word := range f.words {
				of[i] = all[word].text
			}
			list = append(list, QueryFeature{f.text, f.kind, w, of})
		}
	}
	return list
}
