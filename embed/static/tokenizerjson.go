package static

import (
	"encoding/json"

	"github.com/ragctx/ragctx"
)

// tokenizerFile is the part of tokenizer.json (of the library "tokenizers") that
// decides about ids.
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

// addedToken is matched in the text before anything else.
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

// parseTokenizer reads a tokenizer.json, and returns its tokens in the order of
// their ids and its rules.
func parseTokenizer(data []byte) ([]string, rules, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, rules{}, badTokenizer("cannot be read: %v", err)
	}
	const supported = "; WordPiece with BertNormalizer and BertPreTokenizer can be used"
	m := &f.Model
	switch {
	case m.Type != "WordPiece":
		return nil, rules{}, badTokenizer("has a model of type %q"+supported, ragctx.Clip(m.Type))
	case m.Prefix != nil && *m.Prefix != continued:
		return nil, rules{}, badTokenizer("has the prefix %q for continuations; %q can be used", ragctx.Clip(*m.Prefix), continued)
	case f.PreTokenizer == nil || f.PreTokenizer.Type != "BertPreTokenizer":
		return nil, rules{}, badTokenizer("has another pre_tokenizer" + supported)
	}
	n := f.Normalizer
	if n != nil && n.Type == "Sequence" && len(n.Sequenced) == 1 {
		n = n.Sequenced[0]
	}
	if n == nil || n.Type != "BertNormalizer" {
		return nil, rules{}, badTokenizer("has another normalizer" + supported)
	}
	r := n.rules()
	r.unknown, r.maxRunes = m.Unknown, uncased().maxRunes
	if m.MaxRunes != nil {
		r.maxRunes = *m.MaxRunes
	}
	tokens, err := f.tokens(&r)
	return tokens, r, err
}

// rules returns what a BertNormalizer asks for; what it leaves open is on, and
// accents are stripped where letters are lowered.
func (n *normalizerPart) rules() rules {
	is := func(flag *bool, otherwise bool) bool {
		if flag == nil {
			return otherwise
		}
		return *flag
	}
	lower := is(n.Lower, true)
	return rules{clean: is(n.Clean, true), han: is(n.Han, true), lower: lower, strip: is(n.Strip, lower)}
}

// tokens returns all tokens by id, and notes those in r that the raw text is
// split at.
func (f *tokenizerFile) tokens(r *rules) ([]string, error) {
	var ids map[string]int
	if err := json.Unmarshal(f.Model.Vocab, &ids); err != nil {
		return nil, badTokenizer("has a vocabulary that cannot be read: %v", err)
	}
	for _, a := range f.Added {
		if a.Normalized || a.SingleWord {
			return nil, badTokenizer("has the added token %q; normalized and single_word ones cannot be used", ragctx.Clip(a.Content))
		}
		if id, ok := ids[a.Content]; ok && id != a.ID {
			return nil, badTokenizer("has two ids for %q", ragctx.Clip(a.Content))
		}
		if ids != nil {
			ids[a.Content] = a.ID
		}
		r.verbatim = append(r.verbatim, a.Content)
	}
	tokens := make([]string, len(ids))
	for token, id := range ids {
		if id < 0 || id >= len(tokens) || tokens[id] != "" {
			return nil, badTokenizer("has %d tokens, and the id %d for %q; ids must be the numbers from 0", len(tokens), id, ragctx.Clip(token))
		}
		tokens[id] = token
	}
	return tokens, nil
}
