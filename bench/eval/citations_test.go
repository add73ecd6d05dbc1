package eval

import (
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/xmlfmt"
)

// mostCitationTokens is the largest allowed mean cost of an item's citation in any format.
const mostCitationTokens = 30

// TestCitationsAreCheap counts the tokens of ids, titles, pages and lines per item.
func TestCitationsAreCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("asks an engine hundreds of questions, one after the other")
	}
	s := readMixed(t)
	eng := s.fill(t)
	counter, err := tokens.New(ragctx.DefaultTokenizer)
	must(t, err)
	items := make(map[ragctx.ContextType][]ragctx.ContextItem)
	for _, q := range s.questions {
		a, err := eng.Context(t.Context(), ragctx.ContextQuery{Query: q.Text, UserID: q.Metadata.User, Now: mixedNow()})
		must(t, err)
		for _, it := range a.Items {
			items[it.Type] = append(items[it.Type], it)
		}
	}
	for _, format := range xmlfmt.Names() {
		cited, err := xmlfmt.New(format)
		must(t, err)
		bare := xmlfmt.Uncited(cited)
		for _, kind := range []ragctx.ContextType{ragctx.TypeResource, ragctx.TypeMemory} {
			var with, without int
			for _, it := range items[kind] {
				with += counter.Count(cited.Render([]ragctx.ContextItem{it}))
				without += counter.Count(bare.Render([]ragctx.ContextItem{it}))
			}
			n := float64(len(items[kind]))
			mean := float64(with-without) / n
			t.Logf("%s, %s: %.1f tokens more than %.1f, %.0f items", format, kind, mean, float64(without)/n, n)
			if !(mean > 0 && mean <= mostCitationTokens) {
				t.Errorf("%s, %s: citing an item takes %.1f tokens", format, kind, mean)
			}
		}
	}
}
