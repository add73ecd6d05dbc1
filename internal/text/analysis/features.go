package analysis

import (
	"slices"
	"unicode/utf8"
)

// Kind tells the features of a text apart.
type Kind uint8

// The kinds of features. Those of different kinds are different strings: only a
// pair holds a space, only a gram starts with a control character.
const (
	// Word is a term as [Each] gives it.
	Word Kind = iota
	// Pair is two stemmed words that follow one another when stop words are left
	// out, with a space between them. A compound counts by its parts.
	Pair
	// Gram is a run of [GramRunes] characters of a word that is no stop word: of
	// its letters as they are written, between a sign for its begin and one for
	// its end. A word that is misspelt, inflected or part of a compound still
	// shares some. Words of two letters and those of scripts written without spaces have
	// none.
	Gram
)

// GramRunes is the length of a gram in code points, the signs for begin and end
// counted.
const GramRunes = 4

const (
	gramMark  = '\x01' // starts every gram
	gramEdge  = '_'    // begin and end of a word
	pairSpace = ' '
)

// Features calls emit for every feature of a text: its words as [Each] gives
// them, and after each word the pair that it completes and its grams. The slice
// is valid only during the call. Repetitions are not counted together.
func Features(text string, emit func(kind Kind, term []byte)) {
	Spellings(text, emit, func(word []byte) {
		Grams(word, func(gram []byte) { emit(Gram, gram) })
	})
}

// Spellings does what [Features] does, but in place of the grams of a word it
// gives the word as it is written, so that who analyses many texts need look up the
// grams of each spelling only once; see [Grams].
func Spellings(text string, emit func(kind Kind, term []byte), spelt func(word []byte)) {
	t := tokenizer{emit: func(term []byte) { emit(Word, term) }, features: &features{emit: emit, spelt: spelt}}
	t.scan(text)
}

// QueryFeatures returns the distinct features of a query, counted, in the order
// in which they first appear. Its words are those of [QueryTerms].
func QueryFeatures(text string) []QueryTerm {
	if features := ContentFeatures(text); len(features) > 0 {
		return features
	}
	return QueryTerms(text)
}

// ContentFeatures returns what [QueryFeatures] does, but nothing for a text of
// nothing but stop words.
func ContentFeatures(text string) []QueryTerm {
	var c counter
	t := tokenizer{stop: true, emit: func(term []byte) { c.emit(Word, term) }, features: &features{emit: c.emit, spelt: c.spelt}}
	t.scan(text)
	return slices.Clip(c.terms)
}

// features makes the features that are more than words.
type features struct {
	emit  func(kind Kind, term []byte)
	spelt func(word []byte)
	last  []byte // the stemmed word before, with a space
	word  []byte // the word at hand, as it is written
	buf   []byte
}

// spell keeps a folded word, which the stemmer will change.
func (f *features) spell(folded []byte) {
	cut, _ := truncate(folded)
	f.word = append(f.word[:0], cut...)
}

// follow emits the pair of the word before and this one.
func (f *features) follow(stem []byte) {
	if len(f.last) > 0 {
		f.buf = append(append(f.buf[:0], f.last...), stem...)
		f.emit(Pair, f.buf)
	}
	f.last = append(append(f.last[:0], stem...), pairSpace)
}

// Grams calls emit for the grams of a word, as [Spellings] gives it. The slice is
// valid only during the call.
func Grams(word []byte, emit func(gram []byte)) {
	var (
		room  [MaxTermRunes + 4]byte // of most words
		marks [MaxTermRunes + 4]int
	)
	buf, ends := append(room[:0], gramMark, gramEdge), append(marks[:0], 1, 2) // ends of the characters in buf
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRune(word[i:])
		i += size
		ends = append(ends, 2+i)
	}
	buf = append(append(buf, word...), gramEdge)
	ends = append(ends, len(buf))
	if len(ends) < GramRunes+2 {
		return // two letters: a gram would say what the word does
	}
	for i := range len(ends) - GramRunes {
		start, end := ends[i], ends[i+GramRunes]
		buf[start-1] = gramMark // over what no further gram has
		emit(buf[start-1 : end])
	}
}
