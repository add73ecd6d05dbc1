package eval

import (
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/passage"
)

// Bounds for the default of min_relevance: the share of tokens, relative to 1,916 per question without
// it, and the share of relevant items relative to min_relevance 0.
const (
	mostTokens = 1916 / 2
	leastKept  = .99
)

// TestMixedTokens measures the tokens and the relevant items of answers at each min_relevance. With -v
// it writes the table by which the default was chosen.
func TestMixedTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("asks an engine hundreds of questions, one after the other")
	}
	s := readMixed(t)
	m := mixedRun{eng: s.fill(t)}
	all, _ := m.shows(t, s, new(0.0))
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "\nmin_relevance\ttokens\tkept")
	for _, least := range []*float64{new(0.0), new(.02), new(.05), new(.1), new(.2), nil} {
		relevant, tokens := m.shows(t, s, least)
		kept, mean := float64(relevant)/float64(all), tokens/len(s.questions)
		name := "default"
		if least != nil {
			name = fmt.Sprint(*least)
		} else if mean > mostTokens || kept < leastKept {
			t.Errorf("%d tokens a question, and %.3f of the relevant items", mean, kept)
		}
		fmt.Fprintf(tw, "%s\t%d\t%.3f\n", name, mean, kept)
	}
	tw.Flush()
	t.Log(b.String())
}

// shows returns the number of relevant pages and turns in the answers, and their tokens.
func (m mixedRun) shows(t *testing.T, s mixedSet, least *float64) (relevant, tokens int) {
	t.Helper()
	for _, q := range s.questions {
		query := ragctx.NewQuery(q.Text)
		query.UserID, query.MinRelevance = q.Metadata.User, least
		query.StableTokens = -1 // standing wishes do not depend on it
		a, err := m.eng.Context(t.Context(), query)
		must(t, err)
		tokens += a.TotalTokens
		shown := make(map[string]bool)
		for _, it := range a.Items {
			id := it.ID
			if it.Type == ragctx.TypeResource {
				id, _, _, _ = passage.ParseItemID(it.ID)
			}
			if q.grades[id] > 0 && !shown[id] {
				shown[id] = true
				relevant++
			}
		}
	}
	return relevant, tokens
}
