package facts

import "unicode"

// apart reports whether a character separates words.
func apart(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
}
