package facts

import (
	"regexp"
	"slices"
	"sort"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// text is a message prepared for the rules. All positions are in code points.
type text struct {
	s     string
	runes []rune
	at    []int // byte offset of each code point in s
	// fold has one byte per code point: letters in lower case without diacritics, one kind of
	// apostrophe, quote and space. Masked text is line breaks.
	fold []byte
	// careless is set if the speaker writes without capital letters.
	careless bool
	// foreign is set if a part of the message is not the speaker's.
	foreign bool
}

// read folds a message.
func read(s string) *text {
	t := &text{s: string([]rune(s))} // each invalid byte becomes one replacement character
	for i, r := range t.s {
		t.at = append(t.at, i)
		t.runes = append(t.runes, r)
		t.fold = append(t.fold, fold(r))
	}
	t.careless = !slices.ContainsFunc(t.runes, unicode.IsUpper)
	return t
}

// orig returns the original text between two positions.
func (t *text) orig(from, to int) string {
	if from >= to {
		return ""
	}
	end := len(t.s)
	if to < len(t.at) {
		end = t.at[to]
	}
	return t.s[t.at[from]:end]
}

// position returns the code point at or after a byte offset of s.
func (t *text) position(b int) int { return sort.SearchInts(t.at, b) }

// mask hides a part of the text from the rules.
func (t *text) mask(from, to int) {
	t.foreign = t.foreign || from < to
	for i := from; i < to; i++ {
		t.fold[i] = '\n'
	}
}

// Bytes in fold for a letter without a simple form and for other characters.
const (
	someLetter = 'x'
	someSign   = '~'
)

// fold returns the byte that represents a character.
func fold(r rune) byte {
	if r < 0x80 {
		return byte(unicode.ToLower(r))
	}
	switch r {
	case '’', '‘', '´', 'ʼ', '′':
		return '\''
	case '“', '”', '„', '«', '»', '‟':
		return '"'
	case '–', '—', '‐', '‑', '−':
		return '-'
	case '…':
		return '.'
	case '\u00a0', '\u202f', '\u2009', '\u3000':
		return ' '
	case '。', '！':
		return '.'
	case '？', '¿':
		if r == '¿' {
			return someSign
		}
		return '?'
	case '\u2028', '\u2029', '\u0085':
		return '\n'
	case 'ß':
		return 's'
	case 'ø', 'Ø':
		return 'o'
	case 'œ', 'Œ':
		return 'o'
	case 'ł', 'Ł':
		return 'l'
	}
	return plain(r)
}

// plain returns a letter without its diacritics.
func plain(r rune) byte {
	switch {
	case unicode.IsLetter(r) || unicode.IsMark(r):
		if d := norm.NFKD.String(string(r)); d[0] < 0x80 && unicode.IsLetter(rune(d[0])) {
			return byte(unicode.ToLower(rune(d[0])))
		}
		return someLetter
	case unicode.IsDigit(r):
		return '0'
	}
	return someSign
}

// word is the position of a word in the text.
type word struct{ from, to int }

// inWord reports whether a folded byte belongs to a word.
func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '\''
}

// words returns the words between two positions. An inner apostrophe belongs to its word.
func (t *text) words(from, to int) []word {
	var out []word
	for i := from; i < to; {
		if !inWord(t.fold[i]) || t.fold[i] == '\'' {
			i++
			continue
		}
		j := i
		for j < to && inWord(t.fold[j]) {
			j++
		}
		end := j
		for end > i && t.fold[end-1] == '\'' {
			end--
		}
		out = append(out, word{i, end})
		i = j
	}
	return out
}

// folded returns a word in folded form.
func (t *text) folded(w word) string { return string(t.fold[w.from:w.to]) }

// capital reports whether the letter at a position is a capital.
func (t *text) capital(i int) bool { return i < len(t.runes) && unicode.IsUpper(t.runes[i]) }

// pattern returns a regular expression that is compiled when it is first used, since a program that learns no facts needs none.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
