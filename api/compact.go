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

// CompactRules say when and how to compact a conversation.
type CompactRules struct {
	ExecutionRequest
	Policy      string  `json:"policy,omitempty" enum:"adaptive,a3s,buffer"`
	Strategy    string  `json:"strategy,omitempty"`
	Window      int     `json:"window,omitempty" minimum:"0" maximum:"10000000"`
	FixedTokens int     `json:"fixed_tokens,omitempty" minimum:"0" maximum:"10000000"`
	UsedTokens  int     `json:"used_tokens,omitempty" minimum:"0" maximum:"10000000"`
	KeepFirst   int     `json:"keep_first,omitempty" minimum:"-1" maximum:"1000"`
	KeepLast    int     `json:"keep_last,omitempty" minimum:"-1" maximum:"1000"`
	Threshold   float64 `json:"threshold,omitempty" minimum:"0" maximum:"1"`
	IfDue       bool    `json:"if_due,omitempty" doc:"compact only if due; the policy buffer always does so"`
	Tokenizer   string  `json:"tokenizer,omitempty" doc:"tokenizer for the token counts"`
}

// TransformSchema implements [huma.SchemaTransformer], also for embedding types.
func (CompactRules) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	documentNames(s, "strategy", string(compact.Auto), compact.StrategyNames()...)
	documentNames(s, "tokenizer", ragctx.DefaultTokenizer, tokens.Names()...)
	return s
}

func (r CompactRules) options() view.CompactOptions {
	return view.CompactOptions{
		Policy: compact.Policy(r.Policy), Strategy: compact.Strategy(r.Strategy), Window: r.Window,
		Fixed: r.FixedTokens, Used: r.UsedTokens,
		KeepFirst: r.KeepFirst, KeepLast: r.KeepLast, Threshold: r.Threshold, IfDue: r.IfDue,
		Execution: r.execution(), Tokenizer: r.Tokenizer,
	}
}

// compactStatelessRequest is a conversation to compact without storing it.
type compactStatelessRequest struct {
	Said
	CompactRules
	Records []compact.Record `json:"records,omitempty" maxItems:"1000"`
}

// CompactAnswer is the result of a compaction.
type CompactAnswer struct {
	Compacted  bool            `json:"compacted" doc:"false if nothing changed; see reason"`
	Reason     string          `json:"reason,omitempty" doc:"why this was done, or why nothing was done"`
	Before     compact.Size    `json:"before" doc:"size of the view before"`
	After      compact.Size    `json:"after" doc:"size of the view now"`
	OverTokens int             `json:"over_tokens,omitempty"`
	Record     *compact.Record `json:"record,omitempty"`
	Buffer     *Buffered       `json:"buffer,omitempty"`
	Rules
	Warnings []compact.Warning `json:"warnings" nullable:"false" doc:"strategies that failed before one succeeded"`
	Usage    *ModelUsage       `json:"usage,omitempty" doc:"token usage of the model; absent if it was not called"`
}

// ModelUsage is the token usage of a model.
type ModelUsage struct {
	PromptTokens     int  `json:"prompt_tokens" doc:"tokens of the prompts"`
	CompletionTokens int  `json:"completion_tokens" doc:"tokens of the completions"`
	Estimated        bool `json:"estimated,omitempty"`
}

// Buffered is the result of the policy buffer.
type Buffered struct {
	Moved      int    `json:"moved" doc:"messages moved into the buffer"`
	Summarized int    `json:"summarized" doc:"messages moved from the buffer into the summary"`
	Summary    string `json:"summary,omitempty" doc:"the new summary, if any"`
}

// compactStatelessAnswer is the result of compacting a conversation that is not stored.
type compactStatelessAnswer struct {
	CompactAnswer
	Said
	Losses []FormLoss `json:"losses" nullable:"false"`
}

// StoredCompaction is a record of a session: a compaction, or the replacement that a stage made.
type StoredCompaction struct {
	ID      string          `json:"id" doc:"unique within the session"`
	Created time.Time       `json:"created_at" doc:"time of creation"`
	From    string          `json:"from,omitempty" doc:"first message covered"`
	To      string          `json:"to,omitempty" doc:"last message covered"`
	Record  json.RawMessage `json:"record,omitempty"`
}

func storedCompaction(c session.Compaction) StoredCompaction {
	return StoredCompaction{c.ID, c.CreatedAt, c.From, c.To, c.Record}
}

// compactionList holds the records of a session.
type compactionList struct {
	Compactions []StoredCompaction `json:"compactions" nullable:"false"`
}

// observationList holds the observations of a session.
type observationList struct {
	Observations []stage.Note `json:"observations" nullable:"false"`
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
	compactStatelessInput  struct{ Body compactStatelessRequest }
	compactStatelessOutput struct{ Body compactStatelessAnswer }
	undoCompactionInput    struct {
		SessionKey
		SessionMatching
	}
	storedCompactionOutput struct {
		SessionMade

		Body StoredCompaction
	}
	compactionsOutput  struct{ Body compactionList }
	observationsOutput struct{ Body observationList }
)

