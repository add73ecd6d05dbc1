package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/llm"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/session"
	"github.com/ragctx/ragctx/session/compact"
	"github.com/ragctx/ragctx/session/stage"
	"github.com/ragctx/ragctx/session/view"
)

// CompactRules say when and how a conversation is made shorter.
type CompactRules struct {
	ExecutionRequest
	Policy      string  `json:"policy,omitempty" enum:"adaptive,a3s,buffer" doc:"which messages to compact; adaptive unless the session's layer is buffer. adaptive keeps as much as the budget allows. a3s keeps the first 2 and the last 20 of more than 30 messages. buffer moves messages of a stored session into its buffer and the buffer into its summary; of the other fields it reads only strategy and tokenizer"`
	Strategy    string  `json:"strategy,omitempty" enum:"auto,prune,llm,extractive" default:"auto" doc:"how to compact. auto prunes old tool outputs, then summarises, with the model if one is configured. prune only prunes. llm summarises with the model and fails without one. extractive summarises without a model"`
	Window      int     `json:"window,omitempty" minimum:"0" maximum:"10000000" doc:"context window of the model in tokens, input and output together; default 200000"`
	FixedTokens int     `json:"fixed_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"tokens of each call outside the messages: system prompt and tools"`
	UsedTokens  int     `json:"used_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"prompt size that the model reported for its last call; default is to count the messages"`
	KeepFirst   int     `json:"keep_first,omitempty" minimum:"-1" maximum:"1000" doc:"messages kept at the beginning; default 2, -1 is none"`
	KeepLast    int     `json:"keep_last,omitempty" minimum:"-1" maximum:"1000" doc:"maximum of messages kept at the end; default 20, -1 is none"`
	Threshold   float64 `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"share of the window at which compaction becomes due; default 0.8"`
	IfDue       bool    `json:"if_due,omitempty" doc:"compact only if due; the policy buffer always does so"`
	Tokenizer   string  `json:"tokenizer,omitempty" doc:"tokenizer for the token counts"`
}

// TransformSchema implements [huma.SchemaTransformer], also of what it is part of.
func (CompactRules) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	named(s, "tokenizer", ragctx.DefaultTokenizer, tokens.Names()...)
	return s
}

func (r CompactRules) options() view.CompactOptions {
	return view.CompactOptions{
		Policy: compact.Policy(r.Policy), Strategy: compact.Strategy(r.Strategy), Window: r.Window, Fixed: r.FixedTokens, Used: r.UsedTokens,
		KeepFirst: r.KeepFirst, KeepLast: r.KeepLast, Threshold: r.Threshold, IfDue: r.IfDue,
		Execution: r.execution(), Tokenizer: r.Tokenizer,
	}
}

// CompactStatelessRequest is a conversation that is to be made shorter and that nobody
// stores.
type CompactStatelessRequest struct {
	Said
	CompactRules
	Records []compact.Record `json:"records,omitempty" maxItems:"1000" doc:"previous compactions of these messages, oldest first"`
}

// CompactAnswer is what came of a compaction.
type CompactAnswer struct {
	Compacted  bool            `json:"compacted" doc:"false if nothing changed; see reason"`
	Reason     string          `json:"reason,omitempty" doc:"why this was done, or why nothing was done"`
	Before     compact.Size    `json:"before" doc:"size of the view before"`
	After      compact.Size    `json:"after" doc:"size of the view now"`
	OverTokens int             `json:"over_tokens,omitempty" doc:"tokens beyond the limit, which only protected messages can cause"`
	Record     *compact.Record `json:"record,omitempty" doc:"the replaced messages and their replacement; absent if nothing was done"`
	Buffer     *Buffered       `json:"buffer,omitempty" doc:"result of the policy buffer; absent for other policies, or if nothing moved"`
	Rules
	Warnings []compact.Warning `json:"warnings" nullable:"false" doc:"strategies that failed before one succeeded"`
	Usage    *ModelUsage       `json:"usage,omitempty" doc:"token usage of the model; absent if it was not called"`
}

