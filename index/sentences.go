package index

import (
	"cmp"
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
	var wg sync.WaitGroup
	for i, s := range q.Sentences {
		of := *q
		of.Text, of.Vector, of.Patterns = s.Text, s.Vector, nil
		wg.Go(func() {
			// The result of the whole suffices if one of a sentence fails.
			all[i+1], _ = x.rank(ctx, &of, win)
		})
	}
	whole, err := x.rank(ctx, q, win)
	wg.Wait()
	if err != nil || ctx.Err() != nil {
		return ranked{}, cmp.Or(err, ctx.Err())
	}
	all[0] = whole
	for i := range q.Sentences {
		whole.join(&all[1+i].found)
	}
	whole.list = blend(all)
	return whole, nil
}

// join adds corrections and failures of the search by a sentence. The older state counts.
func (r *ranked) join(other *Found) {
	if other.State > 0 {
		r.found.State = min(r.found.State, other.State)
	}
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
	alone := make([]float64, len(out)) // by the sentence that fits best
	for _, r := range all[1:] {
		for i, s := range r.scores(at) {
			if score := (s + wholeWeight*whole[i]) / (1 + wholeWeight); score > out[i].Score {
				out[i].Score, alone[i] = score, s
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	// The words of other matters lower all scores by the whole, so the best chunk keeps its score by the sentence.
	best := 0
	for i := range out {
		if better(out[i], out[best]) < 0 {
			best = i
		}
	}
	if scale := alone[best] / out[best].Score; scale > 1 {
		for i := range out {
			out[i].Score *= scale
		}
	}
	slices.SortFunc(out, better)
	return out
}

// scores returns the scores of candidates at their places. One that a list lacks which is not whole has the score of its last.
func (r *ranked) scores(at map[uint64]int) []float64 {
	absent := 0.0
	if !r.whole && len(r.list) > 0 {
		absent = r.list[len(r.list)-1].Score
	}
	scores := slices.Repeat([]float64{absent}, len(at))
	for _, c := range r.list {
		scores[at[c.ID]] = c.Score
	}
	return scores
}
