package index_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/index"
)

func TestWordingsReachTheLexicalLeg(t *testing.T) {
	h, w, _ := open(t)
	p := &index.Item{ID: 1, Recorded: t0, Session: "s", Occurred: t0}
	apply(t, h, index.Batch{Seq: 1, Add: []index.Chunk{
		entry(1, 1, p, "red apple", 1, 0),
		entry(2, 1, p, "green pear", 0, 1),
		entry(3, 1, p, "blue plum"),
	}})
	more := []index.Wording{{Text: "pear", Weight: 0.5}, {Text: "plum", Weight: 0.25}}
	params := index.KeywordParams{K1: 2, Grams: -1}
	for name, c := range map[string]struct {
		q     index.Query
		want  []uint64
		asked []index.Wording
	}{
		"text alone":           {index.Query{Text: "apple"}, []uint64{1}, []index.Wording{{Text: "apple", Weight: 1}}},
		"text and more":        {index.Query{Text: "apple", More: more}, []uint64{1, 2, 3}, append([]index.Wording{{Text: "apple", Weight: 1}}, more...)},
		"more alone":           {index.Query{More: more}, []uint64{2, 3}, more},
		"features":             {index.Query{More: more, Conversation: &index.ConversationWeights{}}, []uint64{2, 3}, more},
		"more that counts not": {index.Query{More: []index.Wording{{Text: "pear"}, {Weight: 1}}}, nil, nil},
		"vectors alone":        {index.Query{Text: "apple", More: more, Fusion: index.Fusion{Method: "vector"}}, nil, nil},
		"more and a vector": {
			index.Query{More: more, Vector: []float32{1, 0}, Fusion: index.Fusion{VectorWeight: 9}}, []uint64{1, 2, 3}, more,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w.asked = index.KeywordQuery{}
			c.q.Keyword = params
			r := search(t, h, c.q)
			if got := ids(r); !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
			}
			for _, hit := range r.Hits {
				if !(hit.Score > 0 && hit.Score <= 1) {
					t.Errorf("chunk %d has a relevance of %v", hit.ID, hit.Score)
				}
			}
			if got := w.asked.Wordings(); !slices.Equal(got, c.asked) {
				t.Errorf("the index was asked for %v, want %v", got, c.asked)
			}
			if w.asked.K > 0 && w.asked.Params != params {
				t.Errorf("the index was asked with %+v, want %+v", w.asked.Params, params)
			}
		})
	}
}

func TestBadParamsAreNoFaultOfALeg(t *testing.T) {
	h, _, _ := open(t)
	_, err := h.Search(t.Context(), index.Query{Text: "apple", Vector: []float32{1, 0}, K: 1, Keyword: index.KeywordParams{B: 2}})
	if !errors.Is(err, ragctx.ErrInvalid) {
		t.Errorf("Search = %v, want ErrInvalid", err)
	}
}

func TestWordings(t *testing.T) {
	q := index.KeywordQuery{More: []index.Wording{
		{Text: "a", Weight: 1}, {Text: "", Weight: 1}, {Text: "b", Weight: 0}, {Text: "c", Weight: -1}, {Text: "d", Weight: math.NaN()}, {Text: "e", Weight: math.Inf(1)}, {Text: "f", Weight: 1e-9}, {Text: "g", Weight: math.Inf(-1)},
	}}
	want := []index.Wording{{Text: "a", Weight: 1}, {Text: "e", Weight: index.MaxWordingWeight}, {Text: "f", Weight: 1e-9}}
	if got := q.Wordings(); !slices.Equal(got, want) {
		t.Errorf("Wordings = %v, want %v", got, want)
	}
	q.Text = "text"
	if got := q.Wordings(); !slices.Equal(got, append([]index.Wording{{Text: "text", Weight: 1}}, want...)) {
		t.Errorf("Wordings = %v, want the text before %v", got, want)
	}
}

func TestLexicalParams(t *testing.T) {
	defaults := index.KeywordParams{K1: 1.2, B: 0.9, Pairs: 0.2, Grams: 0.2, Passage: 0.5, Opening: 0.15}
	for _, c := range []struct{ in, want index.KeywordParams }{
		{index.KeywordParams{}, defaults},
		{index.KeywordParams{Pairs: -1, Grams: -100, Passage: -0.1, Opening: -1}, index.KeywordParams{K1: 1.2, B: 0.9}},
		{index.KeywordParams{K1: 1000, B: 1, Pairs: 100, Grams: 100, Passage: 100, Opening: 100}, index.KeywordParams{1000, 1, 100, 100, 100, 100}},
		{defaults, defaults},
	} {
		if err := c.in.Validate(); err != nil {
			t.Errorf("%+v: %v", c.in, err)
		}
		if got := c.in.WithDefaults(); got != c.want {
			t.Errorf("%+v with defaults is %+v, want %+v", c.in, got, c.want)
		}
	}
	for field, p := range map[string]index.KeywordParams{
		"keyword.k1": {K1: -0.1}, "keyword.b": {B: 1.01}, "keyword.pairs": {Pairs: math.NaN()},
		"keyword.grams": {Grams: 100.5}, "keyword.passage": {Passage: math.Inf(1)},
	} {
		err := p.Validate()
		if fault := new(ragctx.FieldError); !errors.As(err, &fault) || fault.Field != field || !errors.Is(err, ragctx.ErrInvalid) ||
			!strings.Contains(err.Error(), "must be") {
			t.Errorf("%+v: %v, want an error that names %s", p, err, field)
		}
	}
}

func TestLexicalParamsAsJSON(t *testing.T) {
	for text, p := range map[string]index.KeywordParams{
		`{}`:                                {},
		`{"k1":1.5,"grams":-1}`:             {K1: 1.5, Grams: -1},
		`{"b":0.5,"pairs":0.1,"passage":1}`: {B: 0.5, Pairs: 0.1, Passage: 1},
	} {
		if b, err := json.Marshal(p); err != nil || string(b) != text {
			t.Errorf("%+v is %s, %v; want %s", p, b, err, text)
		}
		var got index.KeywordParams
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != p {
			t.Errorf("%s: %v, %v", text, cmp.Diff(p, got), err)
		}
	}
}
