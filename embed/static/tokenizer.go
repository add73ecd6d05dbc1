package static

import (
	"unicode/utf8"

	"github.com/ragctx/ragctx"
)

// rules are the settings of a BERT tokenizer. The built-in table uses "BERT uncased".
type rules struct {
	clean    bool // drop control characters, replace white space by spaces
	han      bool // each ideograph is a word
	strip    bool // remove accents
	lower    bool
	maxRunes int      // longer words are unknown
	unknown  string   // token for words without pieces
	verbatim []string // tokens such as [SEP] that are matched in the raw text
}

// uncased returns the rules of the built-in table.
func uncased() rules {
	return rules{
		clean: true, han: true, strip: true, lower: true, maxRunes: 100, unknown: "[UNK]",
		verbatim: []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"},
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

// tokenizer has the rules and the vocabulary, which all texts share.
type tokenizer struct {
	rules
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

// newTokenizer returns the tokenizer of a vocabulary. Verbatim tokens must begin with ASCII
// punctuation.
func newTokenizer(v *vocabulary, r rules) (*tokenizer, error) {
	if r.maxRunes < 1 || r.maxRunes > 1000 {
		return nil, ragctx.Invalid("tokenizer", "max_input_chars_per_word is %d; the limits are 1 and 1000", r.maxRunes)
	}
	t := &tokenizer{rules: r, vocab: v}
	var err error
	if t.unknownID, err = v.id(r.unknown); err != nil {
		return nil, err
	}
	for b := range t.kind {
		t.setByte(byte(b))
	}
	for _, text := range r.verbatim {
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

// setByte classifies a byte. ASCII needs no table: characters that are not control characters,
// blanks, letters or digits are punctuation.
func (t *tokenizer) setByte(b byte) {
	switch {
	case b >= utf8.RuneSelf:
		t.kind[b] = notASCII
	case b == ' ' || b == '\t' || b == '\n' || b == '\r':
		t.kind[b] = asciiSpace
	case t.clean && (b < ' ' || b == 0x7F):
		t.kind[b] = asciiDropped
	case b == '\v' || b == '\f':
		t.kind[b] = asciiSpace
	case b < ' ' || b == 0x7F:
		t.kind[b] = asciiControl
	case b >= '0' && b <= '9' || b >= 'a' && b <= 'z':
		t.word[b] = b
	case b >= 'A' && b <= 'Z':
		t.word[b] = b
		if t.lower {
			t.word[b] += 'a' - 'A'
		}
	default:
		t.kind[b] = asciiPunct
	}
}
