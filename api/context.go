package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/internal/trace"
	"github.com/ragctx/ragctx/xmlfmt"
)

// ContextRequest is a [ragctx.ContextQuery] as it is sent. What is absent has
// its default; a limit that is given must be in its range.
type ContextRequest struct {
	Query          string         `json:"query" maxLength:"65536" doc:"the search text, usually the user's prompt; empty asks /v1/context for the most important and most recent" example:"how do I roll back a deployment?"`
	ContextTypes   []string       `json:"context_types,omitempty" maxItems:"16" doc:"the types of items wanted, in any letter case; none means every type. file and custom are other names of resource"`
	Depth          string         `json:"depth,omitempty" doc:"how much of each hit is shown; L0, L1 and L2 are other names of abstract, overview and full" default:"overview"`
	MaxResults     *int           `json:"max_results,omitempty" minimum:"1" maximum:"1000" doc:"the most items; default 10, or that of the preset"`
	MaxTokens      *int           `json:"max_tokens,omitempty" minimum:"1" maximum:"10000000" doc:"the most tokens of the rendered answer, tags included; default 4000, or that of the preset"`
	Namespace      string         `json:"namespace,omitempty" maxLength:"512" doc:"a wall between tenants; default is the one called default"`
	UserID         string         `json:"user_id,omitempty" maxLength:"512" doc:"sees the memories of this user and those of no user; without it only those of no user"`
	AgentID        string         `json:"agent_id,omitempty" maxLength:"512" doc:"narrows memories to those of an agent"`
	SessionID      string         `json:"session_id,omitempty" maxLength:"512" doc:"narrows memories to those of a session"`
	Filter         *FilterRequest `json:"filter,omitempty" doc:"conditions that all must hold"`
	AsOf           time.Time      `json:"as_of,omitzero" doc:"answers from what was known at that time"`
	Now            time.Time      `json:"now,omitzero" doc:"the time of asking, from which ages are counted; default is the server's clock"`
	Tokenizer      string         `json:"tokenizer,omitempty" doc:"counts max_tokens"`
	Format         string         `json:"format,omitempty" doc:"how the answer is rendered" default:"xml"`
	Preset         string         `json:"preset,omitempty" doc:"a set of limits; limits that are given win"`
	Queries        []string       `json:"queries,omitempty" maxItems:"8" doc:"other wordings of the query, each counting half; with the query 65536 bytes at most"`
	Messages       Messages       `json:"messages,omitempty" doc:"the conversation so far, newest last; a query that leans on it is searched with words of it"`
	Exclude        []string       `json:"exclude,omitempty" maxItems:"1000" doc:"ids of items that the model already has"`
	Shown          []string       `json:"shown,omitempty" maxItems:"1000" doc:"ids of items that the model was shown last time, in order: they keep their places while their rank changes little, so that what follows them in a prompt comes from its cache"`
	MinRelevance   *float64       `json:"min_relevance,omitempty" minimum:"0" maximum:"1" doc:"drops items below it; without it a context has none below 0.02, and one sentence of each that is far behind the best, while 0 has all that are found as they are"`
	Diversity      float64        `json:"diversity,omitempty" minimum:"0" maximum:"1" doc:"how much it counts against an item that it says what one before it says; 0 chooses by relevance alone"`
	Blocks         bool           `json:"blocks,omitempty" doc:"splits the answer into two blocks: one that stays the same whatever is asked (published procedures, pinned memories, those that describe the user), and what answers the query"`
	StableTokens   int            `json:"stable_tokens,omitempty" minimum:"-1" maximum:"10000000" doc:"with blocks: the most tokens of max_tokens that the first one has; default is a quarter, -1 is none"`
	Citations      *bool          `json:"citations,omitempty" default:"true" doc:"false leaves ids, titles, pages and lines out of the rendered answer: its tags have source and type alone"`
	Spotlight      bool           `json:"spotlight,omitempty" doc:"marks retrieved text word by word, so that a model can tell it from instructions; what it is to be told of the marker is in instruction"`
	Explain        bool           `json:"explain,omitempty" doc:"adds the scores of each signal to the items"`
	Exact          bool           `json:"exact,omitempty" doc:"searches vectors exhaustively"`
	Highlight      bool           `json:"highlight,omitempty" doc:"adds to the items where their content has the words of the query and its other wordings"`
	ProviderParams map[string]any `json:"params,omitempty" doc:"passed to providers as it is; the built-in ones read time, dialogue, follow_up (false switches each off), feedback (true switches it on) and phrases (true: what the query has between quotation marks must be in every document and memory found; /v1/search has it on), and patterns (true: storm* and storm~ stand for words like them; /v1/search has it on); spelling false takes words that no text has as they are written; rerank false leaves the reranker out; cluster names a ledger to look in"`
}

