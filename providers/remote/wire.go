package remote

import (
	"time"

	"github.com/ragctx/ragctx"
)

// The events that requests carry.
const (
	EventQuery = "query"
	EventTurn  = "turn"
)

// Question is the body of a request for items. An answer is a JSON object with the
// list items, of which each needs id and content and can have context_type,
// relevance, source, metadata, depth and occurred; beside it can stand truncated and
// note, as in [ragctx.ContextResult]. Status 204 is an answer without items.
type Question struct {
	Event    string `json:"event"` // [EventQuery]
	Provider string `json:"provider"`
	// RequestID names the request in the logs of both sides. A repetition has the same.
	RequestID string `json:"request_id"`
	// Deadline is when nobody waits for the answer any more.
	Deadline time.Time           `json:"deadline"`
	Query    ragctx.ContextQuery `json:"query"`
}

// TurnNote is the body of a request that tells of a completed turn. Any status of 200,
// 202 and 204 takes note of it. A turn can be told of more than once: its id says so.
type TurnNote struct {
	Event     string `json:"event"` // [EventTurn]
	Provider  string `json:"provider"`
	RequestID string `json:"request_id"`
	SessionID string `json:"session_id"`
	// Prompt and Response are the exchange in short form, Messages in the long one; both
	// are always there.
	Prompt   string           `json:"prompt"`
	Response string           `json:"response"`
	Messages []ragctx.Message `json:"messages"`
	TurnID   string           `json:"turn_id"`

	Namespace string    `json:"namespace"`
	UserID    string    `json:"user_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	Occurred  time.Time `json:"occurred,omitzero"`
}