// ModelUsage is what a model cost, in tokens.
type ModelUsage struct {
	PromptTokens     int  `json:"prompt_tokens" doc:"tokens of the prompts"`
	CompletionTokens int  `json:"completion_tokens" doc:"tokens of the completions"`
	Estimated        bool `json:"estimated,omitempty" doc:"counts are estimated from the length of the texts; the service reported none"`
}

// Buffered is what the policy buffer did.
type Buffered struct {
	Moved      int    `json:"moved" doc:"messages moved into the buffer"`
	Summarized int    `json:"summarized" doc:"messages moved from the buffer into the summary"`
	Summary    string `json:"summary,omitempty" doc:"the new summary, if any"`
}

// CompactStatelessAnswer is what came of a compaction of what nobody stores.
type CompactStatelessAnswer struct {
	CompactAnswer
	Said
	Losses []FormLoss `json:"losses" nullable:"false" doc:"content that the format of the answer cannot express, or that was lost when reading the format of the request"`
}

// StoredCompaction is a record of a session: a compaction, or what a stage has put in the
// place of messages.
type StoredCompaction struct {
	ID      string          `json:"id" doc:"unique within the session"`
	Created time.Time       `json:"created_at" doc:"time of creation"`
	From    string          `json:"from,omitempty" doc:"first message covered"`
	To      string          `json:"to,omitempty" doc:"last message covered"`
	Record  json.RawMessage `json:"record,omitempty" doc:"the compaction as compact returned it; for a stage its kind, name and messages; for the layer buffer its kind and the original sections of the messages"`
}

func storedCompaction(c session.Compaction) StoredCompaction {
	return StoredCompaction{c.ID, c.CreatedAt, c.From, c.To, c.Record}
}

// CompactionList are the records of a session.
type CompactionList struct {
	Compactions []StoredCompaction `json:"compactions" nullable:"false" doc:"oldest first; only the last one can be undone"`
}

// ObservationList are the observations of a session.
type ObservationList struct {
	Observations []stage.Note `json:"observations" nullable:"false" doc:"current observations, oldest first: the newest reflection and everything after it"`
}

type (
	compactInput struct {
		SessionKey
		SessionMatching

		Body CompactRules
	}
	compactOutput struct {
		SessionMade

		Body CompactAnswer
	}
	compactStatelessInput  struct{ Body CompactStatelessRequest }
	compactStatelessOutput struct{ Body CompactStatelessAnswer }
	undoCompactionInput    struct {
		SessionKey
		SessionMatching
	}
	storedCompactionOutput struct {
		SessionMade

		Body StoredCompaction
	}
	compactionsOutput  struct{ Body CompactionList }
	observationsOutput struct{ Body ObservationList }
)

func (s *Server) compactRoutes() {
	register(s, sessionOp("compact-session", http.MethodPost, verbPath(sessionsRoot, "compact"), "Make a session shorter",
		"Stores a record of what is shown in the place of older messages, which stay. The newest instruction and calls that wait for their results are not touched. "+
			"That nothing can be gained is no error. Whoever follows events is told."), s.compactSession)
	register(s, sessionOp("undo-session-compaction", http.MethodPost, verbPath(sessionsRoot, "undo-compaction"), "Undo a compaction",
		"Removes the newest record of a session and answers it: what it was about is shown again. There being none is 404. What the layer buffer has moved goes back to where it was; where messages of it were removed since, or are on another branch, that is 409."), s.undoCompaction)
	register(s, sessionOp("list-session-compactions", http.MethodGet, verbPath(sessionsRoot, "compactions"), "Compactions of a session",
		"The records of what is shown in the place of messages."), s.listCompactions)
	register(s, sessionOp("list-session-observations", http.MethodGet, verbPath(sessionsRoot, "observations"), "Observations of a session",
		"What long turns came to, as it is shown in the place of their messages."), s.listObservations)
	register(s, sessionOp("compact", http.MethodPost, "/v1/compact", "Make a conversation shorter",
		"The same for messages that are in the request, which need ids for the record to be of use. Nothing is stored, and nobody told."), s.compact)
}

