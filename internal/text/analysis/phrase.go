package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of phrases. A query with more phrases or bytes is taken as a quotation and has no phrases.
const (
	MaxPhrases     = 8
	MaxPhraseWords = 32
	MaxPhraseQuery = 512
)

// Phrase is a quoted part of a query: words that must follow each other in a text, as they are
// written. It is immutable.
type Phrase struct {
	// Text is the text between the quotation marks. Start and End are its byte offsets in the
	// query, marks included, End excluded.
	Text       string
	Start, End int

	words []phraseWord
	terms []string
}

// phraseWord is a word of a phrase or text, folded but not stemmed, and the text between the
// previous word and this one.
type phraseWord struct{ text, gap string }

// overlap is the gap between two pairs of characters that share a character.
const overlap = "\x00"

// Phrases returns the phrases of a query, in order. The marks are "…", “…”, „…“,
// «…», 「…」 and 『…』.
//
// A straight mark opens a phrase only after a space or an opening bracket and before a word. It
// closes a phrase only after a word and before a space or punctuation. Inches and code are thus
// left alone. A mark without its counterpart in the same line is ignored, and so is a phrase
// without words or with more than [MaxPhraseWords].
func Phrases(query string) []Phrase {
	if len(query) > MaxPhraseQuery {
		return nil
	}
	var out []Phrase
	for i := 0; i < len(query); {
		r, size := decode(query[i:])
		closing := closingOf(r)
		if closing == "" || r == '"' && !mayOpen(query, i) {
			i += size
			continue
		}
		n := closes(query[i+size:], r, closing)
		if n < 0 {
			i += size
			continue
		}
		inner := query[i+size : i+size+n]
		_, mark := decode(query[i+size+n:])
		end := i + size + n + mark
		if p, ok := phraseOf(inner); ok {
			p.Start, p.End = i, end
			out = append(out, p)
		}
		i = end
	}
	if len(out) > MaxPhrases {
		return nil
	}
	return out
}

// closingOf returns the marks that close a phrase opened by mark.
func closingOf(mark rune) string {
	switch mark {
	case '"':
		return "\""
	case '“':
		return "”"
	case '„':
		return "“”"
	case '«':
		return "»"
	case '「':
		return "」"
	case '『':
		return "』"
	}
	return ""
}

// mayOpen reports whether the straight mark at s[i] can open a phrase.
func mayOpen(s string, i int) bool {
	before, size := utf8.DecodeLastRuneInString(s[:i])
	if before == '(' {
		before, size = utf8.DecodeLastRuneInString(s[:i-size])
	}
	next, _ := decode(s[i+1:])
	return (size == 0 || unicode.IsSpace(before) || unspaced(before)) && !unicode.IsSpace(next)
}

// closes returns the offset in s of the mark that closes a phrase, or -1.
func closes(s string, opening rune, closing string) int {
	end := strings.IndexAny(s, closing+"\n")
	if end < 0 || s[end] == '\n' {
		return -1
	}
	if opening != '"' {
		return end
	}
	before, _ := utf8.DecodeLastRuneInString(s[:end])
	after, size := decode(strings.TrimLeftFunc(s[end+1:min(len(s), end+1+maxClosing)], closesSentence))
	if unicode.IsSpace(before) || size > 0 && !unicode.IsSpace(after) && !unspaced(after) {
		return -1
	}
	return end
}

// maxClosing is the number of bytes of punctuation that are read after a phrase.
const maxClosing = 16

// closesSentence reports whether r may stand between a phrase and the next space.
func closesSentence(r rune) bool {
	return unicode.IsPunct(r) && !strings.ContainsRune(`_-/\([{"'@#*&%`, r)
}

// phraseOf parses the text of a phrase. It returns false if the text has no words or too many.
func phraseOf(text string) (Phrase, bool) {
	p := Phrase{Text: text}
	var (
		all     gaps
		pending bool
		content bool // a word that is not a stop word was seen
		pairs   []string
		stems   []string
	)
	t := tokenizer{features: &features{spelt: func([]byte) {}}}
	t.plain = func(word []byte) {
		p.words = append(p.words, all.next(text, word, t.start, t.end))
		if stop := isStop(word); !stop && !content {
			content, stems = true, nil // the stems of stop words are not needed
		} else if stop && content {
			return
		}
		pending = true
	}
	t.emit = func(term []byte) {
		if pending {
			stems = append(stems, string(term))
		}
		pending = false
	}
	t.features.emit = func(_ Kind, pair []byte) { pairs = append(pairs, string(pair)) }
	t.scan(text)
	p.terms = pairs
	if len(pairs) == 0 {
		p.terms = stems
	}
	slices.Sort(p.terms)
	p.terms = slices.Compact(p.terms)
	return p, len(p.words) > 0 && len(p.words) <= MaxPhraseWords
}

// gaps finds the text between consecutive words.
type gaps struct{ end int }

func (g *gaps) next(text string, word []byte, start, end int) phraseWord {
	gap := overlap
	if start >= g.end {
		gap = text[g.end:start]
	}
	g.end = end
	cut, _ := truncate(word)
	return phraseWord{string(cut), gap}
}

// Terms returns features of every text that contains the phrase; see [Features]. Texts without the
// phrase can have them as well, so check with [Phrase.In].
func (p *Phrase) Terms() []string { return p.terms }

// In reports whether a text contains the phrase: its words, in any letter case, one after the
// other. Where the phrase has a space between two words, the text may have anything. Elsewhere the
// text between the words must be the same, so that config.yaml does not match "config. YAML".
func (p *Phrase) In(text string) bool {
	var (
		all   gaps
		words []phraseWord
	)
	t := tokenizer{spans: true, emit: func([]byte) {}}
	t.plain = func(word []byte) { words = append(words, all.next(text, word, t.start, t.end)) }
	t.scan(text)
	for i := 0; i+len(p.words) <= len(words); i++ {
		if p.at(words[i : i+len(p.words)]) {
			return true
		}
	}
	return false
}

// at reports whether words equals the words of the phrase.
func (p *Phrase) at(words []phraseWord) bool {
	for i, w := range p.words {
		if words[i].text != w.text || i > 0 && !sameGap(w.gap, words[i].gap) {
			return false
		}
	}
	return true
}

// sameGap reports whether the text between two words of a text matches the gap in a phrase.
func sameGap(phrase, text string) bool {
	return phrase == text || phrase != overlap && text != overlap && strings.ContainsFunc(phrase, unicode.IsSpace)
}
