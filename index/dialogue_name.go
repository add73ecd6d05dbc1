package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// naming knows the words of a question, to tell whose names are among them.
type naming struct {
	words map[string]bool
	text  string // folded, for names in scripts that do not part words
}

func newNaming(question string) naming {
	n := naming{words: make(map[string]bool), text: fold(question)}
	for w := range strings.FieldsFuncSeq(n.text, parts) {
		n.words[w] = true
	}
	return n
}

// fold removes what does not tell names apart.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

// parts reports whether r parts words. An apostrophe does, so that a possessive
// leaves the name.
func parts(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }

// names reports whether the question has a speaker's first name as a word. A name
// of a single letter names nobody, nor does one without letters.
func (n naming) names(speaker string) bool {
	words := strings.FieldsFunc(fold(speaker), parts)
	if len(words) == 0 || utf8.RuneCountInString(words[0]) < 2 || !strings.ContainsFunc(words[0], unicode.IsLetter) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(words[0])
	return n.words[words[0]] || unparted(r) && strings.Contains(n.text, words[0])
}

// unparted reports whether r is of a script that writes words without spaces
// between them.
func unparted(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
