package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/api/internal/compat"
	"github.com/ragctx/ragctx/embed"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/internal/access"
	"github.com/ragctx/ragctx/internal/tokens"
)

const (
	maxEmbeddingInputs = 2048 // OpenAI's limit
	maxEmbeddingBytes  = 1 << 20
	// maxReadKeyEmbedding limits requests with a read key: about a quarter of a second of work.
	maxReadKeyEmbedding = 512 << 10
)

// embeddingRequest requests vectors, in OpenAI's format.
type embeddingRequest struct {
	Input          embeddingInput `json:"input" example:"\"roll back a release\""`
	Model          string         `json:"model,omitempty" maxLength:"512" default:"static"`
	EncodingFormat string         `json:"encoding_format,omitempty" enum:"float,base64" default:"float"`
	Dimensions     *int           `json:"dimensions,omitempty" minimum:"1" maximum:"65536"`
	User           string         `json:"user,omitempty" maxLength:"512" doc:"ignored"`
}

// embeddingInput is a text or a list of texts.
type embeddingInput []string

func (in embeddingInput) bytes() (n int) {
	for _, text := range in {
		n += len(text)
	}
	return n
}

// Schema implements [huma.SchemaProvider].
func (embeddingInput) Schema(huma.Registry) *huma.Schema {
	limit, length := maxEmbeddingInputs, maxEmbeddingBytes
	text := &huma.Schema{Type: huma.TypeString, MaxLength: &length}
	token := &huma.Schema{Type: huma.TypeNumber}
	return &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeArray, Items: &huma.Schema{OneOf: []*huma.Schema{
		text, token, {Type: huma.TypeArray, Items: token},
	}}, Description: fmt.Sprintf("up to %d texts, or lists of tokens of cl100k_base", limit)}}}
}

// tokens decodes a list of tokens, or of such lists.
func (in *embeddingInput) tokens(b []byte) error {
	lists := make([][]int, 1)
	if json.Unmarshal(b, &lists[0]) != nil || len(lists[0]) == 0 {
		lists = nil
		if err := json.Unmarshal(b, &lists); err != nil {
			return ragctx.Invalid("input", "mixes texts and tokens; send a text, a list of texts, or lists of tokens")
		}
	}
	*in = nil
	for _, list := range lists {
		text, err := tokens.Decode(list)
		if err != nil {
			return err
		}
		*in = append(*in, text)
	}
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler].
func (in *embeddingInput) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*in = embeddingInput{text}
		return nil
	}
	if json.Unmarshal(b, (*[]string)(in)) == nil {
		return nil
	}
	return in.tokens(b)
}

// embeddings is a list of vectors, in OpenAI's format.
type embeddings struct {
	Object string         `json:"object" enum:"list"`
	Data   []embedding    `json:"data" nullable:"false" doc:"one embedding per text, in order"`
	Model  string         `json:"model" example:"ragctx-static-en@1"`
	Usage  embeddingUsage `json:"usage"`
}

// embedding is one vector.
type embedding struct {
	Object string `json:"object" enum:"embedding"`
	Index  int    `json:"index" doc:"position of the text"`
	Vector vector `json:"embedding"`
}

// embeddingUsage counts tokens.
type embeddingUsage struct {
	PromptTokens int `json:"prompt_tokens" doc:"tokens of the texts, by the model's tokenizer"`
	TotalTokens  int `json:"total_tokens"`
}

// vector is a vector, sent as a list of numbers or in base64.
type vector struct {
	Values []float32
	Base64 bool
}

// Schema implements [huma.SchemaProvider].
func (vector) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeNumber, Format: "float"}},
		{Type: huma.TypeString, ContentEncoding: "base64"},
	}}
}

