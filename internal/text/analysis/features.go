package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a feature.
type Kind uint8

// The kinds of features. Strings of different kinds never collide: only a pair contains a space,
// only a gram starts with a control character.
const (
	// Word is a term as [Each] gives it.
	Word Kind = iota
	// Pair is two consecutive stemmed words, stop words left out, joined by a space. A compound
	// counts by its parts.
	Pair
	// Gram is a run of [GramRunes] characters of a word that is not a stop word. It is cut from the
	// unstemmed word, with a marker at its beginning and its end. A misspelt word, an inflected
	// word or a part of a compound still shares some grams. Two-letter words and words of scripts
	// written without spaces have no grams.
	Gram
)

// GramRunes is the length of a gram in code points, including the markers of beginning and end.
const GramRunes = 4

const (
	gramMark  = '\x01' // starts every gram
	gramEdge  = '_'    // beginning and end of a word
	pairSpace = ' '
)

// Features calls emit for every feature of a text: each word as [Each] emits it, then the pair that
// it completes and its grams. The slice is valid only during the call. Repeated features are
// emitted repeatedly.
func Features(text string, emit func(kind Kind, term []byte)) {
	Spellings(text, emit, func(word []byte) {
		Grams(word, func(gram []byte) { emit(Gram, gram) })
	})
}

// Spellings does what [Features] does, but passes each unstemmed word to spelt instead of emitting
// its grams. A caller that analyses many texts can thus cache the grams of each word; see [Grams].
func Spellings(text string, emit func(kind Kind, term []byte), spelt func(word []byte)) {
	t := tokenizer{emit: func(term []byte) { emit(Word, term) }, features: &features{emit: emit, spelt: spelt}}
	t.scan(text)
}

// QueryFeatures returns the distinct features of a query with their counts, in order of first
// appearance. Its words come from [QueryTerms].
func QueryFeatures(text string) []QueryTerm {
	if features := ContentFeatures(text); len(features) > 0 {
		return features
	}
	return QueryTerms(text)
}

// ContentFeatures is like [QueryFeatures], but returns nothing for a text that consists of stop
// words.
func ContentFeatures(text string) []QueryTerm {
	var c counter
	t := tokenizer{stop: true, emit: func(term []byte) { c.emit(Word, term) }, features: &features{emit: c.emit, spelt: c.spelt}}
	t.scan(text)
	return slices.Clip(c.terms)
}

// features derives pairs and grams.
type features struct {
	emit  func(kind Kind, term []byte)
	spelt func(word []byte)
	last  []byte // the previous stemmed word and a space
	word  []byte // the current word, unstemmed
	buf   []byte
}

// spell saves a folded word before the stemmer changes it.
func (f *features) spell(folded []byte) {
	cut, _ := truncate(folded)
	f.word = append(f.word[:0], cut...)
}

// follow emits the pair of the previous word and this one.
func (f *features) follow(stem []byte) {
	if len(f.last) > 0 {
		f.buf = append(append(f.buf[:0], f.last...), stem...)
		f.emit(Pair, f.buf)
	}
	f.last = append(append(f.last[:0], stem...), pairSpace)
}

// Grams calls emit for the grams of a word that [Spellings] returned. The slice is valid only
// during the call.
func Grams(word []byte, emit func(gram []byte)) {
	var (
		room  [MaxTermRunes + 4]byte // enough for most words
		marks [MaxTermRunes + 4]int
	)
	buf, ends := append(room[:0], gramMark, gramEdge), append(marks[:0], 1, 2) // the end offsets of the characters in buf
	for i := 0; i < len(word); {
		_, size := utf8.DecodeRune(word[i:])
		i += size
		ends = append(ends, 2+i)
	}
	buf = append(append(buf, word...), gramEdge)
	ends = append(ends, len(buf))
	if len(ends) < GramRunes+2 {
		return // the only gram of a two-letter word would repeat the word
	}
	for i := range len(ends) - GramRunes {
		start, end := ends[i], ends[i+GramRunes]
		buf[start-1] = gramMark // overwrites a byte that no later gram contains
		emit(buf[start-1 : end])
	}
}

// KindOf returns the kind of a feature.
func KindOf(feature string) Kind {
	switch {
	case strings.HasPrefix(feature, string(gramMark)):
		return Gram
	case strings.Contains(feature, string(pairSpace)):
		return Pair
	}
	return Word
}
