package queryexpand

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a run of letters, digits and low lines.
type word struct {
	text   string // lower-cased
	upper  bool   // begins with a capital letter
	clause int    // number of the clause that it is in
	first  bool   // begins a sentence
}

// Signs that part clauses, and those of them that part sentences.
const (
	clauseSigns   = ",;:()[]—–…\"«»„“”"
	sentenceSigns = ".!?¿¡\n。！？"
)

// split returns the first words of a text, at most so many.
func split(text string, most int) []word {
	var words []word
	clause, first := 0, true
	for text != "" && len(words) < most {
		start := strings.IndexFunc(text, inWord)
		if start < 0 {
			break
		}
		if len(words) > 0 {
			part, sentence := parted(text[:start])
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

// longestWord is how many bytes of a word are looked at.
const longestWord = 64

// parted reports whether what stands between two words parts clauses, or even
// sentences. A sign without a space belongs to the words: parser.go, docs:vector.
func parted(between string) (clause, sentence bool) {
	if len(between) > 16 {
		return true, true // rules, tables, rows of signs
	}
	if !strings.ContainsFunc(between, unicode.IsSpace) {
		return false, false
	}
	return strings.ContainsAny(between, clauseSigns), strings.ContainsAny(between, sentenceSigns)
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || r == '_'
}

// clip returns the first n bytes of s, less a character that they would cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// clipStart returns the last n bytes of s, less a character that they would cut.
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
