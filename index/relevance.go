package index

import "math"

// Relevance is the probability that a hit answers the question, estimated from the scores of one
// search. It depends equally on how good the match is and on how far it exceeds the scores that the
// question finds everywhere, and a little on how far it is behind the best hit. The weights are
// from a logistic regression on the ten best hits of each question of nine judged collections, each
// collection weighted equally. More weight on the last would separate ranks within one search
// better (a list has few answers), but would make the best hit of every collection look alike: the
// lists of two collections would no longer merge well.
const (
	relevanceBias   = -0.21
	relevanceMatch  = 1.06 // of ln(score) + ln(score / background)
	relevanceBehind = 1.00 // of ln(score / best score)
)

// The background of a question is the mean score of the texts after the first headTexts among the
// best backgroundHits, and of priorTexts more that score priorScore: a collection of few texts does
// not show which scores the question gets by chance.
const (
	headTexts      = 10
	backgroundHits = 100
	priorTexts     = 20
	priorScore     = 0.12
)

// setRelevance sets the relevance of sorted hits from their scores. The number of requested hits
// matters only as far as it changes the hundred best: deeper searches can find hits that both
// indexes rank low. The weights are for keyword scores; other scores are used as the relevance
// directly.
func setRelevance(hits []Candidate, words bool) []Candidate {
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

func background(hits []Candidate) float64 {
	sum, n := float64(priorTexts*priorScore), float64(priorTexts)
	seen := make(map[uint64]struct{}, backgroundHits)
	for _, hit := range hits[:min(backgroundHits, len(hits))] {
		if _, ok := seen[hit.Item]; ok {
			continue // its best chunk came first
		}
		if seen[hit.Item] = struct{}{}; len(seen) > headTexts {
			sum, n = sum+hit.Score, n+1
		}
	}
	return sum / n
}

// logistic is the logistic function; it is 0 at minus infinity, for a score of 0.
func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
