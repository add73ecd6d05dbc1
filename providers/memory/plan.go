package memory

import (
	"cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/timeexpr"
)

// Options says how memories are ranked. The zero value works.
type Options struct {
	Weights  Weights        // of importance and recency
	Fusion   index.Fusion   // of words and vectors; VectorShare 0 means [DefaultVectorShare]
	Dialogue index.Dialogue // of what stands around a turn, and who said it
	// TimeWeight is that of lying within the time that a question names; 0 means
	// [index.DefaultTimeWeight], negative none.
	TimeWeight float64
}

// DefaultVectorShare is the part of the embedder's weight that its cosines have among
// memories: a turn is short, and the cosine of few words is more of chance. More
// than that is significantly worse on long dialogues than words alone.
const DefaultVectorShare = 1.0 / 3

// Parameters of a query, by which it switches features off.
const (
	ParamDialogue = "dialogue" // false: what stands around a turn and who said it do not count
	ParamTime     = "time"     // false: the question is not read for times
)

// Plan returns how a question is searched for among memories, without the number
// of hits.
func (o Options) Plan(q ragctx.ContextQuery) index.Query {
	plan := index.Query{
		Text:    q.Query,
		Phrases: passage.Phrases(q), Patterns: passage.Patterns(q), Spelling: passage.Spelling(q),
		More:   passage.Wordings(q),
		Scope:  index.Scope{User: q.UserID, Agent: q.AgentID, Session: q.SessionID},
		Filter: q.Filter, AsOf: q.AsOf, Now: q.Now, Exact: q.Exact, Explain: q.Explain,
		Fusion: o.Fusion,
	}
	plan.Fusion.VectorShare = cmp.Or(plan.Fusion.VectorShare, DefaultVectorShare)
	if q.Params[ParamDialogue] != false {
		d := o.Dialogue
		d.AsksWhen = asksWhen(q.Query)
		plan.Dialogue = &d
	}
	if q.Params[ParamTime] != false {
		if r, ok := timeexpr.Read(q.Query, q.Now); ok {
			plan.Time = &index.Time{Reading: r, Weight: o.TimeWeight, List: r.Only && len(plan.More) == 0 && len(plan.Phrases) == 0}
		}
	}
	return plan
}
