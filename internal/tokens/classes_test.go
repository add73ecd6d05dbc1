package tokens

import (
	"testing"
	"unicode"
)

// TestClasses compares the table with the standard library's, rune by rune.
func TestClasses(t *testing.T) {
	table := unicodeClasses()
	for r := range unicode.MaxRune + 1 {
		if 0xD800 <= r && r <= 0xDFFF {
			continue // surrogates are not text
		}
		text := string(r)
		got, n := table.at(text, 0)
		if want := slowClass(r); got != want || n != len(text) {
			t.Fatalf("%U has class %08b and %d bytes, want %08b and %d", r, got, n, want, len(text))
		}
	}
}

func slowClass(r rune) class {
	var c class
	set := func(is bool, bit class) {
		if is {
			c |= bit
		}
	}
	set(unicode.IsLetter(r), letter)
	set(unicode.IsNumber(r), number)
	set(unicode.IsSpace(r), space)
	set(r == '\r' || r == '\n', newline)
	set(c == 0, other)
	set(unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M), upper)
	set(unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M), lower)
	set(r == '/', slash)
	return c
}
