package index

import (
	"context"
	"slices"
	"sync"

	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Sentence is a sentence of a long question that asks for something.
type Sentence struct {
	Text   string
	Vector []float32
}

// wholeWeight weighs the score by the whole question; the score by a sentence weighs 1.
const wholeWeight = 3

// rankSentences ranks by the whole question and by each of its sentences. A chunk has the best score that one of the
// sentences gives it: a long message has words of other matters, which many chunks have, and may ask for several things.
func (x Index) rankSentences(ctx context.Context, q *Query, win *timeexpr.Window) (ranked, error) {
	all := make([]ranked, 1+len(q.Sentences))
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, s := range q.Sentences {
		of := *q
		of.Text, of.Vector, of.Patterns = s.Text, s.Vector, nil
		wg.Go(func() { all[i+1], errs[i+1] = x.rank(ctx, &of, win) })
	}
	all[0], errs[0] = x.rank(ctx, q, win)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return ranked{}, err
		}
	}
	whole := all[0]
	for i := range all[1:] {
		whole.join(&all[1+i].found)
	}
	whole.list = blend(all)
	return whole, nil
}

// join adds corrections and failures of the search by a sentence. The older state counts.
func (r *ranked) join(other *Found) {
	r.found.State = min(r.found.State, other.State)
	for _, name := range other.Degraded {
		if !slices.Contains(r.found.Degraded, name) {
			r.found.Degraded = append(r.found.Degraded, name)
		}
	}
	for _, c := range other.Corrections {
		if !slices.Contains(r.found.Corrections, c) {
			r.found.Corrections = append(r.found.Corrections, c)
		}
	}
}

// blend returns the candidates of all lists, best first. The first list ranks by the whole question, the others by a
// sentence each. A candidate has its best score by the whole and a sentence.
func blend(all []ranked) []Candidate {
	var out []Candidate
	at := make(map[uint64]int)
	for _, r := range all {
		for _, c := range r.list {
			if _, ok := at[c.ID]; !ok {
				at[c.ID] = len(out)
				out = append(out, c)
			}
		}
	}
	whole := all[0].scores(at)
	for i := range out {
		out[i].Score = 0
	}
	most := 0.0 // by a sentence
	for _, r := range all[1:] {
		for i, s := range r.scores(at) {
			out[i].Score = max(out[i].Score, (s+wholeWeight*whole[i])/(1+wholeWeight))
			most = max(most, s)
		}
	}
	slices.SortFunc(out, better)
	// The words of other matters lower all scores by the whole, so the scale is that of the sentences.
	if len(out) > 0 && out[0].Score > 0 {
		scale := max(1, most/out[0].Score)
		for i := range out {
			out[i].Score *= scale
		}
	}
	return out
}

// scores returns the scores of candidates at their places. One that is not in the list has the most that it may have.
func (r *ranked) scores(at map[uint64]int) []float64 {
	absent := 0.0
	if r.full && len(r.list) > 0 {
		absent = r.list[len(r.list)-1].Score
	}
	scores := slices.Repeat([]float64{absent}, len(at))
	for _, c := range r.list {
		scores[at[c.ID]] = c.Score
	}
	return scores
}