func (s *Server) compactSession(ctx context.Context, in *compactInput) (*compactOutput, error) {
	ctx, err := s.met(ctx, in.SessionMatching, in.kept())
	if err != nil {
		return nil, err
	}
	ctx, at := noting(ctx)
	res, err := s.engine.Sessions().Views().Compact(ctx, in.kept(), in.Body.options())
	if err != nil {
		return nil, err
	}
	out := compacted(res.Result)
	if res.Moved != nil || res.Summarized != nil {
		out.Compacted, out.Buffer = true, bufferedOf(res)
	}
	return &compactOutput{madeAt(at), out}, nil
}

func bufferedOf(c view.Compacted) *Buffered {
	var out Buffered
	if c.Moved != nil {
		out.Moved = len(c.Moved.Overflow)
	}
	if c.Summarized != nil {
		out.Summarized, out.Summary = len(c.Summarized.Buffer), c.Summarized.Summary
	}
	return &out
}

func (s *Server) compact(ctx context.Context, in *compactStatelessInput) (*compactStatelessOutput, error) {
	messages, lost, err := s.heard(in.Body.Said, "messages")
	if err != nil {
		return nil, err
	}
	res, err := s.engine.Sessions().Views().CompactMessages(ctx, messages, in.Body.Records, in.Body.options())
	if err != nil {
		return nil, err
	}
	said, losses, err := spoken(in.Body.Format, res.Messages)
	return &compactStatelessOutput{CompactStatelessAnswer{compacted(res), said, append(lost, losses...)}}, err
}

func compacted(r compact.Result) CompactAnswer {
	out := CompactAnswer{
		Compacted: r.Record != nil, Reason: r.Reason, Before: r.Before, After: r.After, OverTokens: r.Over, Record: r.Record, Warnings: r.Warnings,
	}
	out.Rules = rulesOf(compact.RulesIn(r.Messages))
	if out.Warnings == nil {
		out.Warnings = []compact.Warning{}
	}
	if r.Record != nil {
		out.Reason = r.Record.Reason
	}
	if r.Usage != (llm.Usage{}) {
		out.Usage = (*ModelUsage)(&r.Usage)
	}
	return out
}

func (s *Server) undoCompaction(ctx context.Context, in *undoCompactionInput) (*storedCompactionOutput, error) {
	ctx, err := s.met(ctx, in.SessionMatching, in.kept())
	if err != nil {
		return nil, err
	}
	ctx, at := noting(ctx)
	c, err := s.engine.Sessions().Views().Undo(ctx, in.kept())
	return &storedCompactionOutput{madeAt(at), storedCompaction(c)}, err
}

func (s *Server) listCompactions(ctx context.Context, in *SessionKey) (*compactionsOutput, error) {
	stored, err := s.engine.Sessions().Storage().Compactions(ctx, in.kept())
	out := CompactionList{Compactions: make([]StoredCompaction, len(stored))}
	for i, c := range stored {
		out.Compactions[i] = storedCompaction(c)
	}
	return &compactionsOutput{out}, err
}

func (s *Server) listObservations(ctx context.Context, in *SessionKey) (*observationsOutput, error) {
	notes, err := s.engine.Sessions().Views().Observations(ctx, in.kept())
	if notes == nil {
		notes = []stage.Note{}
	}
	return &observationsOutput{ObservationList{notes}}, err
}

// CompactSession makes a session shorter.
func (c *Client) CompactSession(ctx context.Context, k session.Key, r CompactRules) (out CompactAnswer, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+"/compact", ofKept(k), r, &out)
	return out, err
}

// UndoCompaction takes the newest record of a session back.
func (c *Client) UndoCompaction(ctx context.Context, k session.Key) (out StoredCompaction, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+"/undo-compaction", ofKept(k), nil, &out)
	return out, err
}

// Compactions returns the records of a session.
func (c *Client) Compactions(ctx context.Context, k session.Key) ([]StoredCompaction, error) {
	var out CompactionList
	err := c.do(ctx, http.MethodGet, keptAt(k)+"/compactions", ofKept(k), nil, &out)
	return out.Compactions, err
}

// Observations returns the observations of a session.
func (c *Client) Observations(ctx context.Context, k session.Key) ([]stage.Note, error) {
	var out ObservationList
	err := c.do(ctx, http.MethodGet, keptAt(k)+"/observations", ofKept(k), nil, &out)
	return out.Observations, err
}
