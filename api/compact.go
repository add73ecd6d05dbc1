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
	Policy      string  `json:"policy,omitempty" enum:"adaptive,a3s,buffer" doc:"where the cuts are, adaptive unless the session's layer is buffer: adaptive keeps what the budget allows, a3s the first 2 and the last 20 of more than 30 messages; buffer moves messages of a stored session into its buffer, and that into its summary, and takes only strategy and tokenizer of these"`
	Strategy    string  `json:"strategy,omitempty" enum:"auto,prune,llm,extractive" default:"auto" doc:"how: auto prunes old outputs of tools and then summarises, by the model where there is one; prune does only the former; llm and extractive summarise, the former by a model, without which it is refused, the latter without one"`
	Window      int     `json:"window,omitempty" minimum:"0" maximum:"10000000" doc:"how many tokens the model takes and gives; default 200000"`
	FixedTokens int     `json:"fixed_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what each call has beside messages: system prompt, tools"`
	UsedTokens  int     `json:"used_tokens,omitempty" minimum:"0" maximum:"10000000" doc:"what the model said that its last call cost; otherwise the messages are counted"`
	KeepFirst   int     `json:"keep_first,omitempty" minimum:"-1" maximum:"1000" doc:"how many messages stay at the beginning; default 2, -1 is none"`
	KeepLast    int     `json:"keep_last,omitempty" minimum:"-1" maximum:"1000" doc:"how many messages stay at the end, at most; default 20, -1 is none"`
	Threshold   float64 `json:"threshold,omitempty" minimum:"0" maximum:"1" doc:"the share of the window from which on compacting is due; default 0.8"`
	IfDue       bool    `json:"if_due,omitempty" doc:"compacts only if it is due, as buffer always does"`
	Tokenizer   string  `json:"tokenizer,omitempty" doc:"how tokens are counted"`
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
	Records []compact.Record `json:"records,omitempty" maxItems:"1000" doc:"the compactions so far, oldest first; messages are those that they are about"`
}

// CompactAnswer is what came of a compaction.
type CompactAnswer struct {
	Compacted  bool            `json:"compacted" doc:"false if nothing was done, and reason says why"`
	Reason     string          `json:"reason,omitempty" doc:"why nothing was done, or why what was done"`
	Before     compact.Size    `json:"before" doc:"what was shown before"`
	After      compact.Size    `json:"after" doc:"what is shown now"`
	OverTokens int             `json:"over_tokens,omitempty" doc:"by how much that exceeds the limit, which only what must stay can do"`
	Record     *compact.Record `json:"record,omitempty" doc:"what is shown in the place of which messages; absent if nothing was done"`
	Buffer     *Buffered       `json:"buffer,omitempty" doc:"what the policy buffer did; absent if nothing, or of another policy"`
	Rules
	Warnings []compact.Warning `json:"warnings" nullable:"false" doc:"the ways of summarising that failed before one did not"`
	Usage    *ModelUsage       `json:"usage,omitempty" doc:"what the model cost; absent if none was asked"`
}

// ModelUsage is what a model cost, in tokens.
type ModelUsage struct {
	PromptTokens     int  `json:"prompt_tokens" doc:"of what it was asked"`
	CompletionTokens int  `json:"completion_tokens" doc:"of what it answered"`
	Estimated        bool `json:"estimated,omitempty" doc:"the service did not count; the numbers are made from the length of the texts"`
}

// Buffered is what the policy buffer did.
type Buffered struct {
	Moved      int    `json:"moved" doc:"how many messages went into the buffer"`
	Summarized int    `json:"summarized" doc:"how many of the buffer became part of the summary"`
	Summary    string `json:"summary,omitempty" doc:"the summary, where it is a new one"`
}

// CompactStatelessAnswer is what came of a compaction of what nobody stores.
type CompactStatelessAnswer struct {
	CompactAnswer
	Said
	Losses []FormLoss `json:"losses" nullable:"false" doc:"what cannot be said in the form of the answer, or was lost of that of the request"`
}

// StoredCompaction is a record of a session: a compaction, or what a stage has put in the
// place of messages.
type StoredCompaction struct {
	ID      string          `json:"id" doc:"unique in the session"`
	Created time.Time       `json:"created_at" doc:"when it was made"`
	From    string          `json:"from,omitempty" doc:"the first message that it is about"`
	To      string          `json:"to,omitempty" doc:"the last one"`
	Record  json.RawMessage `json:"record,omitempty" doc:"what was made of them, as compact answered it; of a stage with its kind, its name and its messages; of the layer buffer with its kind and the sections that messages were in"`
}

func storedCompaction(c session.Compaction) StoredCompaction {
	return StoredCompaction{c.ID, c.CreatedAt, c.From, c.To, c.Record}
}

// CompactionList are the records of a session.
type CompactionList struct {
	Compactions []StoredCompaction `json:"compactions" nullable:"false" doc:"oldest first; the last one is the one that can be undone"`
}

// ObservationList are the observations of a session.
type ObservationList struct {
	Observations []stage.Note `json:"observations" nullable:"false" doc:"those that count, oldest first: the newest reflection, and what came after it"`
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
	res, err := s.engine.Conversations().Compact(ctx, in.kept(), in.Body.options())
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
	res, err := s.engine.Conversations().CompactMessages(ctx, messages, in.Body.Records, in.Body.options())
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
	c, err := s.engine.Conversations().Undo(ctx, in.kept())
	return &storedCompactionOutput{madeAt(at), storedCompaction(c)}, err
}

func (s *Server) listCompactions(ctx context.Context, in *SessionKey) (*compactionsOutput, error) {
	stored, err := s.engine.Sessions().Compactions(ctx, in.kept())
	out := CompactionList{Compactions: make([]StoredCompaction, len(stored))}
	for i, c := range stored {
		out.Compactions[i] = storedCompaction(c)
	}
	return &compactionsOutput{out}, err
}

func (s *Server) listObservations(ctx context.Context, in *SessionKey) (*observationsOutput, error) {
	notes, err := s.engine.Conversations().Observations(ctx, in.kept())
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
