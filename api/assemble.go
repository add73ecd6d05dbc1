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

// AssembleRequest asks for everything that a model call is made of.
type AssembleRequest struct {
	Said
	AssembleOptions

	Namespace     string `json:"namespace,omitempty" maxLength:"512" doc:"namespace of the tenant; default is \"default\""`
	UserID        string `json:"user_id,omitempty" maxLength:"512" doc:"user whose memories are included, besides shared ones; absent means shared memories only"`
	SessionID     string `json:"session_id,omitempty" maxLength:"512" doc:"restricts memories to this session and to those without a session"`
	ContextTokens *int   `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"tokens of the context that the caller kept from the first call of this execution; skips retrieval"`
}

// AssembleOptions say what a model call is to have beside its conversation.
type AssembleOptions struct {
	SystemPrompt string            `json:"system_prompt,omitempty" doc:"the agent's system prompt; in a vendor's format it may stand in the vendor's own place instead"`
	Query        string            `json:"query,omitempty" maxLength:"65536" doc:"query for retrieval; default is the last user message"`
	Phase        string            `json:"phase,omitempty" enum:"loop,synthesis" default:"loop" doc:"loop for another step, synthesis for the final answer, which needs no tools"`
	Placement    string            `json:"placement,omitempty" enum:"blocks,prepend,inline" doc:"where the context goes. blocks returns it for the caller to place (default in ragctx's format). prepend appends it to the system prompt after a blank line. inline (default in a vendor's format) puts the stable block after the system prompt and the volatile block before the last user message, in the same message"`
	Tools        []json.RawMessage `json:"tools,omitempty" maxItems:"1000" doc:"tool definitions as sent to the model; only their token count matters"`
	ToolsTokens  int               `json:"tools_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"token count of the tools, if known; default is to count them"`
	Budget       AssembleBudget    `json:"budget,omitzero" doc:"token budget of the call"`
	AgentID      string            `json:"agent_id,omitempty" maxLength:"512" doc:"restricts memories to this agent and to those without an agent"`
	Context      AssembleContext   `json:"context,omitzero" doc:"retrieval settings, as for /v1/context"`
	CacheControl *bool             `json:"cache_control,omitempty" doc:"false omits Anthropic's cache breakpoints. By default they follow the system prompt, precede the last two user messages and end the conversation; messages that carry their own breakpoints get no others"`
}

// AssembleBudget divides the tokens of a call.
type AssembleBudget struct {
	Window        int     `json:"window,omitempty" minimum:"1" maximum:"10000000" doc:"context window of the model in tokens, input and output together; default 200000"`
	ReserveOutput int     `json:"reserve_output,omitempty" minimum:"-1" maximum:"10000000" doc:"tokens of the window reserved for the output; default 4096, at most a quarter of the window; -1 reserves none"`
	ContextShare  float64 `json:"context_share,omitempty" minimum:"-1" maximum:"1" doc:"largest share of the tokens that remain after system prompt, tools and reserve that context may take; default 0.5, -1 is nothing"`
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

// MarshalJSON implements [json.Marshaler]: the query stands elsewhere, and servers refuse
// it here, also if it is empty, so that is left out.
func (c AssembleContext) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		ContextRequest

		Query string `json:"query,omitempty"`
	}{ContextRequest: ContextRequest(c), Query: c.Query})
}

// AssembleAnswer is what a model is to be sent.
type AssembleAnswer struct {
	SystemPrompt  string               `json:"system_prompt,omitempty" doc:"the system prompt as sent, or with context appended; absent if both are empty, and in a vendor's format, which has it in system or messages"`
	Format        string               `json:"format" enum:"ragctx,openai,anthropic,gemini" doc:"format of system and messages"`
	System        json.RawMessage      `json:"system,omitempty" doc:"system prompt outside the messages: Anthropic's system, Gemini's systemInstruction"`
	Messages      []json.RawMessage    `json:"messages" nullable:"false" doc:"messages that fit; in ragctx's format they keep their original shape"`
	Losses        []FormLoss           `json:"losses,omitempty" doc:"content that the format cannot express"`
	Blocks        []AssembledBlock     `json:"blocks" nullable:"false" doc:"the stable and the volatile block; empty without retrieval"`
	Items         []ragctx.ContextItem `json:"items" nullable:"false" doc:"items of the blocks"`
	Budget        assemble.Report      `json:"budget" doc:"token usage by part"`
	Dropped       []DroppedMessage     `json:"dropped" nullable:"false" doc:"messages omitted or truncated, oldest first, at most 100"`
	DroppedTotals []DroppedTotal       `json:"dropped_totals" nullable:"false" doc:"totals of all omitted and truncated messages by reason, including those beyond the first 100"`
	Context       *AssembledContext    `json:"context,omitempty" doc:"report on retrieval; absent without retrieval"`
	Note          string               `json:"note,omitempty" doc:"missing parts, with the reason"`
}

// AssembledBlock is a block with where it goes.
type AssembledBlock struct {
	resolve.PromptBlock

	Place string `json:"place" enum:"system_prompt_end,before_last_user_message" doc:"where the block goes, or already stands unless placement is blocks: the stable block after the system prompt and before a cache breakpoint, the volatile block after everything that a prompt cache should cover"`
}

// AssembledContext is how context came about.
type AssembledContext struct {
	Query     string                   `json:"query" doc:"query used for retrieval"`
	Truncated bool                     `json:"truncated" doc:"more results exist than are shown"`
	Providers []resolve.ProviderReport `json:"providers" nullable:"false"`
	Dropped   []resolve.Dropped        `json:"dropped" nullable:"false"`
	Shortened []resolve.Shortened      `json:"shortened" nullable:"false"`
	Degraded  []string                 `json:"degraded" nullable:"false"`
	Note      string                   `json:"note,omitempty" doc:"reason for an empty result"`
}

// places are where the blocks go.
var places = map[string]string{resolve.Stable: "system_prompt_end", resolve.Volatile: "before_last_user_message"}

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
	s.sessionAssembleRoutes()
}

func (s *Server) assemble(ctx context.Context, in *assembleInput) (*assembleOutput, error) {
	messages, losses, err := s.heard(in.Body.Said, "messages")
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
