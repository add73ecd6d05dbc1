package passage

import (
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/expand"
	"github.com/ragctx/ragctx/index"
)

// Wordings returns what a query is searched for beside its question: its other
// wordings, and words of the conversation where it leans on that.
func Wordings(q ragctx.ContextQuery) []index.Wording { return Weighted(expand.Read(q).Wordings) }

// wording returns the question in all its words.
func wording(r Request) string {
	texts := []string{r.Query.Query}
	for _, w := range r.Search.More {
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, "\n")
}

// Weighted returns wordings as an index takes them.
func Weighted(in []expand.Wording) []index.Wording {
	var out []index.Wording
	for _, w := range in {
		out = append(out, index.Wording(w))
	}
	return out
}

// signalFollowUp names how much the question leans on the messages before it, 0 to
// 1, among the signals of an explained item. It is the same for all items.
const signalFollowUp = "follow_up"

// explainReading adds to an item's signals how the question was read.
func explainReading(q ragctx.ContextQuery, s index.Query, items []ragctx.ContextItem) {
	if !q.Explain || len(s.More) == 0 {
		return
	}
	leaning := expand.Read(q).Leaning
	if leaning == 0 {
		return
	}
	for i := range items {
		items[i].Signals[signalFollowUp] = leaning
	}
}
