package eval

import (
	"cmp"
	"math"
	"slices"
)

// Measures are the measures of one question, or their means. All are from 0 to 1.
type Measures struct {
	NDCG10 float64 `json:"ndcg@10"`
	R5     float64 `json:"r@5"`
	R10    float64 `json:"r@10"`
	R100   float64 `json:"r@100"`
	MRR10  float64 `json:"mrr@10"`
}

// sortRanking sorts documents as trec_eval does: by score, then by id, both descending.
func sortRanking(docs []Scored) {
	slices.SortFunc(docs, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Doc, a.Doc))
	})
}

// Measure scores one ranking, best first, against the grades of its question, as trec_eval does.
// Gains are the grades, discounted by log2(rank+1). The ideal ranking covers all judged documents;
// a grade of 1 or more is relevant. ok is false if no document is relevant; such questions are left
// out of averages.
func Measure(ranked []Scored, grades map[string]int) (m Measures, ok bool) {
	var relevant int
	var ideal []int
	for _, g := range grades {
		if g > 0 {
			relevant++
			ideal = append(ideal, g)
		}
	}
	if relevant == 0 {
		return m, false
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	var best float64
	for i, g := range ideal[:min(10, len(ideal))] {
		best += discounted(g, i)
	}
	var dcg float64
	var found int
	for i, d := range ranked {
		if i == 100 {
			break
		}
		if g := grades[d.Doc]; g > 0 {
			found++
			if i < 10 {
				dcg += discounted(g, i)
				if m.MRR10 == 0 {
					m.MRR10 = 1 / float64(i+1)
				}
			}
		}
		m.recall(i+1, float64(found)/float64(relevant))
	}
	m.fill(len(ranked), float64(found)/float64(relevant))
	m.NDCG10 = dcg / best
	return m, true
}

func discounted(grade, at int) float64 { return float64(grade) / math.Log2(float64(at+2)) }

// recall stores the recall of the first k documents.
func (m *Measures) recall(k int, r float64) {
	switch k {
	case 5:
		m.R5 = r
	case 10:
		m.R10 = r
	case 100:
		m.R100 = r
	}
}

// fill sets the recall at the depths that a ranking of n documents does not reach.
func (m *Measures) fill(n int, r float64) {
	for _, k := range [...]int{5, 10, 100} {
		if n < k {
			m.recall(k, r)
		}
	}
}

func (m Measures) plus(o Measures) Measures {
	return Measures{m.NDCG10 + o.NDCG10, m.R5 + o.R5, m.R10 + o.R10, m.R100 + o.R100, m.MRR10 + o.MRR10}
}

func (m Measures) over(n int) Measures {
	d := float64(max(n, 1))
	return Measures{m.NDCG10 / d, m.R5 / d, m.R10 / d, m.R100 / d, m.MRR10 / d}
}

// Category is the mean over the questions of one category.
type Category struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	Measures
}

// Mean measures a whole run over the questions that have a relevant document. A question that is
// missing in the run counts 0.
func Mean(run Rankings, q Qrels) Category {
	s := scoreRun(run, q)
	return s.mean("all", s.ids())
}

// scores holds the measures of each question that has a relevant document.
type scores map[string]Measures

func scoreRun(run Rankings, q Qrels) scores {
	out := make(scores, len(q))
	for id, grades := range q {
		ranked := run[id]
		sortRanking(ranked)
		if m, ok := Measure(ranked, grades); ok {
			out[id] = m
		}
	}
	return out
}

// mean averages over the given questions that have scores.
func (s scores) mean(name string, questions []string) Category {
	c := Category{Name: name}
	for _, q := range questions {
		if m, ok := s[q]; ok {
			c.N++
			c.Measures = c.plus(m)
		}
	}
	c.Measures = c.over(c.N)
	return c
}

// ids returns the questions in a fixed order, so that sums are equal bit for bit.
func (s scores) ids() []string {
	out := make([]string, 0, len(s))
	for id := range s {
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}

// categories returns the mean of each category.
func (s scores) categories(g Groups) []Category {
	var out []Category
	for _, x := range g {
		if c := s.mean(x.Name, x.Questions); c.N > 0 {
			out = append(out, c)
		}
	}
	return out
}
