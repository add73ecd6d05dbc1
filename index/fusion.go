package index

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Fusion configures how the scores of the two indexes become one relevance. The zero value is the
// default: convex with the weight of the embedder.
type Fusion struct {
	// Method is "convex" or "rrf"; "" is convex. "keyword" and "vector" search one index alone.
	Method string
	// VectorWeight is the weight of the cosine relative to a keyword score of weight 1 (convex
	// only), for questions of up to [shortQuestion] words. For longer questions it decreases in
	// proportion to their length. 0 means EmbedderWeight·VectorShare, negative means none.
	VectorWeight float64
	// EmbedderWeight is the weight of the embedder's cosines on documents; 0 means
	// [defaultVectorWeight].
	EmbedderWeight float64
	// VectorShare scales EmbedderWeight for texts of this kind; 0 means 1.
	VectorShare float64
	// VectorFloor is the cosine that unrelated texts reach by chance. A chunk found only by the
	// vector index is a hit if its cosine is above that, or above three fifths of it if the keyword
	// index found nothing at all.
	VectorFloor float64
}

// defaultVectorWeight is the weight for an embedder of unknown quality. It is small, because a
// larger one costs some collections much with a weak embedder.
const defaultVectorWeight = 0.1

// shortQuestion is the number of words, without stop words, up to which the cosine has its full
// weight. A longer question is specified better by its words, and resembles more of any text.
const shortQuestion = 8

// vectorWeight returns the weight of the cosine for a question.
func (f Fusion) vectorWeight(question string) float64 {
	w := cmp.Or(f.VectorWeight, cmp.Or(f.EmbedderWeight, defaultVectorWeight)*cmp.Or(f.VectorShare, 1))
	return w * min(1, shortQuestion/float64(max(wordsOf(question), 1)))
}

// wordsOf counts the words of a question without stop words.
func wordsOf(question string) (n int) {
	for _, t := range analysis.QueryTerms(question) {
		n += t.Count
	}
	return n
}

// loneVectorFloor lowers the floor of cosines if no chunk has a keyword score.
const loneVectorFloor = 0.6

// LongText is the number of chunks from which an item is long.
const LongText = 32

// longTextShare is the share of the vector weight that cosines have among the chunks of a long item. All these chunks
// have the same keyword score as an item, and only a third of the score tells them apart. So the cosine, which is the
// chunk's own, would outweigh the words.
const longTextShare = 1.0 / 3

// wordyScore is the keyword score from which [longTextShare] applies in full. A passage that has hardly a word of the
// question is found by its vector alone, in a long text as in a short one.
const wordyScore = 0.2

// aroundShare is the share of the chunks before and after in the cosine of a chunk. A chunk continues the one before, and
// the keyword score covers the whole text, too.
const aroundShare = 1.0 / 3

// floor returns the cosine that a candidate without a keyword score must exceed.
func (f Fusion) floor(list []Candidate) float64 {
	if slices.ContainsFunc(list, func(c Candidate) bool { return c.Signals.Keyword > 0 }) {
		return f.VectorFloor
	}
	return loneVectorFloor * f.VectorFloor // no word is known: misspelt words have lower cosines than correct ones
}

// withoutChance removes the candidates that have no keyword score and a cosine up to the floor.
func withoutChance(list []Candidate, floor float64) []Candidate {
	return slices.DeleteFunc(list, func(c Candidate) bool { return c.Signals.Keyword <= 0 && c.Signals.Vector <= floor })
}

// rrfConstant is k of reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009).
const rrfConstant = 60

// fuse sets the score of every hit.
//
// Convex: (keyword + w·c) / (1 + w), where c is the part of the cosine beyond chance, w is the
// vector weight for a question of that length, and keyword is the keyword score over the maximum
// that any text could reach (Bruch et al., "An Analysis of Fusion Functions for Hybrid Retrieval",
// TOIS 2023: bounding by the theoretical maximum). Relevance is then comparable between queries and
// collections. An index that did not run drops out of the formula. A chunk of a long item has
// w·[longTextShare] in the numerator, if it has words of the question. In its cosine the chunks before and after in the
// item have [aroundShare].
//
// RRF: Σ 1/(60+rank) over the indexes, divided by its maximum. It ignores how much better one hit
// is than the next, and so loses with a weak second list.
func fuse(hits []Candidate, f Fusion, question string, keyword, vector bool) {
	if f.Method == "rrf" {
		fuseRanks(hits, keyword, vector)
		return
	}
	w := 0.0
	switch {
	case !vector || f.VectorWeight < 0:
	case !keyword:
		for i := range hits {
			hits[i].Score = ragctx.Clamp01(hits[i].Signals.Vector)
		}
		return
	default:
		w = f.vectorWeight(question)
	}
	for i := range hits {
		s, share := hits[i].Signals, w
		if hits[i].Long {
			share *= 1 - (1-longTextShare)*min(1, s.Keyword/wordyScore)
		}
		cosine := s.Vector + aroundShare*hits[i].Around
		if s.Keyword <= 0 { // above the floor by itself
			cosine = max(cosine, loneVectorFloor*f.VectorFloor)
		}
		hits[i].Score = ragctx.Clamp01((s.Keyword + share*f.beyondChance(cosine)) / (1 + w))
	}
}

// beyondChance returns the significant part of a cosine, from 0 to 1. Cosines of unrelated texts
// are mostly below the floor, and half the floor is their middle.
func (f Fusion) beyondChance(cosine float64) float64 {
	chance := f.VectorFloor / 2
	return max(0, cosine-chance) / (1 - chance)
}

func fuseRanks(hits []Candidate, keyword, vector bool) {
	lists := 0
	add := func(score func(Hit) float64) {
		lists++
		slices.SortFunc(hits, func(a, b Candidate) int {
			return cmp.Or(cmp.Compare(score(b.Hit), score(a.Hit)), cmp.Compare(a.ID, b.ID))
		})
		for i := range hits {
			if score(hits[i].Hit) > 0 {
				hits[i].Score += 1 / float64(rrfConstant+i+1)
			}
		}
	}
	if keyword {
		add(func(h Hit) float64 { return h.Signals.Keyword })
	}
	if vector {
		add(func(h Hit) float64 { return h.Signals.Vector })
	}
	for i := range hits {
		hits[i].Score *= float64(rrfConstant+1) / float64(max(lists, 1))
	}
}
