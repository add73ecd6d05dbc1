package embed

import (
	"unicode"
	"unicode/utf8"
)

// tokenizer splits a text into lower-case words.
type tokenizer struct {
	text string
	word []byte // the current word, valid until the next call of next
	pair bool   // the word is one or two characters of an unspaced script
	last rune   // the unspaced character before the position, or 0
	solo bool   // last is not in a pair yet
}

// start sets the text.
func (t *tokenizer) start(text string) {
	*t = tokenizer{text: text, word: t.word[:0]}
}

// next advances to the next word. It returns false at the end of the text.
func (t *tokenizer) next() bool {
	t.word, t.pair = t.word[:0], false
	for len(t.text) > 0 {
		r, size := utf8.DecodeRuneInString(t.text)
		kind := classify(r)
		if kind != unspaced && t.endRun() {
			return true
		}
		switch kind {
		case letter:
			t.scan()
			return true
		case unspaced:
			t.text = t.text[size:]
			before := t.last
			t.last, t.solo = r, before == 0
			if before != 0 {
				return t.pairOf(before, r)
			}
		default: // a mark without a letter is skipped
			t.text = t.text[size:]
		}
	}
	return t.endRun()
}

// endRun ends a run of unspaced characters. A single character is a word of its own.
func (t *tokenizer) endRun() bool {
	alone := t.last
	t.last = 0
	return alone != 0 && t.solo && t.pairOf(alone)
}

// pairOf makes characters of an unspaced script the word.
func (t *tokenizer) pairOf(rs ...rune) bool {
	t.pair = true
	for _, r := range rs {
		t.word = utf8.AppendRune(t.word, r)
	}
	return true
}

// scan reads the letters and marks at the position as the word.
func (t *tokenizer) scan() {
	for len(t.text) > 0 {
		if c := t.text[0]; c < utf8.RuneSelf {
			if asciiKind[c] != letter {
				return
			}
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			t.word = append(t.word, c)
			t.text = t.text[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(t.text)
		if kind := classify(r); kind != letter && kind != mark {
			return
		}
		t.word = utf8.AppendRune(t.word, unicode.ToLower(r))
		t.text = t.text[size:]
	}
}

// Kinds of characters.
const (
	other    = iota // ends a word
	letter          // letters and digits
	mark            // continues a word
	unspaced        // letters of scripts without spaces between words
)

// asciiKind is a table of classify for ASCII.
var asciiKind = func() (kinds [utf8.RuneSelf]uint8) {
	for c := range kinds {
		r := rune(c)
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			kinds[c] = letter
		}
	}
	return kinds
}()

// classify returns the kind of r. [utf8.RuneError], which replaces invalid UTF-8, is other.
func classify(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf:
		return asciiKind[r]
	case r == '\u30fc' || r == '\uff70': // they lengthen a Katakana vowel, but belong to no script
		return unspaced
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return unspaced
	case unicode.IsLetter(r) || unicode.IsNumber(r):
		return letter
	case unicode.IsMark(r):
		return mark
	}
	return other
}

// isStop reports whether a word is a common English function word.
func isStop(word []byte) bool {
	switch string(word) {
	case "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
		"before", "but", "by", "can", "could", "d", "did", "do", "does", "don", "for", "from", "had", "has", "have",
		"he", "her", "here", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "ll", "m", "me",
		"more", "my", "no", "not", "of", "on", "or", "our", "out", "re", "s", "she", "should", "so", "some", "such",
		"t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "up",
		"us", "ve", "very", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with",
		"would", "you", "your":
		return true
	}
	return false
}
