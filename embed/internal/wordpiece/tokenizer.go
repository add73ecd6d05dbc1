// Package wordpiece cuts texts into the tokens of BERT models: WordPiece with the rules of
// BertNormalizer and BertPreTokenizer.
package wordpiece

import (
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// Rules are the settings of a BERT tokenizer.
type Rules struct {
	Clean    bool // drop control characters, replace white space by spaces
	Han      bool // each ideograph is a word
	Strip    bool // remove accents
	Lower    bool
	MaxRunes int      // longer words are unknown
	Unknown  string   // token for words without pieces
	Verbatim []string // tokens such as [SEP] that are matched in the raw text
}

// Uncased returns the rules of "BERT uncased".
func Uncased() Rules {
	return Rules{
		Clean: true, Han: true, Strip: true, Lower: true, MaxRunes: 100, Unknown: "[UNK]",
		Verbatim: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"},
	}
}

// The kinds of ASCII bytes in the table kind.
const (
	asciiWord byte = iota
	asciiSpace
	asciiPunct
	asciiDropped
	asciiControl // a control character that is kept
	notASCII
)

// Tokenizer has the rules and the vocabulary, which all texts share.
type Tokenizer struct {
	Rules
	vocab     *vocabulary
	unknownID int32
	word      [256]byte // the byte, lowered if the rules say so, if it belongs to a word; otherwise 0
	kind      [256]byte
	special   []verbatimToken
}

type verbatimToken struct {
	text string
	id   int32
}

// New returns the tokenizer of a vocabulary. The ids of tokens are their indexes. Verbatim tokens
// must begin with ASCII punctuation.
func New(tokens []string, r Rules) (*Tokenizer, error) {
	if r.MaxRunes < 1 || r.MaxRunes > 1000 {
		return nil, ragctx.Invalid("tokenizer", "max_input_chars_per_word is %d; the limits are 1 and 1000", r.MaxRunes)
	}
	v, err := newVocabulary(tokens)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{Rules: r, vocab: v}
	if t.unknownID, err = v.id(r.Unknown); err != nil {
		return nil, err
	}
	for b := range t.kind {
		t.setByte(byte(b))
	}
	for _, text := range r.Verbatim {
		if text == "" || t.kind[text[0]] != asciiPunct {
			return nil, ragctx.Invalid("tokenizer", "special token %q does not begin with ASCII punctuation", ragctx.Clip(text))
		}
		id, err := v.id(text)
		if err != nil {
			return nil, err
		}
		t.special = append(t.special, verbatimToken{text, id})
	}
	return t, nil
}

// Size returns the number of tokens.
func (t *Tokenizer) Size() int { return len(t.vocab.offsets) - 1 }

// ID returns the id of a token. Tokens that continue a word begin with ##.
func (t *Tokenizer) ID(token string) (int32, error) { return t.vocab.id(token) }

// Silent returns the ids of the tokens that stand for no text: the unknown token and those that are
// matched verbatim.
func (t *Tokenizer) Silent() map[int32]bool {
	silent := map[int32]bool{t.unknownID: true}
	for _, s := range t.special {
		silent[s.id] = true
	}
	return silent
}

// setByte classifies a byte. ASCII needs no table: characters that are not control characters,
// blanks, letters or digits are punctuation.
func (t *Tokenizer) setByte(b byte) {
	switch {
	case b >= utf8.RuneSelf:
		t.kind[b] = notASCII
	case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		t.kind[b] = asciiSpace
	case t.Clean && (b < ' ' || b == 0x7F):
		t.kind[b] = asciiDropped
	case b == '\v' || b == '\f':
		t.kind[b] = asciiSpace
	case b < ' ' || b == 0x7F:
		t.kind[b] = asciiControl
	case b >= '0' && b <= '9' || b >= 'a' && b <= 'z':
		t.word[b] = b
	case b >= 'A' && b <= 'Z':
		t.word[b] = b
		if t.Lower {
			t.word[b] += 'a' - 'A'
		}
	default:
		t.kind[b] = asciiPunct
	}
}
