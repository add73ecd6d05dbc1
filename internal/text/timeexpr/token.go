package timeexpr

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// token is a word or number of the question.
type token struct {
	start, end int32
	// number is the value of a token of up to four digits, which letters may follow if ordinal;
	// otherwise -1.
	number  int16
	digits  uint8 // leading digits, at most 255
	ordinal bool  // "3rd", "1er", "2a"
	capital bool  // starts with a capital letter
	gap     gap   // the separators before the token
	entry   *entry
}

// gap is the set of separators between two tokens.
type gap uint16

const (
	space gap = 1 << iota
	hyphen
	dash
	dot
	comma
	slash
	colon
	apostrophe
	hash
	other // any other character; separates phrases
)

// gapOf classifies a character between tokens.
func gapOf(r rune) gap {
	switch r {
	case ' ', '\t', '\n', '\r', '\u00a0', '\u202f':
		return space
	case '-', '‐', '‑':
		return hyphen
	case '–', '—':
		return dash
	case '.':
		return dot
	case ',':
		return comma
	case '/':
		return slash
	case ':':
		return colon
	case '\'', '’':
		return apostrophe
	case '#', '°':
		return hash
	}
	return other
}

// tokenize appends the tokens of text to toks and reports whether any can be part of a time. It
// ignores texts above 2 GiB.
func tokenize(toks []token, text string) (_ []token, timely bool) {
	if len(text) > 1<<31-1 {
		return toks, false
	}
	words := lexicon()
	var between gap
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if !inWord(r) {
			between |= gapOf(r)
			i += size
			continue
		}
		t := token{start: int32(i), gap: between, number: -1, capital: unicode.IsUpper(r)}
		i = t.scan(text, words)
		toks = append(toks, t)
		timely = timely || t.entry != nil && t.entry.roles&triggers != 0 || t.digits > 0 && t.dateLike()
		between = 0
	}
	return toks, timely
}

// inWord reports whether r is part of a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r)
}

// longest is the length in bytes of the longest word in the lexicon.
const longest = 24

// scan reads the token that starts at t.start and returns its end.
func (t *token) scan(text string, words map[string]*entry) int {
	var buf [longest + 4]byte
	folded, known := buf[:0], true
	i := int(t.start)
	for i < len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !inWord(r) {
				break
			}
			var ok bool
			folded, ok = appendFolded(folded, r)
			known = known && ok
			i += size
		} else {
			if !inWord(rune(c)) || t.stamp(text, i) {
				break
			}
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			folded = append(folded, c)
			i++
		}
		if len(folded) > longest {
			folded, known = folded[:longest], false
		}
		if known && i-int(t.start) == int(t.digits)+1 && '0' <= c && c <= '9' && t.digits < 255 {
			t.digits++
		}
	}
	t.end = int32(i)
	if known {
		t.classify(folded, words)
	}
	return i
}

// stamp reports whether text[i:] is the T between date and time of an ISO 8601 timestamp whose day
// is t. The T ends the token.
func (t *token) stamp(text string, i int) bool {
	return text[i] == 'T' && t.digits == 2 && i == int(t.start)+2 && t.gap == hyphen &&
		i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9'
}

// classify classifies the folded word.
func (t *token) classify(word []byte, words map[string]*entry) {
	if t.digits == 0 || len(word) == 0 {
		t.entry = words[string(word)]
		return
	}
	if t.digits > 4 || int(t.digits) > len(word) {
		return
	}
	n := 0
	for _, c := range word[:t.digits] {
		n = n*10 + int(c-'0')
	}
	switch suffix := string(word[t.digits:]); suffix {
	case "":
	case "st", "nd", "rd", "th", "er", "ere", "re", "e", "eme", "nde", "ste", "sten", "te", "ten", "ter", "a", "o":
		t.ordinal = true
	default:
		return
	}
	t.number = int16(n)
}

// dateLike reports whether a number can be a year or part of a date in digits.
func (t *token) dateLike() bool {
	return t.digits == 4 || t.number > 0 && t.number <= 31
}

// foldings spells the letters of Latin-1 and Latin Extended A and B without diacritics.
var foldings = func() (f [0x250 - 0xa0]string) {
	for i := range f {
		for _, r := range norm.NFKD.String(string(rune(0xa0 + i))) {
			if r < utf8.RuneSelf && inWord(unicode.ToLower(r)) {
				f[i] += string(unicode.ToLower(r))
			}
		}
	}
	f['ß'-0xa0], f['œ'-0xa0], f['Œ'-0xa0] = "ss", "oe", "oe"
	return f
}()

// appendFolded appends r in lower case without diacritics and reports whether it could. The tables
// contain no other letters.
func appendFolded(b []byte, r rune) ([]byte, bool) {
	switch {
	case 0xa0 <= r && r < 0x250 && foldings[r-0xa0] != "":
		return append(b, foldings[r-0xa0]...), true
	case unicode.Is(unicode.Mn, r):
		return b, true
	}
	return b, false
}
