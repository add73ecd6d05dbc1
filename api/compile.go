package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/view"
)

// CompileRules say which messages of a conversation a model sees.
type CompileRules struct {
	ExecutionRequest
	Compiler    string   `json:"compiler,omitempty"`
	Select      []string `json:"select,omitempty" maxItems:"100"`
	MaxTokens   int      `json:"max_tokens,omitempty" minimum:"0" maximum:"10000000"`
	MaxMessages int      `json:"max_messages,omitempty" minimum:"0" maximum:"1000000"`
	Tokenizer   string   `json:"tokenizer,omitempty" doc:"tokenizer for the token counts"`
}

// TransformSchema implements [huma.SchemaTransformer], also for embedding types.
func (CompileRules) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	documentNames(s, "compiler", "default", session.CompilerNames()...)
	documentNames(s, "tokenizer", ragctx.DefaultTokenizer, tokens.Names()...)
	return s
}

// documentNames adds the known names of a field to its schema. Lower packages validate them.
func documentNames(s *huma.Schema, field, usual string, names ...string) {
	s.Properties[field].Extensions = map[string]any{"enum": names}
	s.Properties[field].Default = usual
}

func (r CompileRules) options() view.CompileOptions {
	return view.CompileOptions{
		Compiler: r.Compiler, Sections: r.Select, Execution: r.execution(),
		MaxTokens: r.MaxTokens, MaxMessages: r.MaxMessages, Tokenizer: r.Tokenizer,
	}
}

// CompileRequest requests a model's view of a session.
type CompileRequest struct {
	CompileRules
	Leaf   string `json:"leaf,omitempty" maxLength:"512"`
	Raw    bool   `json:"raw,omitempty"`
	Format string `json:"format,omitempty" enum:"ragctx,openai,anthropic,gemini" default:"ragctx"`
}

// CompileSections is a conversation to compile: messages or sections, with their compactions.
type CompileSections struct {
	Said
	Sections []sectionRequest `json:"sections,omitempty" maxItems:"100"`
	Records  []compact.Record `json:"records,omitempty" maxItems:"1000"`
}

// sectionRequest is a section in a request.
type sectionRequest struct {
	Name     string       `json:"name" maxLength:"512" doc:"unique in the request" example:"messages"`
	Messages SaidMessages `json:"messages" doc:"oldest first"`
}

// compileStatelessRequest requests a model's view of a conversation that is not stored.
type compileStatelessRequest struct {
	CompileSections
	CompileRules
}

// CompileAnswer is a model's view of a conversation.
type CompileAnswer struct {
	Said
	Tokens        int              `json:"tokens" doc:"tokens of the messages"`
	OverTokens    int              `json:"over_tokens,omitempty"`
	Sections      []string         `json:"sections" nullable:"false" doc:"sections of the session"`
	Dropped       []view.Drop      `json:"dropped" nullable:"false"`
	DroppedTotals []DroppedTotal   `json:"dropped_totals" nullable:"false"`
	Hidden        []HiddenMessages `json:"hidden" nullable:"false"`
	Rules
	Losses []FormLoss `json:"losses" nullable:"false"`
}

// Rules are the user's rules, decisions and dates from messages that are not shown.
type Rules struct {
	Rules        []compact.Rule `json:"rules" nullable:"false"`
	RulesLeftOut int            `json:"rules_left_out,omitempty"`
}

func rulesOf(list []compact.Rule, left int) Rules {
	if list == nil {
		list = []compact.Rule{}
	}
	return Rules{list, left}
}

// HiddenMessages counts messages that are omitted or truncated for one reason.
type HiddenMessages struct {
	Reason   session.Reason `json:"reason" enum:"section,trace,compacted,pruned,stage"`
	Messages int            `json:"messages" doc:"number of messages"`
	Tokens   int            `json:"tokens" doc:"tokens saved"`
}

// hiddenOf converts hidden messages for the answer.
func hiddenOf(list []view.DropTotal) []HiddenMessages {
	out := make([]HiddenMessages, len(list))
	for i, h := range list {
		out[i] = HiddenMessages(h)
	}
	return out
}

