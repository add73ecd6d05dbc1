package queryexpand

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a run of letters, digits and underscores.
type word struct {
	text   string // lower-cased
	upper  bool   // begins with a capital letter
	clause int    // number of its clause
	first  bool   // begins a sentence
}

// Punctuation that separates clauses, and sentences.
const (
	clauseSigns   = ",;:()[]—–…\"«»„“”"
	sentenceSigns = ".!?¿¡\n。！？"
)

// split returns the first words of a text, at most the given number.
func split(text string, most int) []word {
	var words []word
	clause, first := 0, true
	for text != "" && len(words) < most {
		start := strings.IndexFunc(text, inWord)
		if start < 0 {
			break
		}
		if len(words) > 0 {
			part, sentence := boundaries(text[:start])
			first = sentence
			if part || sentence {
				clause++
			}
		}
		text = text[start:]
		end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if end < 0 {
			end = len(text)
		}
		r, _ := utf8.DecodeRuneInString(text)
		words = append(words, word{
			text: strings.ToLower(clip(text[:end], longestWord)), upper: unicode.IsUpper(r), clause: clause, first: first,
		})
		text = text[end:]
	}
	return words
}

// longestWord is the number of bytes of a word that are read.
const longestWord = 64

// boundaries reports whether the text between two words separates clauses, and sentences.
// Punctuation without a space belongs to the words: parser.go, docs:vector.
func boundaries(between string) (clause, sentence bool) {
	if len(between) > 16 {
		return true, true // rules, tables, rows of punctuation
	}
	if !strings.ContainsFunc(between, unicode.IsSpace) {
		return false, false
	}
	return strings.ContainsAny(between, clauseSigns), strings.ContainsAny(between, sentenceSigns)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_'
}

// clip returns the first n bytes of s, without a partial character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipStart returns the last n bytes of s, without a partial character.
func clipStart(s string, n int) string {
	if len(s) <= n {
		return s
	}
	at := len(s) - n
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
