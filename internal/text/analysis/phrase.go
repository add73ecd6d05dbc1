package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of phrases. A query of more phrases, or of more bytes, quotes rather than
// searches, and has none.
const (
	MaxPhrases     = 8
	MaxPhraseWords = 32
	MaxPhraseQuery = 512
)

// Phrase is what a query has between quotation marks: words that follow each other in
// a text, as they are written. It does not change once made.
type Phrase struct {
	// Text is what stands between the marks; Start and End are the bytes of the query
	// that have it, marks included, End excluded.
	Text       string
	Start, End int

	words []phraseWord
	terms []string
}

// phraseWord is a word of a phrase or text, folded but not stemmed, and what stands
// between the word before and this one.
type phraseWord struct{ text, gap string }

// overlap is the gap between pairs of characters that share one.
const overlap = "\x00"

// Phrases returns the phrases of a query, in order. The marks are "…", “…”, „…“, «…»,
// 「…」 and 『…』. A straight mark opens a phrase before a word that follows a space or
// an opening bracket, and closes it behind a word before a space or punctuation, so that
// inches and code stay what they are; a mark without its counterpart in the same line
// is no mark. What has no word or more than [MaxPhraseWords] is no phrase.
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

// closingOf returns the marks that close what a mark opens.
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

// closes returns the place in s of the mark that closes a phrase, -1 if there is none.
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

// maxClosing is how far punctuation behind a phrase is read, in bytes.
const maxClosing = 16

// closesSentence reports whether r may stand between a phrase and the next space.
func closesSentence(r rune) bool {
	return unicode.IsPunct(r) && !strings.ContainsRune(`_-/\([{"'@#*&%`, r)
}

// phraseOf returns the phrase of a text, and false if it is none.
func phraseOf(text string) (Phrase, bool) {
	p := Phrase{Text: text}
	var (
		all     gaps
		pending bool
		content bool // a word is no stop word
		pairs   []string
		stems   []string
	)
	t := tokenizer{features: &features{spelt: func([]byte) {}}}
	t.plain = func(word []byte) {
		p.words = append(p.words, all.next(text, word, t.start, t.end))
		if stop := isStop(word); !stop && !content {
			content, stems = true, nil // which then tell more
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

// gaps finds what stands between the words of a text, which come in order.
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

// Terms returns features that a text with the phrase has, by which such texts can be
// looked up; see [Features]. Others can have them as well.
func (p *Phrase) Terms() []string { return p.terms }

// In reports whether a text has the phrase: its words, in any letter case, one after the
// other. What stands between two words does not matter if the phrase has a space
// there; otherwise it is the same, so that config.yaml is no "config. YAML".
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

// at reports whether as many words of a text are those of the phrase.
func (p *Phrase) at(words []phraseWord) bool {
	for i, w := range p.words {
		if words[i].text != w.text || i > 0 && !sameGap(w.gap, words[i].gap) {
			return false
		}
	}
	return true
}

// sameGap reports whether what stands between two words of a text will do for what a
// phrase has there.
func sameGap(phrase, text string) bool {
	return phrase == text || phrase != overlap && text != overlap && strings.ContainsFunc(phrase, unicode.IsSpace)
}
