package index

import "slices"

// Wording is a text that is searched for together with a query's own: the same
// question in other words, what it is a follow-up to, or words of texts that were
// found.
type Wording struct {
	Text string
	// Weight is what each of its features counts, beside 1 for one of the query's own
	// text. One of 0 or less, or not a number, makes the wording be ignored; one above
	// [MaxWordingWeight] counts as that.
	Weight float64
	// Term says that Text is a word as package analysis makes it of units, which counts
	// by itself: as a [Lexical.Words] has found it.
	Term bool
}

// MaxWordingWeight is the most that a wording weighs.
const MaxWordingWeight = 1000

// counts reports whether there is anything to be searched for.
func (w Wording) counts() bool { return w.Text != "" && w.Weight > 0 }

// worded reports whether q asks the lexical leg for anything.
func (q *Query) worded() bool {
	return q.Text != "" || slices.ContainsFunc(q.More, Wording.counts)
}

// Wordings returns all that q searches for: Text with weight 1, then those of More
// that count, in their order.
func (q *LexicalQuery) Wordings() []Wording {
	all := make([]Wording, 0, 1+len(q.More))
	if q.Text != "" {
		all = append(all, Wording{Text: q.Text, Weight: 1})
	}
	for _, w := range q.More {
		if w.counts() {
			w.Weight = min(w.Weight, MaxWordingWeight)
			all = append(all, w)
		}
	}
	return all
}
