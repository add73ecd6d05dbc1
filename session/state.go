package session

import (
	"encoding/json"
	"time"
)

// State is a context with what its agent is doing, as the systems that ragctx continues
// write it. ragctx runs no agents: what only they understand is kept as it is.
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
