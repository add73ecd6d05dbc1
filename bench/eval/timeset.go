package eval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ragctx/ragctx"
)

// TimeSets compares the items in the time range that the engine reads with the intended items, over
// questions that ask only for a time. The items are sets, without rank or cut-off.
type TimeSets struct {
	N         int     `json:"n"`
	Read      int     `json:"read"` // questions in which the engine read a time
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	Exact     float64 `json:"exact"` // share of questions with exactly the right set
}

// timeGroup is the prefix of the categories of such questions.
const timeGroup = "time:"

// add counts a question; found is nil if no time was read.
func (t *TimeSets) add(found []string, grades map[string]int) {
	relevant, hit := 0, 0
	for _, g := range grades {
		if g > 0 {
			relevant++
		}
	}
	if relevant == 0 {
		return
	}
	t.N++
	seen := make(map[string]bool, len(found))
	for _, id := range found {
		if grades[id] > 0 && !seen[id] {
			hit++
		}
		seen[id] = true
	}
	if len(seen) > 0 {
		t.Precision += float64(hit) / float64(len(seen))
	}
	t.Recall += float64(hit) / float64(relevant)
	if hit == relevant && hit == len(seen) {
		t.Exact++
	}
}

// mean turns the sums into means.
func (t *TimeSets) mean() {
	n := float64(max(t.N, 1))
	t.Precision, t.Recall, t.Exact = t.Precision/n, t.Recall/n, t.Exact/n
}

// readTimes measures the questions that ask only for a time.
func (r *setReport) readTimes(ctx context.Context, o Options, a *asker) error {
	only := make(map[string]bool)
	for _, g := range a.set.Groups {
		if strings.HasPrefix(g.Name, timeGroup) {
			for _, id := range g.Questions {
				only[id] = true
			}
		}
	}
	r.TimeQuestions = len(only)
	if len(only) == 0 || o.Within == nil {
		return nil
	}
	var sum TimeSets
	for i := range a.set.Questions {
		q := &a.set.Questions[i]
		if !only[q.ID] {
			continue
		}
		found, read, err := o.Within(ctx, a.eng, a.query(q))
		if err != nil && !errors.Is(err, ragctx.ErrInvalid) {
			return fmt.Errorf("question %s: %w", q.ID, err)
		}
		if read {
			sum.Read++
		}
		sum.add(found, a.set.Qrels[q.ID])
	}
	sum.mean()
	r.TimeSets = &sum
	return nil
}
