package budget

import (
	"strings"
	"unicode/utf8"
)

// Chars returns the length of s in UTF-16 code units, in which the Zeroshot format states its
// limits. A character outside the basic plane counts two, an invalid byte one.
func Chars(s string) int {
	n := 0
	for i := 0; i < len(s); {
		for ; len(s)-i >= 8 && ascii(s[i:i+8]); i += 8 {
			n += 8
		}
		if i == len(s) {
			break
		}
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

// ascii reports whether 8 bytes are all ASCII. The compiler reads them with one load.
func ascii(s string) bool {
	_ = s[7]
	word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return word&0x8080808080808080 == 0
}

// Estimate returns the token estimate of the Zeroshot format: a quarter of [Chars], rounded up.
func Estimate(s string) int { return estimate(Chars(s)) }

func estimate(chars int) int { return (chars + 3) / 4 }

// minEstimate returns a lower bound of the estimate: a UTF-16 unit has at most three bytes.
func minEstimate(s string) int { return estimate((len(s) + 2) / 3) }

// Text returns the included texts in order, without separators.
func (s Selection) Text() string {
	var b strings.Builder
	for _, d := range s.Decisions {
		b.WriteString(d.Text)
	}
	return b.String()
}

// prefix returns the longest prefix of s that has at most n chars and ends between runes.
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
