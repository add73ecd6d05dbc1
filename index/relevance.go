package index

import "math"

// A relevance is the chance that a hit answers the question, as far as the scores
// of one search tell: by how good the match is and how far it stands out from what
// the same question finds everywhere, which count the same, and a little by how far
// it is behind the best. The weights are those of a logistic regression on the ten
// best of each question of nine judged collections, each counting the same. More
// weight on the last would tell ranks within one search better (a list has few
// answers), and make the best of every collection look alike: then the lists of two
// collections no longer merge well.
const (
	relevanceBias   = -0.21
	relevanceMatch  = 1.06 // of ln(score) + ln(score / background)
	relevanceBehind = 1.00 // of ln(score / best score)
)

// The background of a question is the mean score of the texts after the first
// headTexts among the best backgroundHits, and of priorTexts more that score
// priorScore: in a collection of few texts nothing is known about what the
// question finds by chance.
const (
	headTexts      = 10
	backgroundHits = 100
	priorTexts     = 20
	priorScore     = 0.12
)

// relate sets the relevance of hits, which are in order, from their scores.
// It depends on how many hits were asked for only as far as the hundred best do:
// deeper legs can find what both of them rank low. Scores of another kind than
// those of words, which the weights are not made for, are the relevance themselves.
func relate(hits []Hit, words bool) []Hit {
	if len(hits) == 0 {
		return hits
	}
	best, around := hits[0].Score, background(hits)
	for i := range hits {
		h := &hits[i]
		h.Relevance = h.Score
		if words && best > 0 {
			h.Relevance = logistic(relevanceBias + relevanceMatch*math.Log(h.Score*h.Score/around) + relevanceBehind*math.Log(h.Score/best))
		}
	}
	return hits
}

func background(hits []Hit) float64 {
	sum, n := float64(priorTexts*priorScore), float64(priorTexts)
	seen := make(map[uint64]struct{}, backgroundHits)
	for _, hit := range hits[:min(backgroundHits, len(hits))] {
		if _, ok := seen[hit.Parent]; ok {
			continue // its best unit came first
		}
		if seen[hit.Parent] = struct{}{}; len(seen) > headTexts {
			sum, n = sum+hit.Score, n+1
		}
	}
	return sum / n
}

// logistic of minus infinity, for a score of 0, is 0.
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
