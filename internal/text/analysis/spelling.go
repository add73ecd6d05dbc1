package analysis

import (
	"bytes"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MinSpelledRunes is how many letters a word has at least to be taken for a misspelt one:
// too many short words are one edit from another one.
const MinSpelledRunes = 5

// Spelled is a word of a query that may be misspelt.
type Spelled struct {
	// Term is what [Each] makes of the word, Written what the query has, and Folded that,
	// folded as terms are.
	Term, Written, Folded string
}

// SpelledWords yields the words of a query that may be misspelt, in order and as often as
// it has them: of at least [MinSpelledRunes] letters of one alphabet, and no stop words.
// What is part of a compound is a name that somebody gave, as is what capitals take apart
// or has nothing else; what stands in a phrase is meant as it is; and one with the mark of
// a [Pattern] says itself what it stands for.
func SpelledWords(query string) iter.Seq[Spelled] {
	return func(yield func(Spelled) bool) {
		quoted := Phrases(query)
		t := tokenizer{}
		for start, end := range spacedWords(query) {
			for len(quoted) > 0 && quoted[0].End <= start {
				quoted = quoted[1:]
			}
			if len(quoted) > 0 && quoted[0].Start <= start || marked(query, start, end) {
				continue
			}
			if w, ok := t.spelled(query[start:end]); ok && !yield(w) {
				return
			}
		}
	}
}

// spacedWords yields where the words of a query begin and end, but for those of scripts
// that put no spaces between them.
func spacedWords(query string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		for i := 0; i < len(query); {
			r, size := decode(query[i:])
			switch {
			case !startsWord(r):
				i += size
				continue
			case unspaced(r):
				i += unspacedRun(query[i:])
				continue
			}
			n, _ := span(query[i:])
			if !yield(i, i+n) {
				return
			}
			i += n
		}
	}
}

// spelled returns a word, unless it is none that may be misspelt.
func (t *tokenizer) spelled(word string) (Spelled, bool) {
	_, joined := span(word)
	if joined {
		word = trimPossessive(word)
		_, joined = span(word)
	}
	if joined || named(word) {
		return Spelled{}, false
	}
	t.fold(word)
	if alphabetOf(t.buf) == nil || utf8.RuneCount(t.buf) < MinSpelledRunes || utf8.RuneCount(t.buf) > MaxTermRunes || isStop(t.buf) {
		return Spelled{}, false
	}
	w := Spelled{Folded: string(t.buf), Written: word}
	t.reduce()
	w.Term = string(t.buf)
	return w, true
}

// named reports whether a word looks like the name of something in a program, or like
// initials.
func named(word string) bool {
	return nextHump(word, 0) < len(word) || word == strings.ToUpper(word) && word != strings.ToLower(word)
}

// plainLatin is that of words without accents, and accented has what each of its letters
// is with one. Where any letter could become any accented one, words of English would
// take thrice the time.
var plainLatin = []rune("abcdefghijklmnopqrstuvwxyz")

var accented = map[rune][]rune{
	'a': []rune("àáâãäåăą"), 'c': []rune("çćč"), 'd': []rune("ď"), 'e': []rune("èéêëęě"), 'g': []rune("ğ"), 'i': []rune("ìíîïı"), 'l': []rune("ł"),
	'n': []rune("ñńň"), 'o': []rune("òóôõöøő"), 'r': []rune("ř"), 's': []rune("ßśşșš"), 't': []rune("ťț"), 'u': []rune("ùúûüůű"), 'y': []rune("ý"), 'z': []rune("źżž"),
}

// alphabets have the letters that an edit puts into other words, by scripts: those of the
// languages that are written most.
var alphabets = [...]struct {
	script  *unicode.RangeTable
	letters []rune
}{
	{unicode.Latin, []rune("abcdefghijklmnopqrstuvwxyzàáâãäåæçèéêëìíîïñòóôõöøùúûüýßăąćčďęěğıłńňőœřśşșšťțůűźżž")},
	{unicode.Cyrillic, []rune("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґ")},
	{unicode.Greek, []rune("αβγδεζηθικλμνξοπρστυφχψωάέήίόύώ")},
	{unicode.Arabic, []rune("ءآأؤإئابةتثجحخدذرزسشصضطظعغفقكلمنهوىي")},
	{unicode.Hebrew, []rune("אבגדהוזחטיךכלםמןנסעףפץצקרשת")},
}

// alphabetOf returns the alphabet of a word, nil if it is written otherwise or in several.
func alphabetOf(word []byte) []rune {
	if !bytes.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return plainLatin
	}
	for _, a := range alphabets {
		if !bytes.ContainsFunc(word, func(r rune) bool { return !unicode.Is(a.script, r) }) {
			return a.letters
		}
	}
	return nil
}

// Respell calls try for the words that one edit makes of w: two neighbours that change
// places, a letter left out, another one in its place, or one put in; in this order, and
// each with its term. Letters are put in from the alphabet of w. Stop words are left out,
// and terms of fewer than [MinPatternRunes] characters. The slices are valid only
// during the call.
func (w Spelled) Respell(try func(term, spelt []byte)) {
	var (
		t       tokenizer
		letters = []rune(w.Folded)
		buf     []byte
	)
	edited := func(before []rune, between string, after []rune) {
		buf = buf[:0]
		for _, r := range before {
			buf = utf8.AppendRune(buf, r)
		}
		buf = append(buf, between...)
		for _, r := range after {
			buf = utf8.AppendRune(buf, r)
		}
		if isStop(buf) || string(buf) == w.Folded {
			return
		}
		t.buf = append(t.buf[:0], buf...)
		if t.reduce(); utf8.RuneCount(t.buf) >= MinPatternRunes {
			try(t.buf, buf)
		}
	}
	for i := range len(letters) - 1 {
		edited(letters[:i], string([]rune{letters[i+1], letters[i]}), letters[i+2:])
	}
	for i := range letters {
		edited(letters[:i], "", letters[i+1:])
	}
	alphabet := alphabetOf([]byte(w.Folded))
	for i := range letters {
		for _, r := range alphabet {
			edited(letters[:i], string(r), letters[i+1:])
		}
		for _, r := range accented[letters[i]] {
			edited(letters[:i], string(r), letters[i+1:])
		}
	}
	for i := range len(letters) + 1 {
		for _, r := range alphabet {
			edited(letters[:i], string(r), letters[i:])
		}
	}
}