type (
	compileInput struct {
		SessionKey
		Body CompileRequest
	}
	compileStatelessInput struct{ Body compileStatelessRequest }
	compileOutput         struct{ Body CompileAnswer }
)

func (s *Server) compileRoutes() {
	register(s, sessionOp("compile-session", http.MethodPost, verbPath(sessionsRoot, "compile"), "Compile a session",
		"Returns the messages to show to a model: those of the branch, with summaries in place of compacted "+
			"ones, cut to the limits without separating a tool call from its result. Nothing is stored or "+
			"compacted."), s.compileSession)
	register(s, sessionOp("compile", http.MethodPost, "/v1/compile", "Compile a conversation",
		"Compiles the messages or sections of the request like a stored session. Nothing is stored."), s.compile)
}

func (s *Server) compileSession(ctx context.Context, in *compileInput) (*compileOutput, error) {
	o := in.Body.options()
	o.Leaf, o.Raw = in.Body.Leaf, in.Body.Raw
	c, err := s.engine.Sessions().Views().Compile(ctx, in.kept(), o)
	if err != nil {
		return nil, noMessageIn(err, "leaf")
	}
	return compiled(c, in.Body.Format, nil)
}

func (s *Server) compile(ctx context.Context, in *compileStatelessInput) (*compileOutput, error) {
	store, losses, err := s.sectionsOf(in.Body.CompileSections)
	if err != nil {
		return nil, err
	}
	c, err := s.engine.Sessions().Views().CompileStore(ctx, store, in.Body.Records, in.Body.options())
	if err != nil {
		return nil, err
	}
	return compiled(c, in.Body.Format, losses)
}

// compiled returns an answer in a format.
func compiled(c view.Compiled, format string, lost []FormLoss) (*compileOutput, error) {
	said, losses, err := encodeMessages(format, c.Messages)
	out := CompileAnswer{
		Said: said, Tokens: c.Tokens, OverTokens: c.Over, Sections: c.Sections, Hidden: hiddenOf(c.DropTotals),
		Rules: rulesOf(c.Rules, c.RulesLeftOut), Losses: slices.Concat(lost, losses),
	}
	out.Dropped = append([]view.Drop{}, c.Dropped[:min(len(c.Dropped), maxListedDropped)]...)
	out.DroppedTotals = droppedTotals(c.Dropped, func(d view.Drop) (session.Reason, bool, int) {
		return d.Reason, d.Partial, d.Tokens
	})
	if out.Losses == nil {
		out.Losses = []FormLoss{}
	}
	return &compileOutput{out}, err
}

// at returns the path of a section's messages in the request.
func (r CompileSections) at(section int) string {
	if r.Sections == nil {
		return "messages"
	}
	return fmt.Sprintf("sections[%d].messages", section)
}

// sectionsOf returns an in-memory store with the messages of the request.
func (s *Server) sectionsOf(r CompileSections) (session.Store, []FormLoss, error) {
	sections := r.Sections
	if sections == nil {
		sections = []sectionRequest{{Name: session.SectionMessages, Messages: r.Messages}}
	} else if len(r.Messages) > 0 {
		return session.Store{}, nil, ragctx.Invalid("sections", "cannot be combined with messages; send one of them")
	}
	var store session.Store
	var lost []FormLoss
	for i, one := range sections {
		said := Said{Format: r.Format, Messages: one.Messages}
		if i == 0 {
			said.System = r.System
		}
		messages, losses, err := s.parseMessages(said, r.at(i))
		if err != nil {
			return session.Store{}, nil, err
		}
		if store, err = store.Add(session.Section{Name: one.Name, Messages: messages}); err != nil {
			return session.Store{}, nil, err
		}
		lost = append(lost, losses...)
	}
	return store, lost, nil
}

// CompileSession returns a model's view of a session.
func (c *Client) CompileSession(ctx context.Context, k session.Key, r CompileRequest) (out CompileAnswer, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+":compile", ofKept(k), r, &out)
	return out, err
}
