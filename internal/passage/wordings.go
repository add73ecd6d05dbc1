package passage

import (
	"slices"
	"strings"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/queryexpand"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Wordings returns the wordings of a query in addition to its question: wordings of the caller, and
// words of the conversation for a follow-up question.
func Wordings(q ragctx.ContextQuery) []index.Wording {
	return IndexWordings(queryexpand.Expand(q).Wordings)
}

// Sentences returns the sentences of the question that are searched by themselves, too.
func Sentences(q ragctx.ContextQuery) (out []index.Sentence) {
	for _, s := range queryexpand.Asking(q.Query) {
		out = append(out, index.Sentence{Text: s})
	}
	return out
}

// ParamPhrases is the parameter of a query that, when true, requires hits to contain its quoted
// phrases. Searches set it by default. Prompts do not: a quotation in a prompt is rarely meant as a
// search, and its words find it better.
const ParamPhrases = "phrases"

// Phrases returns the phrases that every passage must contain.
func Phrases(q ragctx.ContextQuery) []analysis.Phrase {
	if q.Params[ParamPhrases] != true {
		return nil
	}
	return analysis.Phrases(q.Query)
}

// ParamPatterns is the parameter of a query that, when true, enables patterns: storm* for words
// with that prefix, storm~ for words with nearly that spelling. Searches set it by default; in a
// prompt such marks mean something else.
const ParamPatterns = "patterns"

// Patterns returns the patterns of a query. Words that match them are searched for as well.
func Patterns(q ragctx.ContextQuery) []analysis.Pattern {
	if q.Params[ParamPatterns] != true {
		return nil
	}
	return analysis.Patterns(q.Query)
}

// ParamSpelling is the parameter of a query that, when false, disables the correction of unknown
// words.
const ParamSpelling = "spelling"

// Spelling reports whether unknown words are corrected to known ones.
func Spelling(q ragctx.ContextQuery) bool { return q.Params[ParamSpelling] != false }

// holds reports whether a chunk contains all phrases, each in its text, its headings or, for the
// first chunk of an item, the title.
func holds(phrases []analysis.Phrase, u *Chunk, it *Item) bool {
	for i := range phrases {
		p := &phrases[i]
		if !p.In(u.Text) && !slices.ContainsFunc(u.Heading, p.In) && (u.Ordinal > 0 || !p.In(it.Title)) {
			return false
		}
	}
	return true
}

// wording returns the question and all wordings as one text.
func wording(r Request) string {
	texts := []string{r.Query.Query}
	for _, w := range r.Search.More {
		texts = append(texts, w.Text)
	}
	return strings.Join(texts, "\n")
}

// IndexWordings converts wordings for an index.
func IndexWordings(in []queryexpand.Wording) []index.Wording {
	var out []index.Wording
	for _, w := range in {
		out = append(out, index.Wording{Text: w.Text, Weight: w.Weight})
	}
	return out
}

// signalFollowUp is the signal, in an explained item, of how much the question depends on the
// messages before it, 0 to 1. It is the same for all items.
const signalFollowUp = "follow_up"

// ExplainFollowUp adds the dependence of the question to the signals of items.
func ExplainFollowUp(q ragctx.ContextQuery, s index.Query, items []ragctx.ContextItem) {
	if !q.Explain || len(s.More) == 0 {
		return
	}
	dependence := queryexpand.Expand(q).Dependence
	if dependence == 0 {
		return
	}
	for i := range items {
		items[i].Signals[signalFollowUp] = dependence
	}
}
