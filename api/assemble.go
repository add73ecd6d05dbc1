package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/assemble"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/resolve"
	"github.com/ragctx/ragctx/session"
)

// AssembleRequest asks for everything that a model call is made of.
type AssembleRequest struct {
	SystemPrompt  string            `json:"system_prompt,omitempty" doc:"the agent's own"`
	Messages      Conversation      `json:"messages,omitzero" doc:"the conversation, oldest first, without the system prompt"`
	Query         string            `json:"query,omitempty" maxLength:"65536" doc:"what context is looked for; without it what the user said last"`
	Phase         string            `json:"phase,omitempty" enum:"loop,synthesis" default:"loop" doc:"what the model is called for: to go on, or for the final answer, which needs no tools"`
	Placement     string            `json:"placement,omitempty" enum:"blocks,prepend" default:"blocks" doc:"where context goes: blocks that the caller places, or after the system prompt and a blank line"`
	Tools         []json.RawMessage `json:"tools,omitempty" maxItems:"1000" doc:"definitions of tools as the model is sent them; only what they cost matters"`
	ToolsTokens   int               `json:"tools_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what the tools cost, where that is known; otherwise it is counted"`
	Budget        AssembleBudget    `json:"budget,omitzero" doc:"the tokens of the call"`
	Namespace     string            `json:"namespace,omitempty" maxLength:"512" doc:"a wall between tenants; default is the one called default"`
	UserID        string            `json:"user_id,omitempty" maxLength:"512" doc:"whose memories are seen beside those of no user"`
	AgentID       string            `json:"agent_id,omitempty" maxLength:"512" doc:"narrows memories to those of an agent"`
	SessionID     string            `json:"session_id,omitempty" maxLength:"512" doc:"narrows memories that answer the query to those of a session"`
	Context       AssembleContext   `json:"context,omitzero" doc:"how context is looked for, as for /v1/context"`
	ContextTokens *int              `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what the context costs that the caller keeps from the first call of this execution; nothing is looked for then"`
}

// AssembleBudget divides the tokens of a call.
type AssembleBudget struct {
	Total         int     `json:"total,omitempty" minimum:"1" maximum:"10000000" doc:"the model's window; default 200000"`
	ReserveOutput int     `json:"reserve_output,omitempty" minimum:"-1" maximum:"10000000" doc:"of these for what the model answers; default 4096, a quarter at most, -1 is none"`
	ContextShare  float64 `json:"context_share,omitempty" minimum:"-1" maximum:"1" doc:"how much of what the system prompt, the tools and the reserve leave context may take from the conversation; default 0.5, -1 is nothing"`
}

// AssembleContext is a [ContextRequest] without what stands elsewhere in an
// [AssembleRequest].
type AssembleContext ContextRequest

// TransformSchema implements [huma.SchemaTransformer].
func (AssembleContext) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	ContextRequest{}.TransformSchema(r, s)
	for _, name := range []string{"query", "messages", "namespace", "user_id", "agent_id", "session_id", "blocks"} {
		delete(s.Properties, name)
	}
	s.Required = nil
	return s
}

// Conversation is messages together with how they were sent, so that those which a view
// shows whole go back in the shape that they came in.
type Conversation struct {
	Messages []ragctx.Message
	sent     []json.RawMessage
}

// IsZero lets an empty conversation be left out.
func (c Conversation) IsZero() bool { return len(c.Messages) == 0 }

// Schema implements [huma.SchemaProvider].
func (Conversation) Schema(r huma.Registry) *huma.Schema {
	limit := assemble.MaxMessages
	return &huma.Schema{Type: huma.TypeArray, MaxItems: &limit, Items: r.Schema(reflect.TypeFor[message](), true, "")}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Conversation) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &c.sent); err != nil {
		return err
	}
	c.Messages = make([]ragctx.Message, len(c.sent))
	for i, raw := range c.sent {
		m := ragctx.Message{Role: ragctx.RoleUser}
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		c.Messages[i] = m
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (c Conversation) MarshalJSON() ([]byte, error) {
	if c.sent != nil {
		return json.Marshal(c.sent)
	}
	return json.Marshal(c.Messages)
}

// shown returns the messages of a view, those that are whole as they were sent.
func (c Conversation) shown(v session.View) ([]json.RawMessage, error) {
	partial := make(map[int]bool)
	for _, cut := range v.Cuts {
		partial[cut.Index] = true
	}
	out := make([]json.RawMessage, len(v.Messages))
	for i, m := range v.Messages {
		if at := v.Kept[i]; c.sent != nil && !partial[at] {
			out[i] = c.sent[at]
			continue
		}
		raw, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", v.Kept[i], err)
		}
		out[i] = raw
	}
	return out, nil
}

// Request returns the request in the engine's vocabulary.
func (r AssembleRequest) Request() (assemble.Request, error) {
	q, err := ContextRequest(r.Context).query()
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		f.Field = "context." + f.Field
	}
	q.Query, q.Namespace, q.UserID, q.AgentID, q.SessionID = r.Query, r.Namespace, r.UserID, r.AgentID, r.SessionID
	return assemble.Request{
		SystemPrompt: r.SystemPrompt, Messages: r.Messages.Messages, Context: q, Phase: assemble.Phase(r.Phase), Placement: assemble.Placement(r.Placement),
		Tools: r.Tools, ToolsTokens: r.ToolsTokens, KeptTokens: r.ContextTokens,
		Budget: assemble.Budget{Total: r.Budget.Total, Reserve: r.Budget.ReserveOutput, ContextShare: r.Budget.ContextShare},
	}, err
}