// MarshalJSON implements [json.Marshaler].
func (v vector) MarshalJSON() ([]byte, error) {
	if !v.Base64 {
		return json.Marshal(append([]float32{}, v.Values...)) // an empty list, not null
	}
	raw := make([]byte, 0, 4*len(v.Values))
	for _, x := range v.Values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(raw))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *vector) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte{'"'}) {
		v.Base64 = false
		return json.Unmarshal(b, &v.Values)
	}
	var raw []byte
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("a vector of %d bytes", len(raw))
	}
	v.Base64, v.Values = true, nil
	for ; len(raw) > 0; raw = raw[4:] {
		v.Values = append(v.Values, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return nil
}

type embeddingsInput struct{ Body embeddingRequest }

type embeddingsOutput struct{ Body embeddings }

func (s *Server) embeddingRoutes() {
	register(s, huma.Operation{
		OperationID: "embeddings", Method: http.MethodPost, Path: "/v1/embeddings", Tags: []string{compat.Group},
		Summary: "Embed texts",
		Description: "Embeds texts with the built-in model in OpenAI's format, independently of the embedder of " +
			"the data directory. A text that the model cannot embed has an empty vector, never zeros.",
		DefaultStatus: http.StatusOK,
	}, func(ctx context.Context, in *embeddingsInput) (*embeddingsOutput, error) {
		out, err := embedTexts(ctx, in.Body)
		return &embeddingsOutput{out}, err
	})
}

func embedTexts(ctx context.Context, r embeddingRequest) (embeddings, error) {
	model := builtin.Default()
	id := model.Identity()
	name := id.Name + "@" + id.Revision
	switch {
	case len(r.Input) == 0:
		return embeddings{}, ragctx.Invalid("input", "is empty; send a text, or up to %d", maxEmbeddingInputs)
	case len(r.Input) > maxEmbeddingInputs:
		return embeddings{}, ragctx.Invalid("input", "has %d texts; the limit is %d", len(r.Input), maxEmbeddingInputs)
	case r.Model != "" && r.Model != builtin.DefaultName && r.Model != id.Name && r.Model != name:
		return embeddings{}, ragctx.Invalid("model", "is %q; use %q or %q", ragctx.Clip(r.Model), builtin.DefaultName, name)
	case r.Dimensions != nil && *r.Dimensions != id.Dimensions:
		return embeddings{}, ragctx.Invalid("dimensions", "is %d, and the model has %d; leave it out", *r.Dimensions,
			id.Dimensions)
	}
	for i, text := range r.Input { // the schema counts characters
		if len(text) > maxEmbeddingBytes {
			return embeddings{}, ragctx.Invalid("input", "text %d, counted from 0, has %d bytes; the limit is %d", i,
				len(text), maxEmbeddingBytes)
		}
	}
	if size := r.Input.bytes(); size > maxReadKeyEmbedding && access.From(ctx).RequireRole(access.Write) != nil {
		return embeddings{}, ragctx.TooLarge("input",
			"has %d bytes; the limit of a read key is %d: send fewer texts at once, or use a write key", size,
			maxReadKeyEmbedding)
	}
	vectors, err := model.EmbedDocuments(ctx, r.Input)
	if err != nil {
		return embeddings{}, err
	}
	out := embeddings{Object: "list", Data: make([]embedding, len(vectors)), Model: name}
	for i, v := range vectors {
		out.Data[i] = embedding{Object: "embedding", Index: i, Vector: vector{
			Values: v,
			Base64: r.EncodingFormat == "base64",
		}}
		if c, ok := model.(embed.TokenCounter); ok {
			out.Usage.PromptTokens += c.CountTokens(r.Input[i])
		}
	}
	out.Usage.TotalTokens = out.Usage.PromptTokens
	return out, nil
}

// Embed returns the vectors of up to 2048 texts from the server's built-in model; nil for a text
// that the model cannot embed. The model's name includes its revision: only vectors of equal names
// are comparable.
func (c *Client) Embed(ctx context.Context, texts ...string) (vectors [][]float32, model string, err error) {
	var out embeddings
	err = c.do(ctx, http.MethodPost, "/v1/embeddings", nil, embeddingRequest{Input: texts, EncodingFormat: "base64"}, &out)
	if err != nil {
		return nil, "", err
	}
	if len(out.Data) != len(texts) {
		return nil, "", fmt.Errorf("%w: the answer has %d vectors for %d texts", ragctx.ErrUnavailable, len(out.Data),
			len(texts))
	}
	for _, e := range out.Data {
		vectors = append(vectors, e.Vector.Values)
	}
	return vectors, out.Model, nil
}
