package rerank

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ragctx/ragctx"
)

// Shape is the API shape of a service.
type Shape string

// The shapes.
const (
	Cohere Shape = "cohere"
	Jina   Shape = "jina"
	TEI    Shape = "tei"
)

// Shapes lists the shapes.
func Shapes() []Shape { return []Shape{Cohere, Jina, TEI} }

func (s Shape) path() string {
	switch s {
	case Cohere:
		return "/v2/rerank"
	case Jina:
		return "/v1/rerank"
	case TEI:
		return "/rerank"
	}
	return ""
}

// defaultURL returns the default service of the shape, or "".
func (s Shape) defaultURL() string {
	switch s {
	case Cohere:
		return "https://api.cohere.com"
	case Jina:
		return "https://api.jina.ai"
	default:
		return ""
	}
}

// Scale is the scale of a service's scores.
type Scale string

// The scales.
const (
	// Unit is 0 to 1: Cohere, TEI and most models with Jina's shape.
	Unit Scale = "unit"
	// Cosine is -1 to 1: jina-reranker-v3. Negative scores count as 0.
	Cosine Scale = "cosine"
	// Logit is any number: a cross-encoder's output before the logistic function, and llama.cpp.
	Logit Scale = "logit"
)

// Scales lists the scales.
func Scales() []Scale { return []Scale{Unit, Cosine, Logit} }

// tolerance is the rounding error by which a score may exceed its scale: services compute in half
// precision.
const tolerance = 1e-3

// normalize converts a score to 0..1. It returns false if the score is not on the scale.
func (s Scale) normalize(x float64) (float64, bool) {
	least := 0.0
	switch s {
	case Logit:
		return 1 / (1 + math.Exp(-x)), !math.IsNaN(x)
	case Cosine:
		least = -1
	case Unit:
	}
	return ragctx.Clamp01(x), x >= least-tolerance && x <= 1+tolerance
}

// The request bodies. Cohere and Jina return only the best top_n texts. Jina repeats the texts
// unless return_documents is false.
type (
	cohereRequest struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}
	jinaRequest struct {
		cohereRequest

		ReturnDocuments bool `json:"return_documents"`
	}
	teiRequest struct {
		Query     string   `json:"query"`
		Texts     []string `json:"texts"`
		Truncate  bool     `json:"truncate"` // otherwise a too long text fails the request
		RawScores bool     `json:"raw_scores"`
	}
)

// request returns the request body for texts.
func (s Shape) request(model string, scale Scale, query string, texts []string) ([]byte, error) {
	base := cohereRequest{Model: model, Query: query, Documents: texts, TopN: len(texts)}
	switch s {
	case TEI:
		return json.Marshal(teiRequest{Query: query, Texts: texts, Truncate: true, RawScores: scale == Logit})
	case Jina:
		return json.Marshal(jinaRequest{cohereRequest: base})
	default:
		return json.Marshal(base)
	}
}

// scored is one result. Missing fields are nil.
type scored struct {
	Index          *int     `json:"index"`
	RelevanceScore *float64 `json:"relevance_score"`
	Score          *float64 `json:"score"`
}

// readScores returns the scores of a response for n texts, from 0 to 1, in the order of the texts.
// It is an error if any text has no score or more than one.
func readScores(shape Shape, scale Scale, body []byte, n int) ([]float64, error) {
	results, err := readResults(shape, body)
	if err != nil {
		return nil, err
	}
	if len(results) != n {
		return nil, fmt.Errorf("the answer has %d results for %d texts", len(results), n)
	}
	scores := make([]float64, n)
	seen := make([]bool, n)
	for i, r := range results {
		score := r.RelevanceScore
		if shape == TEI {
			score = r.Score
		}
		switch {
		case r.Index == nil:
			return nil, fmt.Errorf("result %d has no index", i)
		case score == nil:
			return nil, fmt.Errorf("result %d has no score", i)
		case *r.Index < 0 || *r.Index >= n:
			return nil, fmt.Errorf("result %d is about text %d, but there are %d, counted from 0", i, *r.Index, n)
		case seen[*r.Index]:
			return nil, fmt.Errorf("text %d has two results", *r.Index)
		}
		unit, ok := scale.normalize(*score)
		if !ok {
			return nil, fmt.Errorf("text %d has the score %g, which is not on the scale %s; configure the scale of the model's scores",
				*r.Index, *score, scale)
		}
		scores[*r.Index], seen[*r.Index] = unit, true
	}
	return scores, nil
}

func readResults(shape Shape, body []byte) ([]scored, error) {
	if shape == TEI {
		var list []scored
		return list, answerError(shape, json.Unmarshal(body, &list))
	}
	var a struct {
		Results []scored `json:"results"`
	}
	err := answerError(shape, json.Unmarshal(body, &a))
	return a.Results, err
}

// answerError describes an error in a response's JSON without quoting much of it.
func answerError(shape Shape, err error) error {
	if err == nil {
		return nil
	}
	what := err.Error()
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s is not of type %s", e.Field, e.Type)
	}
	return fmt.Errorf("the answer does not have the shape of %s: %s", shape, ragctx.Clip(what))
}
