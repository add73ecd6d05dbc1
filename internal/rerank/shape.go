package rerank

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ragctx/ragctx"
)

// Shape is the form of a service's requests and answers.
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

// hosted returns the service that is asked unless another one is named.
func (s Shape) hosted() string {
	switch s {
	case Cohere:
		return "https://api.cohere.com"
	case Jina:
		return "https://api.jina.ai"
	default:
		return ""
	}
}

// Scale says how a service's scores are to be read.
type Scale string

// The scales.
const (
	// Unit is 0 to 1, as Cohere, TEI and most models behind Jina's shape have it.
	Unit Scale = "unit"
	// Cosine is -1 to 1, as jina-reranker-v3 has it. What is negative counts as 0.
	Cosine Scale = "cosine"
	// Logit is any number, as cross-encoders give it before the logistic function,
	// and llama.cpp as well.
	Logit Scale = "logit"
)

// Scales lists the scales.
func Scales() []Scale { return []Scale{Unit, Cosine, Logit} }

// tolerance is how far beyond its scale a score may lie by rounding: services
// compute in half precision.
const tolerance = 1e-3

// unit brings a score to 0..1, and reports false if it is not of the scale.
func (s Scale) unit(x float64) (float64, bool) {
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

// The requests. Cohere and Jina return the best top_n texts only, and Jina
// repeats the texts unless told not to.
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
		Truncate  bool     `json:"truncate"` // or texts that are too long fail the request
		RawScores bool     `json:"raw_scores"`
	}
)

// request returns the body that asks for the scores of texts.
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

// scored is one result. What is absent stays nil.
type scored struct {
	Index          *int     `json:"index"`
	RelevanceScore *float64 `json:"relevance_score"`
	Score          *float64 `json:"score"`
}

// readScores returns the scores of an answer to n texts, in the order of the
// texts, 0 to 1. Anything but one score for each text is an error.
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
		unit, ok := scale.unit(*score)
		if !ok {
			return nil, fmt.Errorf("text %d has the score %g, which is not on the scale %s; say which scale the model's scores have", *r.Index, *score, scale)
		}
		scores[*r.Index], seen[*r.Index] = unit, true
	}
	return scores, nil
}

func readResults(shape Shape, body []byte) ([]scored, error) {
	if shape == TEI {
		var list []scored
		return list, asAnswerError(shape, json.Unmarshal(body, &list))
	}
	var a struct {
		Results []scored `json:"results"`
	}
	err := asAnswerError(shape, json.Unmarshal(body, &a))
	return a.Results, err
}

// asAnswerError says what is wrong with an answer's JSON, and little of what is
// in it.
func asAnswerError(shape Shape, err error) error {
	if err == nil {
		return nil
	}
	what := err.Error()
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s is not of type %s", e.Field, e.Type)
	}
	return fmt.Errorf("the answer is not that of a service of shape %s: %s", shape, ragctx.Clip(what))
}
