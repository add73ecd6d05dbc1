package remote

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/httpclient"
)

// Shape is the API shape of a service.
type Shape string

// The shapes.
const (
	OpenAI Shape = "openai"
	Ollama Shape = "ollama"
	TEI    Shape = "tei"
)

// Shapes lists the shapes.
func Shapes() []Shape { return []Shape{OpenAI, Ollama, TEI} }

func (s Shape) path() string {
	switch s {
	case OpenAI:
		return "/v1/embeddings"
	case Ollama:
		return "/api/embed"
	case TEI:
		return "/embed"
	}
	return ""
}

// defaultURL returns the default service of the shape, or "".
func (s Shape) defaultURL() string {
	switch s {
	case OpenAI:
		return "https://api.openai.com"
	case Ollama:
		return "http://127.0.0.1:11434"
	default:
		return ""
	}
}

// The request bodies. Truncate makes Ollama and TEI truncate texts that are too long for the model,
// which otherwise fail the request.
type (
	openAIRequest struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Encoding   string   `json:"encoding_format"`
		Dimensions int      `json:"dimensions,omitempty"`
	}
	ollamaRequest struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Truncate   bool     `json:"truncate"`
		Dimensions int      `json:"dimensions,omitempty"`
	}
	teiRequest struct {
		Inputs     []string `json:"inputs"`
		Truncate   bool     `json:"truncate"`
		Normalize  bool     `json:"normalize"`
		Dimensions int      `json:"dimensions,omitempty"`
	}
)

// request returns the request body for texts.
func (o *Options) request(texts []string) ([]byte, error) {
	dim := 0
	if o.Shorten {
		dim = o.Dimensions
	}
	switch o.Shape {
	case Ollama:
		return json.Marshal(ollamaRequest{Model: o.Model, Input: texts, Truncate: true, Dimensions: dim})
	case TEI:
		return json.Marshal(teiRequest{Inputs: texts, Truncate: true, Normalize: true, Dimensions: dim})
	default:
		r := openAIRequest{Model: o.Model, Input: texts, Encoding: "float", Dimensions: dim}
		if o.Base64 {
			r.Encoding = "base64"
		}
		return json.Marshal(r)
	}
}

// maxAnswer returns the size limit in bytes of a response with n vectors. A component takes up to
// about 25 bytes.
func maxAnswer(n, dim int) int64 {
	if dim == 0 {
		dim = MaxDimensions
	}
	return 64<<10 + int64(n)*(int64(dim)*32+256)
}

// vector is a list of numbers, or the base64 of little-endian float32s.
type vector []float32

var errVector = errors.New("a vector is neither a list of numbers nor float32s in base64")

// UnmarshalJSON implements [json.Unmarshaler]. Its input is valid JSON, so a list ends with its
// bracket and commas separate the numbers. Parsing them here saves a third of the time of decoding
// a response.
func (v *vector) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("null")):
		*v = nil
		return nil
	case len(b) > 1 && b[0] == '"':
		return v.unpack(b)
	case len(b) < 2 || b[0] != '[':
		return errVector
	}
	*v = vector{}
	list := bytes.TrimSpace(b[1 : len(b)-1])
	if len(list) == 0 {
		return nil
	}
	*v = make(vector, 0, bytes.Count(list, []byte{','})+1)
	for number := range bytes.SplitSeq(list, []byte{','}) {
		x, err := strconv.ParseFloat(string(bytes.TrimSpace(number)), 32)
		if err != nil {
			return errVector
		}
		*v = append(*v, float32(x))
	}
	return nil
}

func (v *vector) unpack(quoted []byte) error {
	var text string
	if err := json.Unmarshal(quoted, &text); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw)%4 != 0 {
		return errVector
	}
	*v = make(vector, len(raw)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return nil
}

// reply is the decoded response: the vectors, and the reported number of tokens or 0.
type reply struct {
	vectors []vector
	tokens  int64
}

// readReply decodes the response for n texts. It is an error if any text has no vector or more than
// one.
func readReply(shape Shape, a httpclient.Answer, n int) (reply, error) {
	var r reply
	var err error
	switch shape {
	case OpenAI:
		return readOpenAI(a.Body, n)
	case Ollama:
		var list struct {
			Embeddings []vector `json:"embeddings"`
			Tokens     int64    `json:"prompt_eval_count"`
		}
		err = json.Unmarshal(a.Body, &list)
		r = reply{list.Embeddings, max(list.Tokens, 0)}
	default:
		err = json.Unmarshal(a.Body, &r.vectors)
		r.tokens = countHeader(a.Header)
	}
	if err != nil {
		return reply{}, answerError(shape, err)
	}
	if len(r.vectors) != n {
		return reply{}, fmt.Errorf("the answer has %d vectors for %d texts", len(r.vectors), n)
	}
	return r, nil
}

// countHeader returns the number of tokens that a TEI server reported.
func countHeader(h http.Header) int64 {
	n, err := strconv.ParseInt(h.Get("X-Compute-Tokens"), 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

func readOpenAI(body []byte, n int) (reply, error) {
	var a struct {
		Data []struct {
			Index     *int    `json:"index"`
			Embedding *vector `json:"embedding"`
		} `json:"data"`
		Usage struct {
			PromptTokens int64 `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return reply{}, answerError(OpenAI, err)
	}
	if len(a.Data) != n {
		return reply{}, fmt.Errorf("the answer has %d vectors for %d texts", len(a.Data), n)
	}
	vectors := make([]vector, n)
	for i, d := range a.Data {
		switch {
		case d.Index == nil:
			return reply{}, fmt.Errorf("vector %d has no index", i)
		case d.Embedding == nil || *d.Embedding == nil:
			return reply{}, fmt.Errorf("vector %d is missing", i)
		case *d.Index < 0 || *d.Index >= n:
			return reply{}, fmt.Errorf("vector %d is of text %d, but there are %d, counted from 0", i, *d.Index, n)
		case vectors[*d.Index] != nil:
			return reply{}, fmt.Errorf("text %d has two vectors", *d.Index)
		}
		vectors[*d.Index] = *d.Embedding
	}
	return reply{vectors, max(a.Usage.PromptTokens, 0)}, nil
}

// answerError describes an error in a response's JSON without quoting much of it.
func answerError(shape Shape, err error) error {
	what := err.Error()
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what = fmt.Sprintf("%s is not of type %s", ragctx.Clip(e.Field), e.Type)
	}
	return fmt.Errorf("the answer does not have the shape of %s: %s", shape, ragctx.Clip(what))
}

// normalize returns v normalized to length 1, or nil if v is zero. It is an error if the number of
// components differs from dim, unless dim is 0, or if a component is not finite.
func normalize(v vector, dim int) ([]float32, error) {
	switch {
	case len(v) == 0:
		return nil, errors.New("a vector of the answer has no components")
	case dim > 0 && len(v) != dim:
		return nil, fmt.Errorf("%w: the service's vectors have %d components instead of %d: it has another model or shortens them; "+
			"correct the setting, or change the embedder", ragctx.ErrConflict, len(v), dim)
	case len(v) > MaxDimensions:
		return nil, fmt.Errorf("a vector of the answer has %d components; the limit is %d", len(v), MaxDimensions)
	}
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("a vector of the answer has a component that is not finite")
	}
	if sum == 0 {
		return nil, nil
	}
	out, length := make([]float32, len(v)), math.Sqrt(sum)
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out, nil
}
