package eval

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// mixedMeans are mean nDCG@10 over n questions with an answer.
type mixedMeans struct {
	n                       int
	merged, pages, memories float64
	either                  float64 // of the provider that was better for the question
	oracle                  float64
}

// better returns the mean of the better provider.
func (m mixedMeans) better() float64 { return max(m.pages, m.memories) }

func meansOf(answers []mixedAnswer) (m mixedMeans) {
	for _, a := range answers {
		ndcg := func(ranked []Scored) float64 {
			x, _ := Measure(ranked, a.question.grades) // 0 where there is nothing to find
			return x.NDCG10
		}
		if a.question.kind == "none" {
			continue
		}
		m.n++
		pages, memories := ndcg(a.pages), ndcg(a.memories)
		m.merged += ndcg(a.merged)
		m.pages += pages
		m.memories += memories
		m.either += max(pages, memories)
		m.oracle += ndcg(a.oracle)
	}
	n := float64(max(m.n, 1))
	for _, x := range [...]*float64{&m.merged, &m.pages, &m.memories, &m.either, &m.oracle} {
		*x /= n
	}
	return m
}

// interleaved returns the merging of two rankings with the highest nDCG@10 that keeps the order of
// each. No other merging of the two can be better.
func interleaved(a, b []Scored, grades map[string]int) []Scored {
	type merging struct {
		gain   float64
		ranked []Scored
	}
	a, b = a[:min(10, len(a))], b[:min(10, len(b))]
	best := make([][]merging, len(a)+1) // of the first i of a and j of b
	for i := range best {
		best[i] = make([]merging, len(b)+1)
		for j := range best[i] {
			add := func(m merging, s Scored) {
				if at := i + j - 1; at < 10 {
					m.gain += discounted(grades[s.Doc], at)
				}
				if c := &best[i][j]; c.ranked == nil || m.gain > c.gain {
					*c = merging{m.gain, append(slices.Clone(m.ranked), s)}
				}
			}
			if i > 0 {
				add(best[i-1][j], a[i-1])
			}
			if j > 0 {
				add(best[i][j-1], b[j-1])
			}
		}
	}
	return best[len(a)][len(b)].ranked
}

// auc returns the probability that a value of yes is greater than a value of no, with ties counted
// half (Hanley and McNeil, "The Meaning and Use of the Area under a Receiver Operating Characteristic
// Curve", 1982). At .5 the values are useless.
func auc(yes, no []float64) float64 {
	if len(yes)*len(no) == 0 {
		return .5
	}
	var sum float64
	for _, y := range yes {
		for _, n := range no {
			sum += float64(1+cmp.Compare(y, n)) / 2
		}
	}
	return sum / float64(len(yes)*len(no))
}

// bests returns the best relevance of questions with a relevant item, and of the others.
func bests(answers []mixedAnswer, ranking func(mixedAnswer) []Scored, counts func(id string) bool) (yes, no []float64) {
	for _, a := range answers {
		var best float64
		if r := ranking(a); len(r) > 0 {
			best = r[0].Score
		}
		if slices.ContainsFunc(sortedKeys(a.question.grades), counts) {
			yes = append(yes, best)
		} else {
			no = append(no, best)
		}
	}
	return yes, no
}

func (a mixedAnswer) ofMerged() []Scored   { return a.merged }
func (a mixedAnswer) ofPages() []Scored    { return a.pages }
func (a mixedAnswer) ofMemories() []Scored { return a.memories }

func anything(string) bool { return true }

// answerable returns how well the best relevance predicts whether there is an answer.
func answerable(answers []mixedAnswer) float64 {
	return auc(bests(answers, mixedAnswer.ofMerged, anything))
}

// crossed returns, over the ten best of each provider, how often a relevant page
// has a higher relevance than an irrelevant memory of the same question, and how
// often a relevant memory has a higher one than an irrelevant page. On one scale
// both are high, and about equal.
func crossed(answers []mixedAnswer) (pages, memories float64) {
	var sums, pairs [2]float64
	for _, a := range answers {
		for i, lists := range [...][2][]Scored{{a.pages, a.memories}, {a.memories, a.pages}} {
			for _, x := range lists[0][:min(10, len(lists[0]))] {
				for _, y := range lists[1][:min(10, len(lists[1]))] {
					if a.question.grades[x.Doc] > 0 && a.question.grades[y.Doc] == 0 {
						sums[i] += float64(1+cmp.Compare(x.Score, y.Score)) / 2
						pairs[i]++
					}
				}
			}
		}
	}
	return sums[0] / max(pairs[0], 1), sums[1] / max(pairs[1], 1)
}

// cut returns the effect of a minimum relevance on the ten best items.
type cut struct {
	precision, recall float64 // of relevant items, over all items
	answered, silent  float64 // shares: answerable questions that keep something relevant, others that get nothing
}

func cutAt(answers []mixedAnswer, least float64) (c cut) {
	var shown, right, relevant, with, without float64
	for _, a := range answers {
		before := right
		kept := 0
		for _, s := range a.merged[:min(10, len(a.merged))] {
			if s.Score < least {
				continue
			}
			kept++
			if a.question.grades[s.Doc] > 0 {
				right++
			}
		}
		shown += float64(kept)
		relevant += float64(len(a.question.grades))
		switch {
		case a.question.kind != "none":
			with++
			if right > before {
				c.answered++
			}
		default:
			without++
			if kept == 0 {
				c.silent++
			}
		}
	}
	c.precision, c.recall = right/max(shown, 1), right/max(relevant, 1)
	c.answered, c.silent = c.answered/max(with, 1), c.silent/max(without, 1)
	return c
}

