package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/stage"
)

// SessionAssembleRequest requests a complete model call of a session. Its messages follow those of
// the session.
type SessionAssembleRequest struct {
	Said
	AssembleOptions

	UsedTokens  int    `json:"used_tokens,omitempty" minimum:"0" maximum:"10000000"`
	Leaf        string `json:"leaf,omitempty" maxLength:"512"`
	ExecutionID string `json:"execution_id,omitempty" maxLength:"512"`
}

// SessionAssembleAnswer is the input of a model call.
type SessionAssembleAnswer struct {
	AssembleAnswer

	Pipeline []StageReport    `json:"pipeline" nullable:"false" doc:"report of each stage, in order"`
	Layer    stage.Layer      `json:"layer" enum:"any,observation,compaction,buffer,none"`
	Hidden   []HiddenMessages `json:"hidden" nullable:"false"`
	Rules
	Compactions  []string `json:"compactions,omitempty"`
	Observations int      `json:"observations" doc:"number of observations"`
	Leaf         string   `json:"leaf,omitempty" doc:"last message of the branch"`
}

// StageReport is the result of a stage.
type StageReport stage.Report

type (
	sessionAssembleInput struct {
		SessionKey
		Body SessionAssembleRequest
	}
	sessionAssembleOutput struct{ Body SessionAssembleAnswer }
)

func (s *Server) sessionAssembleRoutes() {
	register(s, huma.Operation{
		OperationID: "assemble-session", Method: http.MethodPost, Path: verbPath(sessionsRoot,
			"assemble"), Tags: []string{conversationsGroup}, Summary: "Assemble a model call of a session",
		Description: "Runs the session's stages (observations, compaction if due, truncation, configured ones), " +
			"retrieves context and divides the token budget. Messages of the request follow those of the session " +
			"and are not stored; persistent stage results are. Call it before each model call, and append the " +
			"output of the model and its tools.",
	}, s.assembleSession)
}

func (s *Server) assembleSession(ctx context.Context, in *sessionAssembleInput) (*sessionAssembleOutput, error) {
	messages, losses, err := s.parseAppended(ctx, in.kept(), in.Body.Leaf, in.Body.Said)
	if err != nil {
		return nil, noMessageIn(err, "leaf")
	}
	c, err := in.Body.call(in.Body.Said, messages, losses)
	if err != nil {
		return nil, err
	}
	a, err := s.engine.Sessions().Assemble(ctx, in.kept(), engine.SessionRequest{
		Request: c.Request, Leaf: in.Body.Leaf, Execution: session.Execution{ID: in.Body.ExecutionID},
		Used: in.Body.UsedTokens,
	})
	if err != nil {
		return nil, noMessageIn(err, "leaf")
	}
	out := SessionAssembleAnswer{
		Layer: cmp.Or(a.Stages.Layer, anyLayer), Observations: len(a.Stages.Notes), Hidden: hiddenOf(a.Stages.DropTotals),
		Rules: rulesOf(a.Stages.Rules, a.Stages.RulesLeftOut),
	}
	for _, r := range a.Stages.Reports {
		out.Pipeline = append(out.Pipeline, StageReport(r))
	}
	for _, c := range a.Stages.Records {
		out.Compactions = append(out.Compactions, c.ID)
	}
	if n := len(a.Stages.Path); n > 0 {
		out.Leaf = a.Stages.Path[n-1]
	}
	c.stored = len(a.Stages.Messages)
	if out.AssembleAnswer, err = c.answer(a.Assembled); err != nil {
		return nil, err
	}
	out.drop(append(droppedBefore(a, out.Dropped), out.Dropped...))
	return &sessionAssembleOutput{out}, nil
}

// droppedBefore returns the messages that the session's view omitted or truncated before the
// stages. A message of which the rest was dropped later is reported only there, with the tokens of
// both.
func droppedBefore(a engine.AssembledSession, since []DroppedMessage) []DroppedMessage {
	rest := make(map[string]*DroppedMessage)
	for i, cut := range a.View.Dropped {
		if cut.Index < len(a.Stages.Messages) { // excludes messages of the request
			rest[since[i].ID] = &since[i]
		}
	}
	out := make([]DroppedMessage, 0, len(a.Stages.Dropped))
	for _, c := range a.Stages.Dropped {
		if d := rest[c.ID]; d != nil {
			d.Tokens += c.Tokens
			continue
		}
		out = append(out, DroppedMessage{ID: c.ID, Role: c.Role, Partial: c.Partial, Tokens: c.Tokens, Reason: c.Reason})
	}
	return out
}
