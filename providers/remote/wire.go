package remote

import (
	"time"

	"github.com/ragctx/ragctx"
)

// The values of event in requests.
const (
	EventQuery = "query"
	EventTurn  = "turn"
)

// Question is the body of a query. The answer is a JSON object with the list items. Each item needs
// id and content and may have context_type, relevance, source, metadata, depth and occurred. The
// object may also have truncated and note, as in [ragctx.ContextResult]. Status 204 is an answer
// without items.
type Question struct {
	Event    string `json:"event"` // [EventQuery]
	Provider string `json:"provider"`
	// RequestID identifies the request in the logs of both sides. A retry has the same id.
	RequestID string `json:"request_id"`
	// Deadline is the time after which the answer is not used.
	Deadline time.Time           `json:"deadline"`
	Query    ragctx.ContextQuery `json:"query"`
}

// TurnNote is the body of a request that delivers a completed turn. Status 200, 202 and 204
// acknowledge it. A turn may be delivered more than once, with the same id.
type TurnNote struct {
	Event     string `json:"event"` // [EventTurn]
	Provider  string `json:"provider"`
	RequestID string `json:"request_id"`
	SessionID string `json:"session_id"`
	// Prompt and Response are the short form of the exchange, Messages the long form. Both are
	// always present.
	Prompt   string           `json:"prompt"`
	Response string           `json:"response"`
	Messages []ragctx.Message `json:"messages"`
	TurnID   string           `json:"turn_id"`

	Namespace string    `json:"namespace"`
	UserID    string    `json:"user_id,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"`
	Occurred  time.Time `json:"occurred,omitzero"`
}
