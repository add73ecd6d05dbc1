package analysis

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MinSpelledRunes is the minimum length of a word that can count as misspelt. Too many shorter
// words are one edit apart.
const MinSpelledRunes = 5

// Spelled is a word of a query that may be misspelt.
type Spelled struct {
	// Written is the word as it stands in the query, Folded its folded form, and Term the term that
	// [Each] emits for it.
	Term, Written, Folded string
}

// SpelledWords yields the words of a query that may be misspelt, in order, repetitions included.
// Such a word has at least [MinSpelledRunes] letters of one alphabet.
//
// Words that are written on purpose are left out: stop words, parts of a compound, names, words inside
// a phrase, and words with the mark of a [Pattern]. Names are camel-case and all-capital words, and
// capitalized words inside a sentence unless the query is German, where nouns are capitalized.
func SpelledWords(query string) iter.Seq[Spelled] {
	return func(yield func(Spelled) bool) {
		quoted := Phrases(query)
		german := isGerman(query)
		t := tokenizer{}
		last := 0
		for start, end := range spacedWords(query) {
			inside := last > 0 && !strings.ContainsAny(query[last:start], ".!?:\n")
			last = end
			if r, _ := utf8.DecodeRuneInString(query[start:]); inside && !german && unicode.IsUpper(r) {
				continue
			}
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

// germanWords are frequent German words that are not words of other languages.
var germanWords = []string{
	"das", "dem", "den", "der", "ein", "eine", "für", "im", "ist", "mit", "nicht", "und", "welche", "wer", "wie", "wo", "zum", "zur",
}

// isGerman reports whether a query has one of the most frequent German words.
func isGerman(query string) bool {
	for w := range strings.FieldsSeq(query) {
		if slices.Contains(germanWords, strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// spacedWords yields the byte ranges of the words of a query, except in scripts written without
// spaces.
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

// spelled returns false if the word cannot count as misspelt.
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

// named reports whether a word looks like an identifier in a program or like initials.
func named(word string) bool {
	return nextHump(word, 0) < len(word) || word == strings.ToUpper(word) && word != strings.ToLower(word)
}

// plainLatin is the alphabet of words without accents; accented lists the accented forms of each
// letter. Trying every accented letter in every place would make English words three times as slow.
var plainLatin = []rune("abcdefghijklmnopqrstuvwxyz")

var accented = map[rune][]rune{
	'a': []rune("àáâãäåăą"), 'c': []rune("çćč"), 'd': []rune("ď"), 'e': []rune("èéêëęě"),
	'g': []rune("ğ"), 'i': []rune("ìíîïı"), 'l': []rune("ł"),
	'n': []rune("ñńň"), 'o': []rune("òóôõöøő"), 'r': []rune("ř"), 's': []rune("ßśşșš"), 't': []rune("ťț"),
	'u': []rune("ùúûüůű"), 'y': []rune("ý"), 'z': []rune("źżž"),
}

// alphabets lists, by script, the letters that an edit may insert. It covers the most widely
// written languages.
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

// alphabetOf returns the alphabet of a word. It returns nil for a word in another script or in
// several.
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

// Respell calls try for each word that is one edit away from w, with its term. The order is: two
// neighbours swapped, a letter deleted, a letter replaced, a letter inserted. Inserted letters come
// from the alphabet of w. Stop words and terms of fewer than [MinPatternRunes] characters are left
// out. An English word is spelt right, so try is called only for its British or American spelling.
// The slices are valid only during the call.
func (w Spelled) Respell(try func(term, spelt []byte)) {
	var (
		t       tokenizer
		letters = []rune(w.Folded)
		right   = isEnglish(w.Folded)
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
		if isStop(buf) || string(buf) == w.Folded || right && !sameEnglish(w.Folded, string(buf)) {
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
