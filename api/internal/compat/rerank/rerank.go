// Package rerank has the route of a reranker in the form of Cohere and Jina.
package rerank

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/engine"
)

// Limits of a request.
const (
	maxTexts     = 1000
	maxTextBytes = 2 << 20 // of all texts: about .2 s of work without a reranker
	maxQuery     = ragctx.MaxQueryBytes
)

// passage is a text, or an object with one.
type passage struct{ Text string }

// Schema implements [huma.SchemaProvider].
func (passage) Schema(huma.Registry) *huma.Schema {
	length := maxTextBytes
	text := &huma.Schema{Type: huma.TypeString, MaxLength: &length}
	return &huma.Schema{OneOf: []*huma.Schema{
		text, {Type: huma.TypeObject, Properties: map[string]*huma.Schema{"text": text}, Required: []string{"text"}},
	}}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *passage) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &p.Text) == nil {
		return nil
	}
	var object struct {
		Text string `json:"text"`
	}
	err := json.Unmarshal(b, &object)
	p.Text = object.Text
	return err
}

// request asks for the relevance of documents.
type request struct {
	Query           string    `json:"query" minLength:"1" doc:"the question"`
	Documents       []passage `json:"documents" minItems:"1" maxItems:"1000" nullable:"false" doc:"texts, or objects with text"`
	Model           string    `json:"model,omitempty" maxLength:"512" doc:"ignored, and returned"`
	TopN            int       `json:"top_n,omitempty" minimum:"1" doc:"maximum number of results; default is all"`
	ReturnDocuments bool      `json:"return_documents,omitempty" doc:"return the texts too"`
	MaxTokensPerDoc int       `json:"max_tokens_per_doc,omitempty" minimum:"0" doc:"ignored: whole texts are scored"`
	Priority        int       `json:"priority,omitempty" doc:"ignored"`
}

// result is the relevance of a document.
type result struct {
	Index          int       `json:"index" doc:"place in the request, from 0"`
	RelevanceScore float64   `json:"relevance_score" doc:"probability that the document answers, 0 to 1"`
	Document       *document `json:"document,omitempty" doc:"the text, if it was requested"`
}

// document is the text of a result.
type document struct {
	Text string `json:"text" doc:"the text"`
}

// answer has the documents, most relevant first.
type answer struct {
	ID      string   `json:"id" doc:"id of the answer"`
	Object  string   `json:"object" doc:"always list"`
	Model   string   `json:"model" doc:"as requested"`
	Results []result `json:"results" nullable:"false" doc:"the documents, most relevant first"`
	Meta    meta     `json:"meta" doc:"version and units, for clients that read them"`
	Usage   usage    `json:"usage" doc:"always 0: nothing is billed"`
}

type meta struct {
	APIVersion  apiVersion  `json:"api_version" doc:"version of the format"`
	BilledUnits billedUnits `json:"billed_units" doc:"always 0"`
}

type apiVersion struct {
	Version string `json:"version" doc:"1 or 2"`
}

type billedUnits struct {
	SearchUnits int `json:"search_units" doc:"always 0"`
}

type usage struct {
	TotalTokens int `json:"total_tokens" doc:"always 0"`
}

type input struct{ Body request }

type output struct{ Body answer }

// Routes returns the routes.
func Routes(e *engine.Engine) []compat.Route {
	var routes []compat.Route
	for version, id := range [...]string{"rerank", "rerank-v2"} {
		op := huma.Operation{
			OperationID: id, Method: http.MethodPost, Path: fmt.Sprintf("/v%d/rerank", version+1), Tags: []string{"compatibility"},
			Summary: "Rerank texts",
			Description: "Scores texts by their relevance to a question: with the reranker of the settings, or else with the ranking of " +
				"ragctx. Nothing is stored.",
			DefaultStatus: http.StatusOK,
		}
		routes = append(routes, compat.Handle(op, func(ctx context.Context, in *input) (*output, error) {
			out, err := score(ctx, e, in.Body)
			out.Meta.APIVersion.Version = fmt.Sprint(version + 1)
			return &output{out}, err
		}))
	}
	return routes
}

func score(ctx context.Context, e *engine.Engine, r request) (answer, error) {
	if n := len(r.Documents); n < 1 || n > maxTexts {
		return answer{}, ragctx.Invalid("documents", "has %d texts; send 1 to %d", n, maxTexts)
	}
	if len(r.Query) > maxQuery {
		return answer{}, ragctx.TooLarge("query", "has %d bytes; the limit is %d", len(r.Query), maxQuery)
	}
	texts, size := make([]string, len(r.Documents)), 0
	for i, d := range r.Documents {
		texts[i] = d.Text
		size += len(d.Text)
	}
	if size > maxTextBytes {
		return answer{}, ragctx.TooLarge("documents", "have %d bytes; the limit is %d: send fewer at once", size, maxTextBytes)
	}
	scores, err := e.Indexes().Rerank(ctx, r.Query, texts)
	if err != nil {
		return answer{}, err
	}
	out := answer{ID: e.NewID(), Object: "list", Model: cmp.Or(r.Model, "ragctx"), Results: make([]result, len(texts))}
	for i, s := range scores {
		out.Results[i] = result{Index: i, RelevanceScore: s}
		if r.ReturnDocuments {
			out.Results[i].Document = &document{texts[i]}
		}
	}
	slices.SortStableFunc(out.Results, func(a, b result) int { return cmp.Compare(b.RelevanceScore, a.RelevanceScore) })
	out.Results = out.Results[:min(cmp.Or(r.TopN, len(out.Results)), len(out.Results))]
	return out, nil
}