// AssembleAnswer is what a model is to be sent.
type AssembleAnswer struct {
	SystemPrompt string               `json:"system_prompt,omitempty" doc:"as it was sent, or with context after it; absent if there is neither"`
	Messages     []json.RawMessage    `json:"messages" nullable:"false" doc:"those that fit, in the shape that they were sent in"`
	Blocks       []AssembledBlock     `json:"blocks" nullable:"false" doc:"the stable and the volatile block; none if nothing was looked for"`
	Items        []ragctx.ContextItem `json:"items" nullable:"false" doc:"those of the blocks"`
	Budget       assemble.Report      `json:"budget" doc:"where the tokens went"`
	Dropped      []DroppedMessage     `json:"dropped" nullable:"false" doc:"messages that are not shown, or not whole, oldest first"`
	Context      *AssembledContext    `json:"context,omitempty" doc:"how the context came about; absent if nothing was looked for"`
	Note         string               `json:"note,omitempty" doc:"what is missing, and why"`
}

// AssembledBlock is a block with where it goes.
type AssembledBlock struct {
	resolve.PromptBlock

	Place string `json:"place" enum:"system_prompt_end,before_last_user_message" doc:"where it goes: the stable one after the system prompt, before a cache breakpoint; the volatile one after whatever is to come from a cache"`
}

// AssembledContext is how context came about.
type AssembledContext struct {
	Query     string                   `json:"query" doc:"what was looked for"`
	Truncated bool                     `json:"truncated" doc:"there was more than is shown"`
	Providers []resolve.ProviderReport `json:"providers" nullable:"false"`
	Dropped   []resolve.Dropped        `json:"dropped" nullable:"false"`
	Shortened []resolve.Shortened      `json:"shortened" nullable:"false"`
	Degraded  []string                 `json:"degraded" nullable:"false"`
	Note      string                   `json:"note,omitempty" doc:"why nothing answers the query"`
}

// DroppedMessage is a message that is not shown, or not whole.
type DroppedMessage struct {
	Index   int            `json:"index" doc:"of the message in the request"`
	ID      string         `json:"id,omitempty"`
	Role    ragctx.Role    `json:"role"`
	Partial bool           `json:"partial,omitempty" doc:"the rest of the message is shown"`
	Tokens  int            `json:"tokens" doc:"that were saved"`
	Reason  session.Reason `json:"reason" enum:"budget,boundary,orphan_result,unanswered_call" doc:"budget: newer ones took it; boundary: a conversation cannot begin with it; orphan_result: its call is not there; unanswered_call: the conversation went on without a result"`
}

// places are where the blocks go.
var places = map[string]string{resolve.Stable: "system_prompt_end", resolve.Volatile: "before_last_user_message"}

// NewAssembleAnswer returns the answer to a request.
func NewAssembleAnswer(r AssembleRequest, a engine.Assembled) (AssembleAnswer, error) {
	out := AssembleAnswer{
		SystemPrompt: a.SystemPrompt, Blocks: []AssembledBlock{}, Items: a.Context.Items, Budget: a.Budget, Dropped: []DroppedMessage{}, Note: a.Note,
	}
	if out.Items == nil {
		out.Items = []ragctx.ContextItem{}
	}
	for _, b := range a.Context.Blocks {
		out.Blocks = append(out.Blocks, AssembledBlock{b, places[b.Name]})
	}
	for _, c := range a.View.Cuts {
		m := r.Messages.Messages[c.Index]
		out.Dropped = append(out.Dropped, DroppedMessage{c.Index, m.ID, m.Role, c.Partial, c.Tokens, c.Reason})
	}
	if len(a.Context.Blocks) > 0 {
		out.Context = &AssembledContext{
			Query: a.Asked, Truncated: a.Context.Truncated, Providers: a.Context.Providers, Dropped: a.Context.Dropped,
			Shortened: a.Context.Shortened, Degraded: a.Context.Degraded, Note: a.Context.Note,
		}
	}
	var err error
	out.Messages, err = r.Messages.shown(a.View)
	return out, err
}

type (
	assembleInput  struct{ Body AssembleRequest }
	assembleOutput struct{ Body AssembleAnswer }
)

func (s *Server) assembleRoutes() {
	register(s, huma.Operation{
		OperationID: "assemble", Method: http.MethodPost, Path: "/v1/assemble", Tags: []string{"context"}, Summary: "Put a model call together",
		Description: "Looks for context, and divides the tokens of the call among the system prompt, tools, context and the conversation, whose oldest messages " +
			"are left out where no tool call is separated from its result. Nothing is stored. Equal requests have equal answers while nothing is written.",
	}, s.assemble)
}

func (s *Server) assemble(ctx context.Context, in *assembleInput) (*assembleOutput, error) {
	r, err := in.Body.Request()
	if err != nil {
		return nil, err
	}
	a, err := s.engine.Assemble(ctx, r)
	if err != nil {
		return nil, err
	}
	out, err := NewAssembleAnswer(in.Body, a)
	return &assembleOutput{out}, err
}
