package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/session/assemble"
)

// AssembleRequest requests a complete model call.
type AssembleRequest struct {
	Said
	AssembleOptions

	Namespace     string `json:"namespace,omitempty" maxLength:"512"`
	UserID        string `json:"user_id,omitempty" maxLength:"512"`
	SessionID     string `json:"session_id,omitempty" maxLength:"512"`
	ContextTokens *int   `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000"`
}

// AssembleOptions are the parts of a model call besides its conversation.
type AssembleOptions struct {
	SystemPrompt string            `json:"system_prompt,omitempty"`
	Query        string            `json:"query,omitempty" maxLength:"65536"`
	Phase        string            `json:"phase,omitempty" enum:"loop,synthesis" default:"loop"`
	Placement    string            `json:"placement,omitempty" enum:"blocks,prepend,inline"`
	Tools        []json.RawMessage `json:"tools,omitempty" maxItems:"1000"`
	ToolsTokens  int               `json:"tools_tokens,omitempty" minimum:"0" maximum:"10000000"`
	Budget       AssembleBudget    `json:"budget,omitzero" doc:"token budget of the call"`
	AgentID      string            `json:"agent_id,omitempty" maxLength:"512"`
	Context      AssembleContext   `json:"context,omitzero" doc:"retrieval settings, as for /v1/context"`
	CacheControl *bool             `json:"cache_control,omitempty"`
}

// AssembleBudget divides the tokens of a call.
type AssembleBudget struct {
	Window        int     `json:"window,omitempty" minimum:"1" maximum:"10000000"`
	ReserveOutput int     `json:"reserve_output,omitempty" minimum:"-1" maximum:"10000000"`
	ContextShare  float64 `json:"context_share,omitempty" minimum:"-1" maximum:"1"`
}

// AssembleContext is a [contextRequest] without the fields that an [AssembleRequest] has itself.
type AssembleContext contextRequest

// TransformSchema implements [huma.SchemaTransformer].
func (AssembleContext) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	contextRequest{}.TransformSchema(r, s)
	for _, name := range []string{"query", "messages", "namespace", "user_id", "agent_id", "session_id", "blocks"} {
		delete(s.Properties, name)
	}
	s.Required = nil
	return s
}

// MarshalJSON implements [json.Marshaler]. It omits the query, which servers reject here even if it
// is empty.
func (c AssembleContext) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		contextRequest

		Query string `json:"query,omitempty"`
	}{contextRequest: contextRequest(c), Query: c.Query})
}

// AssembleAnswer is the input of a model call.
type AssembleAnswer struct {
	SystemPrompt  string               `json:"system_prompt,omitempty"`
	Format        string               `json:"format" enum:"ragctx,openai,anthropic,gemini"`
	System        json.RawMessage      `json:"system,omitempty"`
	Messages      []json.RawMessage    `json:"messages" nullable:"false"`
	Losses        []FormLoss           `json:"losses,omitempty" doc:"content that the format cannot express"`
	Blocks        []AssembledBlock     `json:"blocks" nullable:"false"`
	Items         []ragctx.ContextItem `json:"items" nullable:"false" doc:"items of the blocks"`
	Budget        assemble.Report      `json:"budget" doc:"token usage by part"`
	Dropped       []DroppedMessage     `json:"dropped" nullable:"false"`
	DroppedTotals []DroppedTotal       `json:"dropped_totals" nullable:"false"`
	Context       *AssembledContext    `json:"context,omitempty" doc:"report on retrieval; absent without retrieval"`
	Note          string               `json:"note,omitempty" doc:"missing parts, with the reason"`
}

// AssembledBlock is a block with its place.
type AssembledBlock struct {
	resolve.PromptBlock

	Place string `json:"place" enum:"system_prompt_end,before_last_user_message"`
}

// AssembledContext reports how the context was found.
type AssembledContext struct {
	Query     string                   `json:"query" doc:"query used for retrieval"`
	Truncated bool                     `json:"truncated" doc:"more results exist than are shown"`
	Providers []resolve.ProviderReport `json:"providers" nullable:"false"`
	Dropped   []resolve.Dropped        `json:"dropped" nullable:"false"`
	Shortened []resolve.Shortened      `json:"shortened" nullable:"false"`
	Degraded  []string                 `json:"degraded" nullable:"false"`
	Note      string                   `json:"note,omitempty" doc:"reason for an empty result"`
}

// places maps each block to its place.
var places = map[string]string{resolve.Stable: "system_prompt_end", resolve.Volatile: "before_last_user_message"}

type (
	assembleInput  struct{ Body AssembleRequest }
	assembleOutput struct{ Body AssembleAnswer }
)

func (s *Server) assembleRoutes() {
	register(s, huma.Operation{
		OperationID: "assemble", Method: http.MethodPost, Path: "/v1/assemble", Tags: []string{coreGroup},
		Summary: "Assemble a model call",
		Description: "Retrieves context and divides the token budget among system prompt, tools, context and " +
			"conversation. The oldest messages are dropped first, and a tool call is never separated from its " +
			"result. Nothing is stored. The answer is deterministic as long as no data changes.",
	}, s.assemble)
	s.sessionAssembleRoutes()
}

func (s *Server) assemble(ctx context.Context, in *assembleInput) (*assembleOutput, error) {
	messages, losses, err := s.parseMessages(in.Body.Said, "messages")
	if err != nil {
		return nil, err
	}
	c, err := in.Body.call(messages, losses)
	if err != nil {
		return nil, err
	}
	a, err := s.engine.Assemble(ctx, c.Request)
	if err != nil {
		return nil, err
	}
	out, err := c.Answer(a)
	return &assembleOutput{out}, err
}
