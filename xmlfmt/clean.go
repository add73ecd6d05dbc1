package xmlfmt

import (
	"strings"
	"unicode/utf8"
)

// clean replaces what no format may carry; the package comment lists it. Text
// without such characters is returned as it is.
func clean(s string) string {
	i := firstUnclean(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i < len(s) {
		b.WriteString(s[:i])
		s = s[i:]
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == '\r' && strings.HasPrefix(s[1:], "\n"): // the line feed follows
		case r == '\r':
			b.WriteByte('\n')
		default:
			b.WriteRune(utf8.RuneError)
		}
		s = s[size:]
		i = firstUnclean(s)
	}
	b.WriteString(s)
	return b.String()
}

// firstUnclean returns the offset of the first character that has to be
// replaced, or the length of s.
func firstUnclean(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r <= '\u009f' || turns(r) || r == '\uFFFE' || r == '\uFFFF' {
			return i
		}
		i += size
	}
	return len(s)
}

// turns reports whether a character makes what follows read in another order than it is
// written in, for people alone. Marks of a direction, which languages need, do not.
func turns(r rune) bool { return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' }

// cleanLine is clean for text that has to stay on one line.
func cleanLine(s string) string {
	s = clean(s)
	if !strings.ContainsAny(s, "\t\n") {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, s)
}
