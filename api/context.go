package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/request"
	"github.com/ragctx/ragctx/engine"
	"github.com/ragctx/ragctx/internal/resolve"
	"github.com/ragctx/ragctx/internal/tokens"
	"github.com/ragctx/ragctx/internal/trace"
	"github.com/ragctx/ragctx/xmlfmt"
)

// contextRequest is a [ragctx.ContextQuery] in JSON. An absent field has its default; a given limit
// must be in range.
type contextRequest struct {
	Query          string         `json:"query" maxLength:"65536" example:"how do I roll back a deployment?"`
	ContextTypes   []string       `json:"context_types,omitempty" maxItems:"16"`
	Depth          string         `json:"depth,omitempty" default:"overview"`
	MaxResults     *int           `json:"max_results,omitempty" minimum:"1" maximum:"1000"`
	MaxTokens      *int           `json:"max_tokens,omitempty" minimum:"1" maximum:"10000000"`
	Namespace      string         `json:"namespace,omitempty" maxLength:"512"`
	UserID         string         `json:"user_id,omitempty" maxLength:"512"`
	AgentID        string         `json:"agent_id,omitempty" maxLength:"512"`
	SessionID      string         `json:"session_id,omitempty" maxLength:"512"`
	Filter         *FilterRequest `json:"filter,omitempty" doc:"conditions, all of which must hold"`
	AsOf           time.Time      `json:"as_of,omitzero" doc:"answers from the state of knowledge at that time"`
	Now            time.Time      `json:"now,omitzero" doc:"reference time for ages; default is the server's clock"`
	Tokenizer      string         `json:"tokenizer,omitempty" doc:"tokenizer that counts max_tokens"`
	Format         string         `json:"format,omitempty" doc:"format of the rendered answer" default:"xml"`
	Preset         string         `json:"preset,omitempty" doc:"named set of limits; explicit limits take precedence"`
	Queries        []string       `json:"queries,omitempty" maxItems:"8"`
	Messages       Messages       `json:"messages,omitempty"`
	Exclude        []string       `json:"exclude,omitempty" maxItems:"1000"`
	Shown          []string       `json:"shown,omitempty" maxItems:"1000"`
	MinRelevance   *float64       `json:"min_relevance,omitempty" minimum:"0" maximum:"1"`
	Diversity      float64        `json:"diversity,omitempty" minimum:"0" maximum:"1"`
	Blocks         bool           `json:"blocks,omitempty"`
	StableTokens   int            `json:"stable_tokens,omitempty" minimum:"-1" maximum:"10000000"`
	Citations      *bool          `json:"citations,omitempty" default:"true"`
	Spotlight      bool           `json:"spotlight,omitempty"`
	Explain        bool           `json:"explain,omitempty" doc:"adds the scores of each signal to the items"`
	Exact          bool           `json:"exact,omitempty" doc:"searches vectors exhaustively"`
	Highlight      bool           `json:"highlight,omitempty"`
	ProviderParams map[string]any `json:"params,omitempty"`
}

// FilterRequest is a [ragctx.Filter] in JSON.
type FilterRequest struct {
	Tags           []string          `json:"tags,omitempty" maxItems:"256" doc:"tags that an item must all carry"`
	Metadata       map[string]string `json:"metadata,omitempty"`
	Sources        []string          `json:"sources,omitempty" maxItems:"256" example:"[\"file:docs/*\"]"`
	OccurredAfter  time.Time         `json:"occurred_after,omitzero" doc:"inclusive"`
	OccurredBefore time.Time         `json:"occurred_before,omitzero" doc:"exclusive"`
	SessionID      string            `json:"session_id,omitempty" maxLength:"512"`
}

// TransformSchema implements [huma.SchemaTransformer]. It documents the names that lower packages
// know and validate.
func (contextRequest) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	names := func(p *huma.Schema, values ...string) { p.Extensions = map[string]any{"enum": values} }
	names(s.Properties["context_types"].Items, string(ragctx.TypeMemory), string(ragctx.TypeResource),
		string(ragctx.TypeSkill))
	names(s.Properties["depth"], string(ragctx.DepthAbstract), string(ragctx.DepthOverview), string(ragctx.DepthFull))
	names(s.Properties["tokenizer"], tokens.Names()...)
	names(s.Properties["format"], xmlfmt.Names()...)
	names(s.Properties["preset"], ragctx.PresetNames()...)
	s.Properties["tokenizer"].Default = ragctx.DefaultTokenizer
	return s
}

