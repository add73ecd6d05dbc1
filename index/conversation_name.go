package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// nameMatcher finds names of speakers among the words of a question.
type nameMatcher struct {
	words map[string]bool
	text  string // folded, for names in scripts without spaces between words
}

func newNameMatcher(question string) nameMatcher {
	n := nameMatcher{words: make(map[string]bool), text: fold(question)}
	for w := range strings.FieldsFuncSeq(n.text, isSeparator) {
		n.words[w] = true
	}
	return n
}

// fold removes differences that do not distinguish names.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }

// isSeparator reports whether r separates words. An apostrophe does, so that a possessive leaves
// the name.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}

// names reports whether the question has a speaker's first name as a word. Names of a single
// character or without letters never match.
func (n nameMatcher) names(speaker string) bool {
	words := strings.FieldsFunc(fold(speaker), isSeparator)
	if len(words) == 0 || utf8.RuneCountInString(words[0]) < 2 || !strings.ContainsFunc(words[0], unicode.IsLetter) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(words[0])
	return n.words[words[0]] || unspaced(r) && strings.Contains(n.text, words[0])
}

// unspaced reports whether r is of a script that writes words without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