// FilterRequest is a [ragctx.Filter] as it is sent.
type FilterRequest struct {
	Tags           []string          `json:"tags,omitempty" maxItems:"256" doc:"an item must carry all of them"`
	Metadata       map[string]string `json:"metadata,omitempty" doc:"values that an item's metadata must have, compared as strings"`
	Sources        []string          `json:"sources,omitempty" maxItems:"256" doc:"sources, or prefixes of sources ending in *; an item must match one" example:"[\"file:docs/*\"]"`
	OccurredAfter  time.Time         `json:"occurred_after,omitzero" doc:"inclusive"`
	OccurredBefore time.Time         `json:"occurred_before,omitzero" doc:"exclusive"`
}

// TransformSchema implements [huma.SchemaTransformer]: it documents the names
// that the packages below know, which also judge them.
func (ContextRequest) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	names := func(p *huma.Schema, values ...string) { p.Extensions = map[string]any{"enum": values} }
	names(s.Properties["context_types"].Items, string(ragctx.TypeMemory), string(ragctx.TypeResource), string(ragctx.TypeSkill))
	names(s.Properties["depth"], string(ragctx.DepthAbstract), string(ragctx.DepthOverview), string(ragctx.DepthFull))
	names(s.Properties["tokenizer"], tokens.Names()...)
	names(s.Properties["format"], xmlfmt.Names()...)
	names(s.Properties["preset"], ragctx.PresetNames()...)
	s.Properties["tokenizer"].Default = ragctx.DefaultTokenizer
	return s
}

// query returns the request in the engine's vocabulary.
func (r ContextRequest) query() (ragctx.ContextQuery, error) {
	q := ragctx.ContextQuery{
		Query: r.Query, Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.SessionID,
		AsOf: r.AsOf, Now: r.Now, Tokenizer: r.Tokenizer, Format: r.Format, Preset: r.Preset, Queries: r.Queries, Messages: r.Messages,
		Exclude: r.Exclude, Shown: r.Shown, MinRelevance: r.MinRelevance, Diversity: r.Diversity, Explain: r.Explain, Exact: r.Exact, Params: r.ProviderParams,
		Blocks: r.Blocks, StableTokens: r.StableTokens, Citations: r.Citations, Spotlight: r.Spotlight, Highlight: r.Highlight,
	}
	if r.Filter != nil {
		q.Filter = ragctx.Filter(*r.Filter)
	}
	if r.MaxResults != nil {
		q.MaxResults = *r.MaxResults
	}
	if r.MaxTokens != nil {
		q.MaxTokens = *r.MaxTokens
	}
	var err error
	if q.Depth, err = ragctx.ParseContextDepth(r.Depth); err != nil {
		return q, err
	}
	for i, name := range r.ContextTypes {
		t, err := ragctx.ParseContextType(name)
		if err != nil {
			return q, at(err, "context_types", i)
		}
		q.ContextTypes = append(q.ContextTypes, t)
	}
	return q, nil
}

// at names the element of a list that err is about.
func at(err error, field string, i int) error {
	if f, ok := errors.AsType[*ragctx.FieldError](err); ok {
		return &ragctx.FieldError{Field: field + "[" + strconv.Itoa(i) + "]", Problem: f.Problem, Kind: f.Kind}
	}
	return err
}

type contextInput struct{ Body ContextRequest }

// TimingHeader asks for the header Server-Timing when it is "true".
const TimingHeader = "Ragctx-Timing"

type timedInput struct {
	contextInput

	Timing bool `header:"Ragctx-Timing" doc:"true adds the header Server-Timing to the answer"`
}

type contextOutput struct {
	ServerTiming string `header:"Server-Timing" doc:"where asked for: what each stage of the answer took in milliseconds. Documents and memories are searched side by side, and words and vectors within each, so the stages add up to more than engine, the whole"`
	Body         resolve.Answer
}

type searchOutput struct{ Body engine.SearchResult }