// query returns the request in the engine's vocabulary.
func (r contextRequest) query() (ragctx.ContextQuery, error) {
	q := ragctx.ContextQuery{
		Query: r.Query, Namespace: r.Namespace, UserID: r.UserID, AgentID: r.AgentID, SessionID: r.SessionID,
		AsOf: r.AsOf, Now: r.Now, Tokenizer: r.Tokenizer, Format: r.Format, Preset: r.Preset, Queries: r.Queries,
		Messages: r.Messages,
		Exclude:  r.Exclude, Shown: r.Shown, MinRelevance: r.MinRelevance, Diversity: r.Diversity, Explain: r.Explain,
		Exact: r.Exact, Params: r.ProviderParams,
		Blocks: r.Blocks, StableTokens: r.StableTokens, Citations: r.Citations, Spotlight: r.Spotlight,
		Highlight: r.Highlight,
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
			return q, request.AtIndex(err, "context_types", i)
		}
		q.ContextTypes = append(q.ContextTypes, t)
	}
	return q, nil
}

type contextInput struct{ Body contextRequest }

// TimingHeader requests the header Server-Timing with the value "true".
const TimingHeader = "Ragctx-Timing"

type timedInput struct {
	contextInput

	Timing bool `header:"Ragctx-Timing" doc:"true adds the header Server-Timing to the answer"`
}

type contextOutput struct {
	ServerTiming string `header:"Server-Timing" doc:"duration of each stage in ms, on request; stages run concurrently"`
	Body         resolve.Answer
}

type searchOutput struct{ Body engine.SearchResult }

func (s *Server) contextRoutes() {
	register(s, huma.Operation{
		OperationID: "context", Method: http.MethodPost, Path: "/v1/context", Tags: []string{coreGroup},
		Summary: "Retrieve context for a model", DefaultStatus: http.StatusOK,
		Description: "Queries all providers concurrently, selects the best items within max_tokens and renders " +
			"them. An answer without items has a note with the reason. The answer lists every item that a provider " +
			"returned and that was dropped or shortened.",
		Responses: map[string]*huma.Response{"200": {
			Content: map[string]*huma.MediaType{jsonType: {Example: exampleAnswer()}},
		}},
	}, s.context)
	register(s, huma.Operation{
		OperationID: "search", Method: http.MethodPost, Path: "/v1/search", Tags: []string{coreGroup},
		Summary: "Search documents and memories", DefaultStatus: http.StatusOK,
		Description: "Returns the best items, best first, without a token budget: max_tokens, tokenizer, format " +
			"and preset are validated, but ignored. A note says why there are no items.",
	}, s.search)
	register(s, huma.Operation{
		OperationID: "explain", Method: http.MethodPost, Path: "/v1/explain", Tags: []string{coreGroup},
		Summary: "Explain an answer", DefaultStatus: http.StatusOK,
		Description: "Runs the query of /v1/context and diagnoses missing items step by step: available and " +
			"visible data, keyword and vector results on their own, results without each filter, and items over " +
			"budget.",
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

// exampleAnswer shows how the parts of an answer relate, which the schema cannot.
func exampleAnswer() resolve.Answer {
	return resolve.Answer{
		Items: []ragctx.ContextItem{{
			ID: "docs/deploy.md@3#4", Type: ragctx.TypeResource,
			Content:    "Run `deploy rollback` to return to the release before.",
			TokenCount: 11, Relevance: 0.83, Source: "file:docs/deploy.md", Provider: "docs", Depth: ragctx.DepthOverview,
			Metadata: map[string]any{
				"document": "docs/deploy.md", "heading": "Deploying > Rolling back", "lines": "41-41",
				"title": "Deploying",
			},
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

// searchMemories is search restricted to memories.
func (s *Server) searchMemories(ctx context.Context, in *contextInput) (*searchOutput, error) {
	q, err := in.Body.query()
	if err != nil {
		return nil, err
	}
	for i, t := range q.ContextTypes {
		if t != ragctx.TypeMemory {
			return nil, ragctx.Invalid(fmt.Sprintf("context_types[%d]", i), "is %s, but this route searches "+
				"memories only; leave the field out, or use /v1/search", t)
		}
	}
	found, err := s.engine.Search(ctx, q.WithTypes(ragctx.TypeMemory))
	return &searchOutput{found}, err
}
