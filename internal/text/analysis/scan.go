package analysis

import (
	"unicode"
	"unicode/utf8"
)

// tokenizer holds the state and scratch memory of one pass over a text.
type tokenizer struct {
	emit func(term []byte)
	stop bool   // leave stop words out
	buf  []byte // the term being built
	ends []int  // end offsets of the characters of an unspaced run

	features *features // nil if only words are requested

	// start and end are the offsets in the text of the emitted term. If NFKC moves the characters
	// of a run, they are exact only if spans is set.
	start, end int
	spans      bool
	// plain, if not nil, is called with each word that has no parts, unstemmed, before its term is
	// emitted.
	plain func(word []byte)
}

// Kinds of ASCII bytes.
const (
	other    = iota
	word     // a letter or digit
	path     // joins the elements of a path, an address or a qualified name
	dot      // joins names and the parts of numbers
	comma    // joins digits only
	dash     // joins words to compounds
	apostr   // joins a word and an elided one
	numKinds = 256
)

var kinds = func() (k [numKinds]uint8) {
	for c := range len(k) {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			k[c] = word
		}
	}
	for _, c := range `/\:@` {
		k[c] = path
	}
	k['.'], k[','], k['_'], k['-'], k['\''] = dot, comma, dash, dash, apostr
	return k
}()

// scan emits the words and compounds of a text in linear time.
func (t *tokenizer) scan(text string) {
	for i := 0; i < len(text); {
		r, size := decode(text[i:])
		switch {
		case !startsWord(r):
			i += size
		case unspaced(r):
			end := i + unspacedRun(text[i:])
			t.pairs(text[i:end], i)
			i = end
		default:
			n, joined := span(text[i:])
			end := i + n
			t.span(text[i:end], i, joined)
			if n == 1 {
				t.signed(text[i], text[end:], i)
			}
			i = end
		}
	}
}

// signed emits the names of programming languages that end in signs: C++ and C#.
func (t *tokenizer) signed(letter byte, rest string, at int) {
	n := 0
	switch {
	case kinds[letter] != word:
		return
	case len(rest) >= 2 && rest[:2] == "++":
		n = 2
	case rest != "" && rest[0] == '#':
		n = 1
	default:
		return
	}
	if r, _ := decode(rest[n:]); startsWord(r) {
		return
	}
	t.start, t.end = at, at+1+n
	if t.plain != nil {
		t.start = at + 1
		t.plain([]byte(rest[:n]))
		t.start = at
	}
	t.buf = append(t.buf[:0], lower(letter))
	t.buf = append(t.buf, rest[:n]...)
	t.emit(t.buf)
}

// span returns the length of the word or compound at the start of s, and whether it contains a
// separator.
func span(s string) (n int, joined bool) {
	for n < len(s) {
		if kinds[s[n]] == word {
			n++
			continue
		}
		r, size := decode(s[n:])
		if size == 0 {
			break
		}
		if r >= utf8.RuneSelf && continuesWord(r) && !unspaced(r) {
			n += size
			continue
		}
		join := joiner(s[n:], kinds[s[n-1]] == word && s[n-1] <= '9')
		if join == 0 {
			break
		}
		n, joined = n+join, true
	}
	return n, joined
}

// joiner returns the length of the separator at the start of s, or 0. A word must follow the
// separator.
func joiner(s string, afterDigit bool) int {
	r, size := decode(s)
	n := size
	switch kind(r) {
	case path:
		for n < len(s) && n < 3 && kinds[s[n]] == path { // "::", "://", ":\"
			n++
		}
	case dash:
		for r == '_' && n < len(s) && s[n] == '_' {
			n++
		}
	case comma:
		if !afterDigit || n >= len(s) || s[n] < '0' || s[n] > '9' {
			return 0
		}
	case dot, apostr:
	default:
		return 0
	}
	if next, _ := decode(s[n:]); !startsWord(next) || unspaced(next) {
		return 0
	}
	return n
}

// kind extends the table of kinds to the non-ASCII separators.
func kind(r rune) uint8 {
	switch {
	case r < utf8.RuneSelf && r >= 0:
		return kinds[r]
	case r == '’':
		return apostr
	case r == '‐' || r == '‑':
		return dash
	}
	return other
}

func decode(s string) (rune, int) {
	if s != "" && s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	return utf8.DecodeRuneInString(s)
}

func startsWord(r rune) bool {
	if r < utf8.RuneSelf {
		return kinds[r] == word
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func continuesWord(r rune) bool {
	return startsWord(r) || unicode.IsMark(r) || ignored(r)
}

// ignored reports whether r is invisible: the soft hyphen and the joiners, which folding drops.
func ignored(r rune) bool {
	return r == '\u00ad' || r == '\u200c' || r == '\u200d' || r == '\u2060'
}
