package facts

import "unicode"

// isSeparator reports whether a character separates words.
func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}
