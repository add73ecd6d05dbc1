package index

import "slices"

// Wording is a text that is searched for together with the query's own text: the question in other
// words, the question that it follows up, or words of texts that were found.
type Wording struct {
	Text string
	// Weight is the weight of each of its features, relative to 1 for the query's own text. A
	// wording with a weight of 0 or less, or NaN, is ignored; a weight above [MaxWordingWeight] is
	// limited to that.
	Weight float64
	// Term reports that Text is a single indexed term, as [KeywordIndex.Words] returns it.
	Term bool
}

// MaxWordingWeight is the maximum weight of a wording.
const MaxWordingWeight = 1000

// counts reports whether w is not ignored.
func (w Wording) counts() bool { return w.Text != "" && w.Weight > 0 }

// hasText reports whether r searches the keyword index.
func (r *Retrieval) hasText() bool {
	return r.Text != "" || slices.ContainsFunc(r.More, Wording.counts)
}

// Wordings returns all texts that q searches for: Text with weight 1, then those of More that are
// not ignored, in order.
func (q *KeywordQuery) Wordings() []Wording {
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
