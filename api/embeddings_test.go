package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/embed/builtin"
	"github.com/ragctx/ragctx/internal/access"
)

func TestEmbeddings(t *testing.T) {
	f := start(t, Options{})
	want, err := builtin.Default().EmbedDocuments(t.Context(), []string{"roll back a release", "", "undo a deployment"})
	if err != nil {
		t.Fatal(err)
	}
	id := builtin.Default().Identity()
	for _, model := range []string{"", `"model":"static",`, fmt.Sprintf(`"model":%q,`, id.Name), fmt.Sprintf(`"model":%q,`, id.Name+"@"+id.Revision)} {
		for _, format := range []string{"", `"encoding_format":"float",`, `"encoding_format":"base64",`} {
			a := f.call(t, "POST", "/v1/embeddings", `{`+model+format+`"user":"u","input":["roll back a release","","undo a deployment"]}`)
			var got embeddings
			if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
				t.Fatalf("%d, %v: %s", a.status, err, a.body)
			}
			if got.Object != "list" || got.Model != id.Name+"@"+id.Revision || got.Usage != (embeddingUsage{7, 7}) || len(got.Data) != 3 {
				t.Errorf("%+v", got)
			}
			for i, e := range got.Data {
				if e.Object != "embedding" || e.Index != i || !slices.Equal(e.Vector.Values, want[i]) || e.Vector.Base64 != strings.Contains(format, "base64") {
					t.Errorf("vector %d is not the embedder's: %+v", i, e)
				}
			}
		}
	}
	a := f.call(t, "POST", "/v1/embeddings", `{"input":"人人生而自由","dimensions":256}`)
	if a.status != 200 || !strings.Contains(a.body, `"embedding":[]`) {
		t.Errorf("nothing to say: %d %s", a.status, a.body)
	}
}

// TestEmbeddingsOfReaders: who may only read sends less at once.
func TestEmbeddingsOfReaders(t *testing.T) {
	text := strings.Repeat("roll back ", maxReadKeyEmbedding/20)
	for role, fails := range map[access.Role]bool{access.Read: true, access.Write: false} {
		ctx := access.With(t.Context(), access.Grant{Key: "k", Role: role})
		if _, err := embedTexts(ctx, embeddingRequest{Input: embeddingInput{text}}); err != nil {
			t.Errorf("%s: half of the limit: %v", role, err)
		}
		if _, err := embedTexts(ctx, embeddingRequest{Input: embeddingInput{text, text, strings.Repeat("x", 20)}}); errors.Is(err, ragctx.ErrTooLarge) != fails {
			t.Errorf("%s: more than the limit: %v", role, err)
		}
	}
}

func TestEmbeddingsRefused(t *testing.T) {
	f := start(t, Options{})
	texts := `"` + strings.Repeat(`a","`, maxEmbeddingInputs) + `a"`
	for body, want := range map[string]string{
		`{"input":[]}`:                                                 "body.input",
		`{"input":[1,"a"]}`:                                            "body",
		`{"input":[[1,2],[-3]]}`:                                       "body",
		`{"input":[1234567]}`:                                          "body",
		`{"input":["a",null]}`:                                         "body.input[1]",
		`{"input":[` + texts + `]}`:                                    "body.input",
		`{"input":"a","model":"text-embedding-3"}`:                     "body.model",
		`{"input":"a","dimensions":128}`:                               "body.dimensions",
		`{"input":"a","encoding_format":"float64"}`:                    "body.encoding_format",
		`{"input":"` + strings.Repeat("a", maxEmbeddingBytes+1) + `"}`: "body.input",
		`{"input":["a","` + strings.Repeat("é", maxEmbeddingBytes/2+1) + `"]}`: "body.input",
	} {
		p := f.call(t, "POST", "/v1/embeddings", body).problem(t)
		if p.Status != 422 || len(p.Errors) == 0 || p.Errors[0].Location != want {
			t.Errorf("%.60s: %+v", body, p)
		}
	}
}

func TestClientEmbed(t *testing.T) {
	f := start(t, Options{})
	vectors, model, err := f.client.Embed(t.Context(), "roll back a release", "?!")
	if err != nil || len(vectors) != 2 || vectors[1] != nil || !strings.HasPrefix(model, builtin.Default().Identity().Name) {
		t.Fatalf("%d vectors of %q, %v", len(vectors), model, err)
	}
	var squares float64
	for _, x := range vectors[0] {
		squares += float64(x) * float64(x)
	}
	if math.Abs(squares-1) > 1e-5 {
		t.Errorf("length² %g", squares)
	}
	if _, _, err := f.client.Embed(t.Context()); !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("no texts: %v", err)
	}
}

func TestVectorJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]vector{
		`[]`: {Values: []float32{}}, `[1,0,-0.5]`: {Values: []float32{1, 0, -.5}}, `""`: {Base64: true}, `"AACAPwAAAL8="`: {Values: []float32{1, -.5}, Base64: true},
	} {
		var v vector
		if err := json.Unmarshal([]byte(text), &v); err != nil || v.Base64 != want.Base64 || !slices.Equal(v.Values, want.Values) {
			t.Errorf("%s: %+v, %v", text, v, err)
		}
		if out, err := json.Marshal(v); err != nil || string(out) != text {
			t.Errorf("%s: written as %s, %v", text, out, err)
		}
	}
	for _, text := range []string{`"AAA="`, `"%"`, `{}`, `["a"]`} {
		if err := json.Unmarshal([]byte(text), new(vector)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestEmbedTokens compares vectors of tokens with those of their texts, as LangChain's OpenAIEmbeddings sends
// them.
func TestEmbedTokens(t *testing.T) {
	f := start(t, Options{})
	of := func(input string) (out embeddings) {
		t.Helper()
		a := f.call(t, "POST", "/v1/embeddings", `{"input":`+input+`}`)
		if err := json.Unmarshal([]byte(a.body), &out); err != nil || a.status != 200 {
			t.Fatalf("%s: %d: %s", input, a.status, a.body)
		}
		return out
	}
	texts := of(`["hello world", "hello"]`) // tokens by tiktoken
	if got := of(`[[15339, 1917], [15339]]`); !reflect.DeepEqual(got, texts) {
		t.Errorf("lists of tokens: %+v, want %+v", got, texts)
	}
	if got := of(`[15339, 1917]`); len(got.Data) != 1 || !reflect.DeepEqual(got.Data[0], texts.Data[0]) {
		t.Errorf("tokens: %+v", got)
	}
}
