package api

import (
	"slices"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/session"
)

// maxListedDropped is how many omitted messages an answer lists; it counts the others.
const maxListedDropped = 100

// DroppedMessage is an omitted or truncated message.
type DroppedMessage struct {
	Index   *int           `json:"index,omitempty"`
	ID      string         `json:"id,omitempty"`
	Role    ragctx.Role    `json:"role"`
	Partial bool           `json:"partial,omitempty" doc:"the message was truncated, not omitted"`
	Tokens  int            `json:"tokens" doc:"tokens saved"`
	Reason  session.Reason `json:"reason" enum:"budget,boundary,orphan_result,unanswered_call,empty"`
}

// DroppedTotal counts the messages omitted or truncated for one reason.
type DroppedTotal struct {
	Reason   session.Reason `json:"reason" enum:"budget,boundary,orphan_result,unanswered_call,empty"`
	Messages int            `json:"messages" doc:"number of messages"`
	Partial  int            `json:"partial,omitempty" doc:"number of truncated messages among them"`
	Tokens   int            `json:"tokens" doc:"tokens saved"`
}

// droppedTotals counts omitted messages by reason, in order of first occurrence.
func droppedTotals[D any](list []D, of func(D) (why session.Reason, partial bool, tokens int)) []DroppedTotal {
	out := []DroppedTotal{}
	for _, d := range list {
		why, partial, tokens := of(d)
		i := slices.IndexFunc(out, func(t DroppedTotal) bool { return t.Reason == why })
		if i < 0 {
			i = len(out)
			out = append(out, DroppedTotal{Reason: why})
		}
		out[i].Messages++
		out[i].Tokens += tokens
		if partial {
			out[i].Partial++
		}
	}
	return out
}

// drop adds the first omitted messages and the totals of all to an answer.
func (a *AssembleAnswer) drop(all []DroppedMessage) {
	a.DroppedTotals = droppedTotals(all, func(d DroppedMessage) (session.Reason, bool, int) {
		return d.Reason, d.Partial, d.Tokens
	})
	a.Dropped = all[:min(len(all), maxListedDropped)]
}
