package index

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Fusion says how the scores of the two legs become one relevance. The zero
// value is the default: convex with the weight of the embedder.
type Fusion struct {
	// Method is "convex" or "rrf"; "" is convex. "keyword" and "vector" ask one
	// leg alone.
	Method string
	// VectorWeight is the weight of the cosine beside a keyword score of weight 1
	// (convex only), for questions of up to [ShortQuestion] words; for longer ones it
	// is less, by as much as they are longer. 0 means EmbedderWeight·VectorShare,
	// negative means none.
	VectorWeight float64
	// EmbedderWeight is what the embedder's cosines are worth on documents; 0 means
	// [DefaultVectorWeight].
	EmbedderWeight float64
	// VectorShare is the part of that which they are worth on texts of this kind; 0
	// means 1.
	VectorShare float64
	// VectorFloor is the cosine that unrelated texts reach by chance. A unit that
	// only the dense leg found is a hit if it is above that, or above three fifths
	// of it where the lexical leg found nothing at all.
	VectorFloor float64
}

// DefaultVectorWeight is that of an embedder that does not know what its cosines are
// worth. It is small, for with a weak one more costs some collections dearly.
const DefaultVectorWeight = 0.1

// ShortQuestion is how many words, stop words left out, a question has for the
// cosine to have its full weight. The more words there are, the better they tell by
// themselves what is meant, and the more of any text a long question resembles.
const ShortQuestion = 8

// vectorWeight returns the weight of the cosine for a question, where it has any.
func (f Fusion) vectorWeight(question string) float64 {
	w := cmp.Or(f.VectorWeight, cmp.Or(f.EmbedderWeight, DefaultVectorWeight)*cmp.Or(f.VectorShare, 1))
	return w * min(1, ShortQuestion/float64(max(wordsOf(question), 1)))
}

// wordsOf counts the words of a question, stop words left out.
func wordsOf(question string) (n int) {
	for _, t := range analysis.QueryTerms(question) {
		n += t.Count
	}
	return n
}

// rrfConstant is k of reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009).
const rrfConstant = 60

// fuse sets the score of every hit.
//
// Convex: (keyword + w·c) / (1 + w), where c is the cosine as far as chance does not
// explain it, w is the vector weight for a question of so many words, and keyword is
// the lexical score over the most that any text could reach (Bruch et al., "An Analysis of
// Fusion Functions for Hybrid Retrieval", TOIS 2023: bounding by the theoretical
// maximum). Relevance is then comparable between queries and collections. A leg
// that did not run drops out of the formula.
//
// RRF: Σ 1/(60+rank) over the legs, divided by its maximum. It ignores how much
// better one hit is than the next and so loses with a weak second list.
func fuse(hits []Hit, f Fusion, question string, keyword, vector bool) {
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
		s := hits[i].Signals
		hits[i].Score = ragctx.Clamp01((s.Keyword + w*f.beyondChance(s.Vector)) / (1 + w))
	}
}

// beyondChance returns how much of a cosine says something, from 0 to 1. Of the
// cosines of unrelated texts, most of which are below the floor, half of it is the
// middle.
func (f Fusion) beyondChance(cosine float64) float64 {
	chance := f.VectorFloor / 2
	return max(0, cosine-chance) / (1 - chance)
}

func fuseRanks(hits []Hit, keyword, vector bool) {
	legs := 0
	add := func(score func(Hit) float64) {
		legs++
		slices.SortFunc(hits, func(a, b Hit) int {
			return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(a.ID, b.ID))
		})
		for i := range hits {
			if score(hits[i]) > 0 {
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
		hits[i].Score *= float64(rrfConstant+1) / float64(max(legs, 1))
	}
}
