package resolve

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cut returns a prefix of text that measures at most limit and is nearly as long as possible, or ""
// if it finds none. guess is an estimate of its length in bytes.
//
// The first tries interpolate, which usually suffices. Later tries bisect, so a counter that is far
// from linear costs only the fixed number of tries.
func cut(text string, limit, guess int, measure func(prefix string) int) string {
	const tries = 12
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	best, lo, hi := "", 0, len(text)+1
	for try := 0; try < tries && hi-lo > 1; try++ {
		if try >= tries/2 {
			guess = lo + (hi-lo)/2
		}
		end := min(max(guess, lo+1), hi-1)
		prefix := tidyPrefix(text, end)
		if len(prefix) <= len(best) {
			lo, guess = end, end+16
			continue
		}
		n := measure(prefix)
		switch {
		case n > limit:
			hi, guess = len(prefix), len(prefix)*limit/n
		case limit-n <= limit/64:
			return prefix
		default:
			best, lo = prefix, end
			guess = end + max((limit-n)*end/max(n, 1), 1)
		}
	}
	return best
}

// tidyPrefix returns the first n bytes of s, without a partial character or word and without white
// space at the end. It splits a word only if keeping it whole would cost more than a quarter of the
// prefix.
func tidyPrefix(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for range utf8.UTFMax - 1 { // not further: the bytes may not be UTF-8
		if n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
	}
	p := s[:n]
	if next, _ := utf8.DecodeRuneInString(s[n:]); !unicode.IsSpace(next) {
		if i := strings.LastIndexFunc(p, unicode.IsSpace); i > 0 && i >= n-n/4 {
			p = p[:i]
		}
	}
	return strings.TrimRightFunc(p, unicode.IsSpace)
}
