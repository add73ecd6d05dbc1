package wordpiece

import (
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// tokenizerFile is the part of a tokenizer.json (of the library "tokenizers") that determines token
// ids.
type tokenizerFile struct {
	Normalizer   *normalizerPart `json:"normalizer"`
	PreTokenizer *struct {
		Type string `json:"type"`
	} `json:"pre_tokenizer"`
	Added []addedToken `json:"added_tokens"`
	Model struct {
		Type     string          `json:"type"`
		Unknown  string          `json:"unk_token"`
		Prefix   *string         `json:"continuing_subword_prefix"`
		MaxRunes *int            `json:"max_input_chars_per_word"`
		Vocab    json.RawMessage `json:"vocab"`
	} `json:"model"`
}

type normalizerPart struct {
	Type      string            `json:"type"`
	Clean     *bool             `json:"clean_text"`
	Han       *bool             `json:"handle_chinese_chars"`
	Strip     *bool             `json:"strip_accents"`
	Lower     *bool             `json:"lowercase"`
	Sequenced []*normalizerPart `json:"normalizers"`
}

// addedToken is matched in the text before all other tokens.
type addedToken struct {
	ID         int    `json:"id"`
	Content    string `json:"content"`
	Special    bool   `json:"special"`
	Normalized bool   `json:"normalized"`
	SingleWord bool   `json:"single_word"`
}

func badTokenizer(format string, args ...any) error {
	return ragctx.Invalid("tokenizer.json", format, args...)
}

// Parse returns the tokenizer of a tokenizer.json.
func Parse(data []byte) (*Tokenizer, error) {
	tokens, r, err := parseFile(data)
	if err != nil {
		return nil, err
	}
	return New(tokens, r)
}

// parseFile parses a tokenizer.json. It returns the tokens in the order of their ids, and the rules.
func parseFile(data []byte) ([]string, Rules, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, Rules{}, badTokenizer("is invalid: %v", err)
	}
	const supported = "; only WordPiece with BertNormalizer and BertPreTokenizer is supported"
	m := &f.Model
	switch {
	case m.Type != "WordPiece":
		return nil, Rules{}, badTokenizer("has a model of type %q"+supported, ragctx.Clip(m.Type))
	case m.Prefix != nil && *m.Prefix != continued:
		return nil, Rules{}, badTokenizer("has the prefix %q for continuations; only %q is supported", ragctx.Clip(*m.Prefix), continued)
	case f.PreTokenizer == nil || f.PreTokenizer.Type != "BertPreTokenizer":
		return nil, Rules{}, badTokenizer("has another pre_tokenizer" + supported)
	}
	n := f.Normalizer
	if n != nil && n.Type == "Sequence" && len(n.Sequenced) == 1 {
		n = n.Sequenced[0]
	}
	if n == nil || n.Type != "BertNormalizer" {
		return nil, Rules{}, badTokenizer("has another normalizer" + supported)
	}
	r := n.rules()
	r.Unknown, r.MaxRunes = m.Unknown, Uncased().MaxRunes
	if m.MaxRunes != nil {
		r.MaxRunes = *m.MaxRunes
	}
	tokens, err := f.tokens(&r)
	return tokens, r, err
}

// rules returns the rules of a BertNormalizer. Missing settings are on, and accents are stripped by
// default if case is lowered.
func (n *normalizerPart) rules() Rules {
	is := func(flag *bool, otherwise bool) bool {
		if flag == nil {
			return otherwise
		}
		return *flag
	}
	lower := is(n.Lower, true)
	return Rules{Clean: is(n.Clean, true), Han: is(n.Han, true), Lower: lower, Strip: is(n.Strip, lower)}
}

// tokens returns all tokens by id, and adds the verbatim tokens to r.
func (f *tokenizerFile) tokens(r *Rules) ([]string, error) {
	var ids map[string]int
	if err := json.Unmarshal(f.Model.Vocab, &ids); err != nil {
		return nil, badTokenizer("has a vocabulary that is invalid: %v", err)
	}
	for _, a := range f.Added {
		if a.Normalized || a.SingleWord {
			return nil, badTokenizer("has the added token %q; normalized and single_word tokens are not supported", ragctx.Clip(a.Content))
		}
		if id, ok := ids[a.Content]; ok && id != a.ID {
			return nil, badTokenizer("has two ids for %q", ragctx.Clip(a.Content))
		}
		if ids != nil {
			ids[a.Content] = a.ID
		}
		r.Verbatim = append(r.Verbatim, a.Content)
	}
	tokens := make([]string, len(ids))
	for token, id := range ids {
		if id < 0 || id >= len(tokens) || tokens[id] != "" {
			return nil, badTokenizer("has %d tokens, and the id %d for %q; ids must be consecutive from 0",
				len(tokens), id, ragctx.Clip(token))
		}
		tokens[id] = token
	}
	return tokens, nil
}