// mixedPart is a subset of the questions.
type mixedPart struct {
	name    string
	answers []mixedAnswer
}

// halves returns all questions, and each half.
func (m mixedRun) halves() []mixedPart {
	parts := []mixedPart{{"all", m.answers}}
	for _, h := range [...]string{"dev", "test"} {
		parts = append(parts, mixedPart{h, only(m.answers, func(q mixedQuestion) bool { return q.half == h })})
	}
	return parts
}

func only(answers []mixedAnswer, keep func(mixedQuestion) bool) []mixedAnswer {
	return slices.DeleteFunc(slices.Clone(answers), func(a mixedAnswer) bool { return !keep(a.question) })
}

// table writes all measures.
func (m mixedRun) table() string {
	var b strings.Builder
	b.WriteByte('\n')
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, write := range [...]func(io.Writer){m.writeRanking, m.writeCrossed, m.writeBest, m.writeCuts} {
		write(tw)
		fmt.Fprintln(tw)
	}
	tw.Flush()
	return b.String()
}

func (m mixedRun) writeRanking(w io.Writer) {
	fmt.Fprintln(w, "nDCG@10\tkind\tn\tmerged\tdocuments\tmemories\tbetter\teither\toracle")
	for _, half := range m.halves() {
		parts := []mixedPart{{"all", half.answers}}
		for _, k := range mixedKinds[:len(mixedKinds)-1] {
			parts = append(parts, mixedPart{k, only(half.answers, func(q mixedQuestion) bool { return q.kind == k })})
		}
		for _, p := range parts {
			x := meansOf(p.answers)
			fmt.Fprintf(w, "%s\t%s\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\n",
				half.name, p.name, x.n, x.merged, x.pages, x.memories, x.better(), x.either, x.oracle)
		}
	}
}

func (m mixedRun) writeCrossed(w io.Writer) {
	fmt.Fprintln(w, "pairs\trelevant page above irrelevant memory\trelevant memory above irrelevant page")
	for _, p := range m.halves() {
		pages, memories := crossed(p.answers)
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\n", p.name, pages, memories)
	}
}

func (m mixedRun) writeBest(w io.Writer) {
	fmt.Fprintln(w, "best relevance\tlist\tAUC\tanswered: n\tmin\t25%\t50%\t75%\tmax\tnot: n\tmin\t25%\t50%\t75%\tmax")
	for _, p := range m.halves() {
		for _, l := range [...]struct {
			name    string
			ranking func(mixedAnswer) []Scored
			counts  func(string) bool
		}{
			{"merged", mixedAnswer.ofMerged, anything},
			{"documents", mixedAnswer.ofPages, isPage},
			{"memories", mixedAnswer.ofMemories, isTurn},
		} {
			yes, no := bests(p.answers, l.ranking, l.counts)
			fmt.Fprintf(w, "%s\t%s\t%.4f\t%s\t%s\n", p.name, l.name, auc(yes, no), spread(yes), spread(no))
		}
	}
}

// spread returns the number of values, and their quartiles by nearest rank.
func spread(x []float64) string {
	if len(x) == 0 {
		return "0\t\t\t\t\t"
	}
	slices.Sort(x)
	cells := []string{fmt.Sprint(len(x))}
	for _, share := range [...]float64{0, .25, .5, .75, 1} {
		cells = append(cells, fmt.Sprintf("%.3f", x[int(math.Round(share*float64(len(x)-1)))]))
	}
	return strings.Join(cells, "\t")
}

func (m mixedRun) writeCuts(w io.Writer) {
	fmt.Fprintln(w, "min_relevance\tof ten\tprecision\trecall\tanswered\tsilent")
	for _, p := range m.halves() {
		for _, least := range [...]float64{0, .2, .3, .4, .5} {
			c := cutAt(p.answers, least)
			fmt.Fprintf(w, "%s\t%.1f\t%.4f\t%.4f\t%.4f\t%.4f\n", p.name, least, c.precision, c.recall, c.answered, c.silent)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// TestMixedMeasures checks the oracle's bound, the AUC and the pairs on cases counted by hand.
func TestMixedMeasures(t *testing.T) {
	list := func(ids ...string) (out []Scored) {
		for i, id := range ids {
			out = append(out, Scored{id, 1 - float64(i)/10})
		}
		return out
	}
	grades := map[string]int{"a.md": 1, "x": 2}
	got := interleaved(list("a.md", "b.md"), list("w", "x"), grades)
	if want := []string{"a.md", "w", "x", "b.md"}; !slices.EqualFunc(got, want,
		func(s Scored, id string) bool { return s.Doc == id }) {
		t.Errorf("interleaved to %v, want %v: the page can be first at no cost", got, want)
	}
	if got := auc([]float64{.9, .5}, []float64{.5, .1}); got != .875 {
		t.Errorf("AUC %v, want three pairs and a half of four", got)
	}
	a := []mixedAnswer{{question: mixedQuestion{grades: grades}, pages: list("a.md", "b.md"), memories: list("w", "x")}}
	if pages, memories := crossed(a); pages != .5 || memories != .5 {
		t.Errorf("pairs %v and %v, want a tie and a tie", pages, memories)
	}
}
