package resolve

import (
	"cmp"
	"math"
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Limits of diversity: candidates after the first maxDiverse keep their order, and only the
// beginning of a text is compared. The time grows with the square of the candidates.
const (
	maxDiverse   = 200
	compareRunes = 2000
)

// diversify orders list, best first, by maximal marginal relevance (Carbonell and Goldstein 1998).
// The next item is the one that maximises
//
//	(1-d) · rank / best rank - d · greatest similarity to an earlier item
//
// The items of chosen count as earlier. Ties go to the item that is less similar to the last one,
// then to the first. Similarity is the cosine of the words.
func diversify(chosen, list []*candidate, d float64) []*candidate {
	d = ragctx.Clamp01(d)
	n := min(len(list), maxDiverse)
	var best float64
	for _, c := range list[:n] {
		best = max(best, c.rank)
	}
	m := newMargin(list[:n])
	for _, c := range chosen[:min(len(chosen), maxDiverse)] {
		m.compare(m.bag(c.passage()))
	}
	out := make([]*candidate, 0, len(list))
	for range n {
		pick, most := -1, math.Inf(-1)
		for i, c := range list[:n] {
			if m.taken[i] {
				continue
			}
			score := -d * m.nearest[i]
			if best > 0 {
				score += (1 - d) * c.rank / best
			}
			if pick < 0 || score > most || score == most && m.last[i] < m.last[pick] {
				pick, most = i, score
			}
		}
		m.taken[pick] = true
		m.compare(m.bags[pick])
		out = append(out, list[pick])
	}
	return append(out, list[n:]...)
}

// margin tracks the similarity of candidates to the chosen items.
type margin struct {
	words map[string]int
	bags  []bag
	taken []bool
	// nearest is the greatest similarity of each candidate to a chosen item, last the similarity to
	// the last one.
	nearest, last []float64
}

func newMargin(list []*candidate) *margin {
	n := len(list)
	m := &margin{
		words: make(map[string]int), bags: make([]bag, n), taken: make([]bool, n),
		nearest: make([]float64, n), last: make([]float64, n),
	}
	for i, c := range list {
		m.bags[i] = m.bag(c.passage())
	}
	return m
}

// compare updates the similarities with a chosen item.
func (m *margin) compare(chosen bag) {
	for i, b := range m.bags {
		if !m.taken[i] {
			m.last[i] = cosine(b, chosen)
			m.nearest[i] = max(m.nearest[i], m.last[i])
		}
	}
}

// bag holds the weighted words of a text, sorted by word. The squares of the weights add up to 1.
type bag []weighted

type weighted struct {
	word   int
	weight float64
}

// bag returns the words of a text's beginning without stop words. A text without other words counts
// as one word.
func (m *margin) bag(text string) bag {
	text = beginning(text)
	terms := analysis.QueryTerms(text)
	if len(terms) == 0 {
		terms = []analysis.QueryTerm{{Text: text, Count: 1}}
	}
	b := make(bag, len(terms))
	var sum float64
	for i, t := range terms {
		id, ok := m.words[t.Text]
		if !ok {
			id = len(m.words)
			m.words[t.Text] = id
		}
		w := 1 + math.Log(float64(t.Count))
		b[i] = weighted{id, w}
		sum += w * w
	}
	slices.SortFunc(b, func(x, y weighted) int { return cmp.Compare(x.word, y.word) })
	length := math.Sqrt(sum)
	for i := range b {
		b[i].weight /= length
	}
	return b
}

// beginning returns the first characters of a text.
func beginning(s string) string {
	if len(s) <= compareRunes {
		return s
	}
	n := 0
	for i := range s {
		if n == compareRunes {
			return s[:i]
		}
		n++
	}
	return s
}

// cosine returns the similarity of two texts, 0 to 1; 1 for the same words.
func cosine(a, b bag) float64 {
	var sum float64
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i].word < b[j].word:
			i++
		case a[i].word > b[j].word:
			j++
		default:
			sum += a[i].weight * b[j].weight
			i++
			j++
		}
	}
	if sum > 1-1e-9 {
		return 1 // equal up to rounding
	}
	return sum
}
