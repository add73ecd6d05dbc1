package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/store"
)

// TurnRequest is a [ragctx.Turn] in JSON.
type TurnRequest struct {
	ID          string    `json:"id,omitempty" maxLength:"512" doc:"makes retries safe; default is a generated id"`
	Namespace   string    `json:"namespace,omitempty" maxLength:"512" doc:"default is \"default\""`
	UserID      string    `json:"user_id,omitempty" maxLength:"512"`
	AgentID     string    `json:"agent_id,omitempty" maxLength:"512"`
	SessionID   string    `json:"session_id,omitempty" maxLength:"512" doc:"conversation of the turn; without it, no facts are extracted"`
	Prompt      string    `json:"prompt,omitempty" doc:"the user's message" example:"Which port does staging use?"`
	Response    string    `json:"response,omitempty" doc:"the agent's answer" example:"Staging listens on 8443."`
	Messages    Messages  `json:"messages,omitempty" doc:"the turn as messages, in place of prompt and response"`
	Occurred    time.Time `json:"occurred,omitzero" doc:"end of the turn; default is now"`
	Success     *bool     `json:"success,omitempty" doc:"false for a turn that failed"`
	Confidence  *float64  `json:"confidence,omitempty" minimum:"0" maximum:"1"`
	ExecutionID string    `json:"execution_id,omitempty" maxLength:"512"`
	Tags        []string  `json:"tags,omitempty" maxItems:"64"`
	Metadata    Metadata  `json:"metadata,omitempty" doc:"at most 64 KiB of JSON"`
}

func (r TurnRequest) turn() ragctx.Turn {
	return ragctx.Turn{
		ID: r.ID, Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.SessionID,
		Prompt: r.Prompt, Response: r.Response, Messages: r.Messages, Occurred: r.Occurred, Success: r.Success,
		Confidence:  r.Confidence,
		ExecutionID: r.ExecutionID, Tags: r.Tags, Metadata: r.Metadata,
	}
}

// turnRequest converts a turn for a request.
func turnRequest(t ragctx.Turn) TurnRequest {
	return TurnRequest{
		ID: t.ID, Namespace: t.Namespace, UserID: t.UserID, AgentID: t.AgentID, SessionID: t.SessionID,
		Prompt: t.Prompt, Response: t.Response, Messages: t.Messages, Occurred: t.Occurred, Success: t.Success,
		Confidence:  t.Confidence,
		ExecutionID: t.ExecutionID, Tags: t.Tags, Metadata: t.Metadata,
	}
}

type turnInput struct{ Body TurnRequest }

type turnOutput struct {
	Status int
	Body   engine.TurnResult
}

func (s *Server) turnRoutes() {
	register(s, huma.Operation{
		OperationID: "complete-turn", Method: http.MethodPost, Path: "/v1/turns", Tags: []string{coreGroup},
		Summary: "Store a turn", DefaultStatus: http.StatusCreated,
		Description: "Stores a turn word for word. It is durable and searchable when the server answers. An " +
			"identical turn is 200; a different turn with the same id is 409, and so is a turn whose memory was " +
			"deleted.",
	}, s.completeTurn, http.StatusOK)
}

func (s *Server) completeTurn(ctx context.Context, in *turnInput) (*turnOutput, error) {
	t := in.Body.turn()
	t.ID = cmp.Or(t.ID, seedOf(ctx))
	res, err := s.engine.CompleteTurn(ctx, t)
	return &turnOutput{created(res.Status), res}, err
}

// created returns the HTTP status of a write.
func created(st store.Status) int {
	switch st {
	case store.Created:
		return http.StatusCreated
	case store.InQuarantine:
		return http.StatusAccepted
	default:
		return http.StatusOK
	}
}