func (s *Server) contextRoutes() {
	register(s, huma.Operation{
		OperationID: "context", Method: http.MethodPost, Path: "/v1/context", Tags: []string{"context"},
		Summary: "What should the model see?", DefaultStatus: http.StatusOK,
		Description: "Asks all providers at once, fits the best of what they return into max_tokens and renders it. " +
			"An answer without items says why in its note; everything that was dropped or shortened is listed.",
		Responses: map[string]*huma.Response{"200": {
			Content: map[string]*huma.MediaType{jsonType: {Example: exampleAnswer()}},
		}},
	}, s.context)
	register(s, huma.Operation{
		OperationID: "search", Method: http.MethodPost, Path: "/v1/search", Tags: []string{"context"},
		Summary: "Search documents and memories", DefaultStatus: http.StatusOK,
		Description: "Returns the best items, best first, without a token budget: max_tokens, tokenizer, format and preset do not matter, though they have to be right.",
	}, s.search)
	register(s, huma.Operation{
		OperationID: "explain", Method: http.MethodPost, Path: "/v1/explain", Tags: []string{"context"},
		Summary: "Why is my answer empty?", DefaultStatus: http.StatusOK,
		Description: "Asks as /v1/context does and looks step by step for what keeps items from the answer: what there is and who sees it, what words and vectors find alone, " +
			"what would be found without each condition, what the budget kept out.",
	}, s.explain)
}

type explainOutput struct{ Body engine.Explanation }

func (s *Server) explain(ctx context.Context, in *contextInput) (*explainOutput, error) {
	q, err := in.Body.query()
	if err != nil {
		return nil, err
	}
	x, err := s.engine.Explain(ctx, q)
	return &explainOutput{x}, err
}

// exampleAnswer documents what the schema cannot: how the parts of an answer
// belong together.
func exampleAnswer() resolve.Answer {
	return resolve.Answer{
		Items: []ragctx.ContextItem{{
			ID: "docs/deploy.md@3#4", Type: ragctx.TypeResource, Content: "Run `deploy rollback` to return to the release before.",
			TokenCount: 11, Relevance: 0.83, Source: "file:docs/deploy.md", Provider: "docs", Depth: ragctx.DepthOverview,
			Metadata: map[string]any{"document": "docs/deploy.md", "heading": "Deploying > Rolling back", "lines": "41-41", "title": "Deploying"},
		}},
		XML: "<context source=\"file:docs/deploy.md\" type=\"Resource\" id=\"docs/deploy.md@3#4\" title=\"Deploying\" lines=\"41-41\">\n" +
			"Run `deploy rollback` to return to the release before.\n</context>",
		TotalTokens: 51, Tokenizer: ragctx.DefaultTokenizer, Format: xmlfmt.XML, Truncated: true,
		Providers: []resolve.ProviderReport{
			{Name: "docs", Returned: 2, Used: 1, Tokens: 11, TookMS: 1.4},
			{Name: "memory", TookMS: 0.6, Note: "no memory in scope matches the query"},
		},
		Dropped:   []resolve.Dropped{{ID: "docs/faq.md@1#9", Provider: "docs", Reason: resolve.ReasonBudget, Tokens: 3904}},
		Shortened: []resolve.Shortened{}, Degraded: []string{},
	}
}

func (s *Server) context(ctx context.Context, in *timedInput) (*contextOutput, error) {
	q, err := in.Body.query()
	if err != nil {
		return nil, err
	}
	var tr *trace.Trace
	if in.Timing {
		tr = trace.New(nil)
		ctx = trace.With(ctx, tr)
	}
	a, err := s.engine.Context(ctx, q)
	return &contextOutput{tr.Header(), a}, err
}

func (s *Server) search(ctx context.Context, in *contextInput) (*searchOutput, error) {
	q, err := in.Body.query()
	if err != nil {
		return nil, err
	}
	found, err := s.engine.Search(ctx, q)
	return &searchOutput{found}, err
}

// searchMemories is search narrowed to memories.
func (s *Server) searchMemories(ctx context.Context, in *contextInput) (*searchOutput, error) {
	q, err := in.Body.query()
	if err != nil {
		return nil, err
	}
	for i, t := range q.ContextTypes {
		if t != ragctx.TypeMemory {
			return nil, ragctx.Invalid(fmt.Sprintf("context_types[%d]", i), "is %s, but only memories are searched here; leave the field out, or use /v1/search", t)
		}
	}
	found, err := s.engine.Search(ctx, q.WithTypes(ragctx.TypeMemory))
	return &searchOutput{found}, err
}
