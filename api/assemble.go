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

	Namespace     string `json:"namespace,omitempty" maxLength:"512" doc:"a wall between tenants; default is the one called default"`
	UserID        string `json:"user_id,omitempty" maxLength:"512" doc:"whose memories are seen beside those of no user"`
	SessionID     string `json:"session_id,omitempty" maxLength:"512" doc:"narrows memories that answer the query to those of a session"`
	ContextTokens *int   `json:"context_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what the context costs that the caller keeps from the first call of this execution; nothing is looked for then"`
}

// AssembleOptions say what a model call is to have beside its conversation.
type AssembleOptions struct {
	SystemPrompt string            `json:"system_prompt,omitempty" doc:"the agent's own. In the form of a vendor it may stand where the vendor has it instead"`
	Query        string            `json:"query,omitempty" maxLength:"65536" doc:"what context is looked for; without it what the user said last"`
	Phase        string            `json:"phase,omitempty" enum:"loop,synthesis" default:"loop" doc:"what the model is called for: to go on, or for the final answer, which needs no tools"`
	Placement    string            `json:"placement,omitempty" enum:"blocks,prepend,inline" doc:"where context goes: blocks that the caller places (the default in ragctx's own form), after the system prompt and a blank line, or inline (the default in the form of a vendor): the stable block after the system prompt, the other before what the user said last, in the same message"`
	Tools        []json.RawMessage `json:"tools,omitempty" maxItems:"1000" doc:"definitions of tools as the model is sent them; only what they cost matters"`
	ToolsTokens  int               `json:"tools_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what the tools cost, where that is known; otherwise it is counted"`
	Budget       AssembleBudget    `json:"budget,omitzero" doc:"the tokens of the call"`
	AgentID      string            `json:"agent_id,omitempty" maxLength:"512" doc:"narrows memories to those of an agent"`
	Context      AssembleContext   `json:"context,omitzero" doc:"how context is looked for, as for /v1/context"`
	CacheControl *bool             `json:"cache_control,omitempty" doc:"false leaves out the marks of Anthropic's form where a prompt's cache is to hold: behind the system prompt, before the two newest things that the user said, and at the end. Messages that have marks get no others"`
}

// AssembleBudget divides the tokens of a call.
type AssembleBudget struct {
	Window        int     `json:"window,omitempty" minimum:"1" maximum:"10000000" doc:"how many tokens the model takes and gives; default 200000"`
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
	SystemPrompt  string               `json:"system_prompt,omitempty" doc:"as it was sent, or with context after it; absent if there is neither, and in the form of a vendor, which has it in system or messages"`
	Format        string               `json:"format" enum:"ragctx,openai,anthropic,gemini" doc:"whose form system and messages have"`
	System        json.RawMessage      `json:"system,omitempty" doc:"the system prompt where it stands beside the messages: Anthropic's system, Gemini's systemInstruction"`
	Messages      []json.RawMessage    `json:"messages" nullable:"false" doc:"those that fit; in ragctx's own form in the shape that they were sent in"`
	Losses        []FormLoss           `json:"losses,omitempty" doc:"what cannot be said in the form"`
	Blocks        []AssembledBlock     `json:"blocks" nullable:"false" doc:"the stable and the volatile block; none if nothing was looked for"`
	Items         []ragctx.ContextItem `json:"items" nullable:"false" doc:"those of the blocks"`
	Budget        assemble.Report      `json:"budget" doc:"where the tokens went"`
	Dropped       []DroppedMessage     `json:"dropped" nullable:"false" doc:"messages that are not shown, or not whole, oldest first, 100 at most"`
	DroppedTotals []DroppedTotal       `json:"dropped_totals" nullable:"false" doc:"what all of them come to, by reason, also those that dropped does not name"`
	Context       *AssembledContext    `json:"context,omitempty" doc:"how the context came about; absent if nothing was looked for"`
	Note          string               `json:"note,omitempty" doc:"what is missing, and why"`
}

// AssembledBlock is a block with where it goes.
type AssembledBlock struct {
	resolve.PromptBlock

	Place string `json:"place" enum:"system_prompt_end,before_last_user_message" doc:"where it goes, or is already with another placement than blocks: the stable one after the system prompt, before a cache breakpoint; the volatile one after whatever is to come from a cache"`
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
