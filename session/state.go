package session

import (
	"encoding/json"
	"time"
)

// State is a context with the state of its agent, in the format of the systems that ragctx
// continues. ragctx runs no agents and stores their fields unread.
type State struct {
	AgentID       string    `json:"agentId"`
	ParentAgentID string    `json:"parentAgentId,omitempty"`
	CreatedAt     time.Time `json:"createdAt,omitzero"`
	UpdatedAt     time.Time `json:"updatedAt,omitzero"`
	Context       Context   `json:"context"`
	// LLMConfig and Execution are JSON; Execution is null between two executions.
	LLMConfig      json.RawMessage `json:"llmConfig,omitempty"`
	ExecutionCount int             `json:"executionCount"`
	Execution      json.RawMessage `json:"execution"`
}
