package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/providers/memory"
)

// outcomeRequest is the outcome of an agent's task.
type outcomeRequest struct {
	ID        string    `json:"id,omitempty" maxLength:"512" doc:"memory id; default is a generated id"`
	Namespace string    `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	UserID    string    `json:"user_id,omitempty" maxLength:"512"`
	AgentID   string    `json:"agent_id,omitempty" maxLength:"512"`
	SessionID string    `json:"session_id,omitempty" maxLength:"512"`
	Prompt    string    `json:"prompt" doc:"the task, at most 16 KiB" example:"Roll back the last release."`
	Tools     []string  `json:"tools,omitempty" maxItems:"256" example:"[\"git\", \"deploy\"]"`
	Result    string    `json:"result,omitempty" doc:"result of a successful task"`
	Error     string    `json:"error,omitempty" doc:"error of a failed task, at most 16 KiB"`
	Occurred  time.Time `json:"occurred,omitzero" doc:"default is now"`
}

type outcomeInput struct{ Body outcomeRequest }

const outcomePath = `/v1/memories\:outcome`

func (s *Server) outcomeRoutes() {
	register(s, huma.Operation{
		OperationID: "remember-outcome", Method: http.MethodPost, Path: outcomePath, Tags: []string{coreGroup},
		Summary: "Record the outcome of a task", DefaultStatus: http.StatusCreated,
		Description: "A result is stored as a procedural memory of importance 0.8 with the tags success and " +
			"pattern; an error as an episodic memory of importance 0.9 with the tags failure and avoid.",
	}, s.rememberOutcome, http.StatusOK)
}

func (s *Server) rememberOutcome(ctx context.Context, in *outcomeInput) (*memoryPutOutput, error) {
	r := in.Body
	m, status, err := s.engine.Memories().PutOutcome(ctx, ragctx.Memory{
		ID: cmp.Or(r.ID, seedOf(ctx)), Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID,
		SessionID: r.SessionID, Occurred: r.Occurred,
	}, memory.Outcome{Prompt: r.Prompt, Tools: r.Tools, Result: r.Result, Error: r.Error})
	return toMemoryPut(created(status), m, status), err
}
