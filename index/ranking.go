package index

import (
	"cmp"
	"math"

	"github.com/ragctx/ragctx"
)

// Ranking configures how the hits of one collection are scored. It applies at query time, so it can
// be changed at any time. A field of 0 stands for the caller's configuration or the default; a
// negative weight means none.
type Ranking struct {
	Keyword KeywordParams `json:"keyword,omitzero" doc:"parameters of the keyword score"`
	// Method and VectorWeight are fields of [Fusion].
	Method       string  `json:"method,omitempty" enum:"convex,rrf,keyword,vector"`
	VectorWeight float64 `json:"vector_weight,omitempty" minimum:"-100" maximum:"100"`
	// Conversation applies to memories, TimeWeight to all items with a time of occurrence.
	Conversation ConversationWeights `json:"dialogue,omitzero" doc:"weights of a remembered message's neighbors, session and speaker"`
	TimeWeight   float64             `json:"time_weight,omitempty" minimum:"-100" maximum:"100"`
}

// MaxWeight is the largest weight of a [Ranking] and of [KeywordParams].
const MaxWeight = 100

// Validate returns an error that names the first field that is out of range.
func (r Ranking) Validate() error {
	if err := r.Keyword.Validate(); err != nil {
		return err
	}
	if !validMethod(r.Method) {
		return ragctx.Invalid("method", "%q is unknown; use convex, rrf, keyword or vector", ragctx.Clip(r.Method))
	}
	for _, w := range [...]struct {
		field  string
		weight float64
	}{
		{"vector_weight", r.VectorWeight},
		{"dialogue.previous", r.Conversation.Previous},
		{"dialogue.next", r.Conversation.Next},
		{"dialogue.second", r.Conversation.Second},
		{"dialogue.session", r.Conversation.Session},
		{"dialogue.speaker", r.Conversation.Speaker},
		{"dialogue.user", r.Conversation.User},
		{"dialogue.timed", r.Conversation.Timed},
		{"time_weight", r.TimeWeight},
	} {
		if !(math.Abs(w.weight) <= MaxWeight) {
			return ragctx.Invalid(w.field, "is %v; use at most %d, 0 for the default, or a negative number for none", w.weight, MaxWeight)
		}
	}
	return nil
}

func validMethod(m string) bool {
	switch m {
	case "", "convex", "rrf", "keyword", "vector":
		return true
	}
	return false
}

// Apply sets the fields of q that r specifies.
func (r Ranking) Apply(q *Query) {
	q.Keyword = r.Keyword.or(q.Keyword)
	q.Fusion.Method = cmp.Or(r.Method, q.Fusion.Method)
	q.Fusion.VectorWeight = cmp.Or(r.VectorWeight, q.Fusion.VectorWeight)
	if q.Conversation != nil {
		d := r.Conversation.or(*q.Conversation)
		q.Conversation = &d
	}
	if q.Time != nil && r.TimeWeight != 0 {
		t := *q.Time
		t.Weight = r.TimeWeight
		q.Time = &t
	}
}

// or returns d with unset weights taken from other.
func (d ConversationWeights) or(other ConversationWeights) ConversationWeights {
	return ConversationWeights{
		Previous: cmp.Or(d.Previous, other.Previous),
		Next:     cmp.Or(d.Next, other.Next),
		Second:   cmp.Or(d.Second, other.Second),
		Session:  cmp.Or(d.Session, other.Session),
		Speaker:  cmp.Or(d.Speaker, other.Speaker),
		User:     cmp.Or(d.User, other.User),
		Timed:    cmp.Or(d.Timed, other.Timed),
		AsksWhen: other.AsksWhen,
	}
}
