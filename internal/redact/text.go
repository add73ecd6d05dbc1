package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// byteSet is a set of bytes.
type byteSet [256]bool

// setOf returns the set of the bytes of chars; "a-z" is a range.
func setOf(chars string) *byteSet {
	var set byteSet
	for i := 0; i < len(chars); i++ {
		if i+2 < len(chars) && chars[i+1] == '-' {
			for c := int(chars[i]); c <= int(chars[i+2]); c++ {
				set[c] = true
			}
			i += 2
			continue
		}
		set[chars[i]] = true
	}
	return &set
}

var (
	wordByte     = setOf("a-zA-Z0-9_")
	digits       = setOf("0-9")
	alnum        = setOf("a-zA-Z0-9")
	lowerLetters = setOf("a-z")
	hexLower     = setOf("a-f0-9")
	upperNum     = setOf("A-Z0-9")
	base64std    = setOf("a-zA-Z0-9+/=")
	base64url    = setOf("a-zA-Z0-9_-")
	dotted       = setOf("a-zA-Z0-9_.-")
)

// run returns the end of the longest run of bytes of set at i.
func run(s string, i int, set *byteSet) int {
	for i < len(s) && set[s[i]] {
		i++
	}
	return i
}

// wordEnd returns the end of the word at i (letters, marks, digits and underscores), or i if
// absent.
func wordEnd(s string, i int) int {
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			if !wordByte[s[i]] {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	return i
}

func runeLen(s string, i int) int {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size
}

// blanks returns the end of the spaces, tabs and no-break spaces at i.
func blanks(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == ' ' || s[i] == '\t':
			i++
		case strings.HasPrefix(s[i:], "\u00a0"), strings.HasPrefix(s[i:], "\u202f"), strings.HasPrefix(s[i:], "\u2009"):
			i += runeLen(s, i)
		default:
			return i
		}
	}
	return i
}

// wordEndsAt reports whether no word continues at i.
func wordEndsAt(s string, i int) bool {
	return i >= len(s) || wordEnd(s[:min(len(s), i+utf8.UTFMax)], i) == i
}

// hasPrefixFold returns which of the ASCII prefixes s[i:] begins with, ignoring case.
func hasPrefixFold(s string, i int, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if len(s)-i >= len(p) && strings.EqualFold(s[i:i+len(p)], p) {
			return p, true
		}
	}
	return "", false
}

// before returns the n bytes before i in lower case, without redactions. after returns the n bytes
// after it.
func before(s string, i, n int) string {
	w := s[max(0, i-n):i]
	return strings.ToLower(w[strings.LastIndexByte(w, ']')+1:])
}

func after(s string, i, n int) string {
	w := s[i:min(len(s), i+n)]
	if at := strings.IndexByte(w, '['); at >= 0 {
		w = w[:at]
	}
	return strings.ToLower(w)
}
