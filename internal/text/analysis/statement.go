package analysis

import (
	"strings"
	"unicode"
)

// StatementKey folds a subject, attribute, value or content for comparison: lower case, letters and digits
// of any script, single spaces, no English articles.
func StatementKey(s string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), isSeparator) {
		switch w {
		case "a", "an", "the":
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// isSeparator reports whether a character separates words.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}
