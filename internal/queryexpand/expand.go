package queryexpand

import (
	"strings"

	"github.com/ragctx/ragctx"
)

// Wording is a text that is searched together with a question, whose own words
// have weight 1.
type Wording struct {
	Text   string
	Weight float64 // above 0
}

// Parameters of a query that switch the reading of it.
const (
	ParamFollowUp = "follow_up" // false: the messages are not read
	ParamFeedback = "feedback"  // true: the best hits add words, and the question is asked again
)

// queryWeight is what each of [ragctx.ContextQuery].Queries counts beside the
// question. With two good wordings 0.5 and 1 are alike (nDCG@10 1.00 and .98 on 20
// questions of testdata/followup), but a wrong one does less harm: a good question
// with one beside it falls from .93 to .86 at 0.5, and to .77 at 1.
const queryWeight = 0.5

// Reading is a question in more words.
type Reading struct {
	// Wordings are searched with the question; none if it stands by itself.
	Wordings []Wording
	// Leaning says how much the question leans on the messages before it, 0 (not at
	// all) to 1.
	Leaning float64
}

// Read returns everything that q says beside its question: other wordings of it,
// and the conversation where it leans on that.
func Read(q ragctx.ContextQuery) Reading {
	var r Reading
	for _, text := range q.Queries {
		r.Wordings = append(r.Wordings, Wording{text, queryWeight})
	}
	if q.Params[ParamFollowUp] != false {
		more, leaning := FollowUp(q.Query, q.Messages)
		r.Wordings, r.Leaning = append(r.Wordings, more...), leaning
	}
	return r
}

// Question returns q's question as one text for a reader that knows nothing of the
// conversation, such as a reranker: with the words that it leans on behind it, in
// brackets. A question that stands by itself is returned as it is.
func Question(q ragctx.ContextQuery) string {
	q.Queries = nil
	r := Read(q)
	if r.Leaning == 0 {
		return q.Query
	}
	texts := make([]string, len(r.Wordings))
	for i, w := range r.Wordings {
		texts[i] = w.Text
	}
	return q.Query + " (" + strings.Join(texts, "; ") + ")"
}

// Fed reports whether q asks for [Feedback].
func Fed(q ragctx.ContextQuery) bool { return q.Params[ParamFeedback] == true }
