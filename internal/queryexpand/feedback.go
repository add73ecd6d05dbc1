package queryexpand

import (
	"cmp"
	"slices"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// FeedbackTexts is how many of the best hits [Feedback] is meant to be given.
const FeedbackTexts = 5

// FeedbackOptions configures [Feedback]. The zero value works.
type FeedbackOptions struct {
	// Terms is how many words are taken; 0 means 20.
	Terms int
	// Question is the share of the question in the whole, above 0 and up to 1; 0
	// means 0.7.
	Question float64
}

// feedbackBytes is how much of a text is looked at.
const feedbackBytes = 4000

// Feedback returns the words that the best hits for a question share, best texts
// first, by the relevance model RM3: a word's probability is the mean of its shares
// in the texts, and the words together weigh against the question as
// (1-λ) to λ. How rare a word is in general is not known here, so small words are
// left out, and a word counts by the share of the texts that have it.
func Feedback(question string, texts []string, o FeedbackOptions) []Wording {
	terms, share := cmp.Or(max(0, o.Terms), 20), cmp.Or(o.Question, 0.7)
	if len(texts) == 0 || !(share > 0 && share < 1) {
		return nil
	}
	likely := model(texts)
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

// likelihood is how likely a word is in texts that answer.
type likelihood struct {
	text  string // as it was first written
	texts int    // that have it
	last  int    // the last of them
	value float64
}

// model returns the words of texts, the most likely first.
func model(texts []string) []likelihood {
	var out []likelihood
	place := make(map[string]int) // by the term of the word
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
