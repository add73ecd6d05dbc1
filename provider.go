package ragctx

import (
	"context"
	"time"
)

// ContextProvider is a source of context. Providers are queried in parallel.
type ContextProvider interface {
	// Name is short, stable and unique among the providers of an engine. It
	// names the provider in answers, events, logs and metrics.
	Name() string
	// Query returns the items that answer q, best first. It respects q's types,
	// depth, caps, scope and times, and returns soon after ctx is done. The
	// result belongs to the caller. Query is called concurrently.
	Query(ctx context.Context, q ContextQuery) (ContextResult, error)
}

// TurnObserver is implemented by providers that learn from conversations.
type TurnObserver interface {
	// OnTurnComplete is called after a turn has been stored and acknowledged,
	// once per turn and in order within a session, and only for successful turns
	// that have a session. An error is logged; it never fails the turn.
	OnTurnComplete(ctx context.Context, turn Turn) error
}

// FailureMode says what the failure of a provider, or of a stage, does to the answer.
type FailureMode int

// The failure modes.
const (
	BestEffort FailureMode = iota // log it, report it, answer without it; the default
	FailClosed                    // fail the request
)

// FailurePolicy is implemented by providers and stages whose failure mode is not [BestEffort].
type FailurePolicy interface {
	FailureMode() FailureMode
}

// Selective is implemented by providers that only some queries are for.
type Selective interface {
	// Concerns reports whether to ask the provider. One that is not asked is not part
	// of the answer's report.
	Concerns(q ContextQuery) bool
}

// Turn is one exchange between a user and an agent.
type Turn struct {
	// ID is chosen by the server unless given.
	ID        string `json:"id,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	UserID    string `json:"user_id,omitempty"`
	AgentID   string `json:"agent_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// Prompt and Response are the exchange in short form. Messages is the long
	// form with tool calls, in place of Prompt and Response.
	Prompt   string    `json:"prompt,omitempty"`
	Response string    `json:"response,omitempty"`
	Messages []Message `json:"messages,omitempty"`
	// Occurred is when the turn ended; zero means now.
	Occurred time.Time `json:"occurred,omitzero"`
	// Success is nil or true for a turn that reached its answer.
	Success *bool `json:"success,omitempty"`
	// Confidence is how sure the agent is of the turn's answer, 0 to 1; nil is unknown.
	Confidence  *float64       `json:"confidence,omitempty"`
	ExecutionID string         `json:"execution_id,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
}

// Transcript returns the turn as messages: Messages if there are any, else a
// user and an assistant message made of Prompt and Response.
func (t Turn) Transcript() []Message {
	if len(t.Messages) > 0 {
		return t.Messages
	}
	var out []Message
	if t.Prompt != "" {
		out = append(out, TextMessage(RoleUser, t.Prompt))
	}
	if t.Response != "" {
		out = append(out, TextMessage(RoleAssistant, t.Response))
	}
	return out
}

// Succeeded reports whether the turn reached its answer.
func (t Turn) Succeeded() bool { return t.Success == nil || *t.Success }
