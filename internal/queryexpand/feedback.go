package queryexpand

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// FeedbackTexts is the recommended number of best hits for [Feedback].
const FeedbackTexts = 5

// FeedbackOptions configures [Feedback]. The zero value is valid.
type FeedbackOptions struct {
	// Terms is the number of words to return; 0 means 20.
	Terms int
	// Question is the share of the question in the total weight, above 0 and up to 1; 0 means 0.7.
	Question float64
}

// feedbackBytes is the number of bytes read of each text.
const feedbackBytes = 4000

// Feedback returns the words that the best hits for a question share, most probable first. It is
// the relevance model RM3: the probability of a word is the mean of its shares in the texts, and
// the total weight of the words relates to the question's as (1-λ) to λ. Collection statistics
// are not available here, so function words are left out, and a word is weighted by the share of
// the texts that contain it.
func Feedback(question string, texts []string, o FeedbackOptions) []Wording {
	terms, share := cmp.Or(max(0, o.Terms), 20), cmp.Or(o.Question, 0.7)
	if len(texts) == 0 || !(share > 0 && share < 1) {
		return nil
	}
	likely := relevanceModel(texts)
	likely = likely[:min(terms, len(likely))]
	sum := 0.0
	for _, t := range likely {
		sum += t.value
	}
	mass := (1 - share) / share * float64(max(1, len(termsOf(clip(question, feedbackBytes)))))
	more := make([]Wording, len(likely))
	for i, t := range likely {
		more[i] = Wording{t.text, mass * t.value / sum}
	}
	return more
}

// likelihood is the probability of a word in relevant texts.
type likelihood struct {
	text  string // first spelling seen
	texts int    // number of texts that contain it
	last  int    // the last text that contains it
	value float64
}

// relevanceModel returns the words of texts, most probable first.
func relevanceModel(texts []string) []likelihood {
	var out []likelihood
	place := make(map[string]int) // index in out by the term of the word
	for n, text := range texts {
		words := termsOf(clip(text, feedbackBytes))
		length := 0
		for _, w := range words {
			length += w.count
		}
		for _, w := range words {
			key := analysis.Stem(w.key)
			i, ok := place[key]
			if !ok {
				i = len(out)
				place[key] = i
				out = append(out, likelihood{text: w.text, last: -1})
			}
			out[i].value += float64(w.count) / float64(length)
			if out[i].last != n { // two words of a text may share a stem
				out[i].texts, out[i].last = out[i].texts+1, n
			}
		}
	}
	for i := range out {
		out[i].value *= float64(out[i].texts) / float64(len(texts))
	}
	slices.SortStableFunc(out, func(a, b likelihood) int { return cmp.Compare(b.value, a.value) })
	return out
}