func (s *Server) compactRoutes() {
	register(s, sessionOp("compact-session", http.MethodPost, verbPath(sessionsRoot, "compact"), "Compact a session",
		"Replaces older messages in the session's view by a shorter record; the messages themselves stay stored. "+
			"The newest instruction and pending tool calls are protected. It is not an error if nothing can be "+
			"saved. Publishes an event."), s.compactSession)
	register(s, sessionOp("undo-session-compaction", http.MethodPost, verbPath(sessionsRoot, "undo-compaction"),
		"Undo a compaction",
		"Removes and returns the newest record of the session; its messages are visible again. 404 if there is "+
			"no record. For the layer buffer, messages return to their original sections; 409 if some of them "+
			"were removed since or are on another branch."), s.undoCompaction)
	register(s, sessionOp("list-session-compactions", http.MethodGet, verbPath(sessionsRoot, "compactions"), "List "+
		"the compactions of a session",
		"Records that replace messages in the session's view."), s.listCompactions)
	register(s, sessionOp("list-session-observations", http.MethodGet, verbPath(sessionsRoot, "observations"), "List "+
		"the observations of a session",
		"Notes that replace the messages of long turns in the session's view."), s.listObservations)
	register(s, sessionOp("compact", http.MethodPost, "/v1/compact", "Compact a conversation",
		"Compacts the messages of the request like a stored session. Messages need ids for the record to be "+
			"useful. Nothing is stored, and no event is published."), s.compact)
}

func (s *Server) compactSession(ctx context.Context, in *compactInput) (*compactOutput, error) {
	o := in.Body.options()
	o.When = in.when()
	res, err := s.engine.Sessions().Views().Compact(ctx, in.kept(), o)
	if err != nil {
		return nil, err
	}
	out := compacted(res.Result)
	if res.Moved != nil || res.Summarized != nil {
		out.Compacted, out.Buffer = true, bufferedOf(res)
	}
	return &compactOutput{sessionMade(res.Version), out}, nil
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
	messages, lost, err := s.parseMessages(in.Body.Said, "messages")
	if err != nil {
		return nil, err
	}
	res, err := s.engine.Sessions().Views().CompactMessages(ctx, messages, in.Body.Records, in.Body.options())
	if err != nil {
		return nil, err
	}
	said, losses, err := encodeMessages(in.Body.Format, res.Messages)
	return &compactStatelessOutput{compactStatelessAnswer{compacted(res), said, append(lost, losses...)}}, err
}

func compacted(r compact.Result) CompactAnswer {
	out := CompactAnswer{
		Compacted: r.Record != nil, Reason: r.Reason, Before: r.Before, After: r.After, OverTokens: r.Over,
		Record: r.Record, Warnings: r.Warnings,
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
	c, at, err := s.engine.Sessions().Views().Undo(ctx, in.kept(), in.when())
	return &storedCompactionOutput{sessionMade(at), storedCompaction(c)}, err
}

func (s *Server) listCompactions(ctx context.Context, in *SessionKey) (*compactionsOutput, error) {
	a, _, err := s.engine.Sessions().Storage().Read(ctx, in.kept(), session.Query{Compactions: true})
	out := compactionList{Compactions: make([]StoredCompaction, len(a.Compactions))}
	for i, c := range a.Compactions {
		out.Compactions[i] = storedCompaction(c)
	}
	return &compactionsOutput{out}, err
}

func (s *Server) listObservations(ctx context.Context, in *SessionKey) (*observationsOutput, error) {
	notes, err := s.engine.Sessions().Views().Observations(ctx, in.kept())
	if notes == nil {
		notes = []stage.Note{}
	}
	return &observationsOutput{observationList{notes}}, err
}

// CompactSession compacts a session.
func (c *Client) CompactSession(ctx context.Context, k session.Key, r CompactRules) (out CompactAnswer, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+":compact", ofKept(k), r, &out)
	return out, err
}

// UndoCompaction removes the newest record of a session.
func (c *Client) UndoCompaction(ctx context.Context, k session.Key) (out StoredCompaction, err error) {
	err = c.do(ctx, http.MethodPost, keptAt(k)+":undo-compaction", ofKept(k), nil, &out)
	return out, err
}

// Compactions returns the records of a session.
func (c *Client) Compactions(ctx context.Context, k session.Key) ([]StoredCompaction, error) {
	var out compactionList
	err := c.do(ctx, http.MethodGet, keptAt(k)+"/compactions", ofKept(k), nil, &out)
	return out.Compactions, err
}

// Observations returns the observations of a session.
func (c *Client) Observations(ctx context.Context, k session.Key) ([]stage.Note, error) {
	var out observationList
	err := c.do(ctx, http.MethodGet, keptAt(k)+"/observations", ofKept(k), nil, &out)
	return out.Observations, err
}
