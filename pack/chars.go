package pack

import (
	"strings"
	"unicode/utf8"
)

// Chars returns the length of s in UTF-16 code units, the unit in which the
// Zeroshot format states its limits: a character outside the basic plane counts
// two, an invalid byte one.
func Chars(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			n++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		n += units(r)
	}
	return n
}

// Estimate returns the tokens of s as the Zeroshot format estimates them: a
// quarter of its [Chars], rounded up.
func Estimate(s string) int { return (Chars(s) + 3) / 4 }

// Text returns the included texts in order, with nothing between them.
func (s Selection) Text() string {
	var b strings.Builder
	for _, d := range s.Decisions {
		b.WriteString(d.Text)
	}
	return b.String()
}

// prefix returns the longest prefix of s that has at most n chars and ends
// between runes.
func prefix(s string, n int) string {
	for i, r := range s {
		if n -= units(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

func units(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}
