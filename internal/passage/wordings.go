package passage

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/queryexpand"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Wordings returns what a query is searched for beside its question: its other
// wordings, and words of the conversation where it leans on that.
func Wordings(q ragctx.ContextQuery) []index.Wording { return Weighted(queryexpand.Expand(q).Wordings) }

// ParamPhrases is the parameter of a query that, when true, makes a must of what it puts
// into quotation marks. A search has it unless it says otherwise; what quotes in a
// prompt is mostly no search, and is found better by its words.
const ParamPhrases = "phrases"

// Phrases returns the phrases of a query that every passage found is to have.
func Phrases(q ragctx.ContextQuery) []analysis.Phrase {
	if q.Params[ParamPhrases] != true {
		return nil
	}
	return analysis.Phrases(q.Query)
}

// ParamPatterns is the parameter of a query that, when true, has words with a mark behind
// them stand for others: storm* for what begins so, storm~ for what is spelt nearly so.
// A search has it unless it says otherwise; in a prompt such marks mean something else.
const ParamPatterns = "patterns"

// Patterns returns the patterns of a query, whose words are searched for as well.
func Patterns(q ragctx.ContextQuery) []analysis.Pattern {
	if q.Params[ParamPatterns] != true {
		return nil
	}
	return analysis.Patterns(q.Query)
}

// ParamSpelling is the parameter of a query that, when false, has its words searched for
// as they are written alone, also those that no text has.
const ParamSpelling = "spelling"

// Spelling reports whether words that no text has are read as words that texts have.
func Spelling(q ragctx.ContextQuery) bool { return q.Params[ParamSpelling] != false }

// holds reports whether a unit has all phrases, each in its text, its headings or, as the
// first of its item, its title.
func holds(phrases []analysis.Phrase, u *Unit, it *Item) bool {
	for i := range phrases {
		p := &phrases[i]
		if !p.In(u.Text) && !slices.ContainsFunc(u.Heading, p.In) && (u.Ordinal > 0 || !p.In(it.Title)) {
			return false
		}
	}
	return true
}

// wording returns the question in all its words.
func wording(r Request) string {
	texts := []string{r.Query.Query}
	for _, w := range r.Search.More {
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, "\n")
}

// Weighted returns wordings as an index takes them.
func Weighted(in []queryexpand.Wording) []index.Wording {
	var out []index.Wording
	for _, w := range in {
		out = append(out, index.Wording{Text: w.Text, Weight: w.Weight})
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
	leaning := queryexpand.Expand(q).Dependence
	if leaning == 0 {
		return
	}
	for i := range items {
		items[i].Signals[signalFollowUp] = leaning
	}
}
