package analysis

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word emits a run of letters and digits, and its parts if it is in camel case.
func (t *tokenizer) word(s string, at int) {
	if len(s) <= MaxTermRunes {
		if cut := nextHump(s, 0); cut < len(s) {
			t.simple(s, at)
			for start := 0; start < len(s); {
				t.atom(s[start:cut], at+start)
				start, cut = cut, nextHump(s, cut)
			}
			return
		}
	}
	t.atom(s, at)
}

// nextHump returns the end of the part of a camel-case ASCII word that starts
// at start. A word with other letters has no parts.
func nextHump(s string, start int) int {
	for i := start + 1; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			return len(s)
		}
		if !upper(c) {
			continue
		}
		if !upper(s[i-1]) {
			return i
		}
		// An acronym ends before the letter that starts the next word, except before its plural s.
		if i+1 < len(s) && small(s[i+1]) && s[i+1:] != "s" {
			return i
		}
	}
	return len(s)
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func small(c byte) bool { return 'a' <= c && c <= 'z' }

func lower(c byte) byte {
	if upper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// simple emits one word: folded, truncated, stemmed by its script.
func (t *tokenizer) simple(s string, at int) {
	t.fold(s)
	if t.stop && isStop(t.buf) {
		return
	}
	t.reduce()
	t.start, t.end = at, at+len(s)
	t.emitFolded()
}

// atom emits a word that has no parts, with its features if requested.
func (t *tokenizer) atom(s string, at int) {
	if t.features == nil && t.plain == nil {
		t.simple(s, at)
		return
	}
	t.fold(s)
	stop := isStop(t.buf)
	if stop && t.stop {
		return
	}
	t.start, t.end = at, at+len(s)
	if t.plain != nil && len(t.buf) > 0 {
		t.plain(t.buf)
	}
	if t.features == nil {
		t.reduce()
		t.emitFolded()
		return
	}
	t.features.spell(t.buf)
	t.reduce()
	t.emitFolded()
	if !stop && len(t.buf) > 0 {
		t.features.follow(t.buf)
		t.features.spelt(t.features.word)
	}
}

// reduce truncates the folded word in t.buf or stems it.
func (t *tokenizer) reduce() {
	if cut, long := truncate(t.buf); long {
		t.buf = cut
	} else {
		t.buf = stem(t.buf)
	}
}

func (t *tokenizer) emitFolded() {
	if len(t.buf) > 0 {
		t.emit(t.buf)
	}
}

// fold puts the normal form of s in lower case into t.buf. It folds only as much of a long word as
// fits a term.
func (t *tokenizer) fold(s string) {
	t.buf = t.buf[:0]
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			t.foldRunes(s)
			return
		}
		if i > MaxTermRunes {
			return
		}
		t.buf = append(t.buf, lower(c))
	}
}

func (t *tokenizer) foldRunes(s string) {
	t.buf = t.buf[:0]
	if limit := 4 * MaxTermRunes * utf8.UTFMax; len(s) > limit {
		s = s[:limit]
	}
	for _, r := range normal(s) {
		switch {
		case ignored(r) || r == utf8.RuneError:
			continue
		case r == 'ς':
			r = 'σ'
		case r == '’':
			r = '\''
		case r == '‐':
			r = '-'
		case r >= utf8.RuneSelf && unicode.IsDigit(r):
			r = digit(r)
		default:
			r = unicode.ToLower(r)
		}
		t.buf = utf8.AppendRune(t.buf, r)
	}
}

// normal returns s in NFKC. Most words contain only letters that are already in NFKC and skip the
// table lookups.
func normal(s string) string {
	for _, r := range s {
		if !settled(r) {
			return norm.NFKC.String(s)
		}
	}
	return s
}

// settled reports whether r is in NFKC and does not combine with other such letters: the plain
// letters of the most frequent scripts.
func settled(r rune) bool {
	switch {
	case r < utf8.RuneSelf, 0xc0 <= r && r < 0x132, 0x400 <= r && r <= 0x482, 0x48a <= r && r <= 0x52f,
		0x621 <= r && r <= 0x64a, 0x3041 <= r && r <= 0x3096, 0x30a1 <= r && r <= 0x30fa, r == 'ー',
		0x4e00 <= r && r <= 0x9fa5, 0xac00 <= r && r <= 0xd7a3:
		return true
	}
	return false
}

// digit returns the ASCII digit of the same value. In Unicode, the digits of every script are runs
// of ten that start with zero.
func digit(r rune) rune {
	zero := r
	for zero > 0 && r-zero < 9 && unicode.IsDigit(zero-1) {
		zero--
	}
	return '0' + r - zero
}

// truncate cuts a term to the maximum length and reports whether it was longer.
func truncate(b []byte) ([]byte, bool) {
	if len(b) <= MaxTermRunes {
		return b, false
	}
	n := 0
	for i := range string(b) {
		if n == MaxTermRunes {
			return b[:i], true
		}
		n++
	}
	return b, false
}
