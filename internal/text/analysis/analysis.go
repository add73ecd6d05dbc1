// Package analysis turns text into search terms. It is the only tokeniser of the keyword index:
// indexing and querying must cut words the same way, so both call this package.
//
// What counts as a term:
//
//   - Words are runs of letters, digits and combining marks, put into NFKC and
//     lower case. Marks stay with their letters; without them the words of
//     scripts with vowel signs fall apart.
//   - ASCII words are reduced by the Porter stemmer, words of Cyrillic and Arabic
//     letters by a short list of endings (and, in Arabic, prefixes). The script
//     of the word decides. Guessing the language of the text fails too often on
//     short and mixed texts.
//   - Runs of Han, Kana, Hangul, Thai, Lao, Khmer and Myanmar letters become
//     overlapping pairs of characters, because these scripts put no spaces between
//     words (Korean puts none between words and particles). A run of one character
//     is a term.
//   - Identifiers are terms as a whole and in parts: user_id gives user_id, user
//     and id; parseHTTPRequest gives parsehttprequest, parse, http and request;
//     a path gives itself, its elements and their parts.
//   - Numbers, versions, dates and times are terms: 1.5, 2023-05-08 (with its
//     parts), 10:30; 3,000 becomes 3000.
//   - A possessive 's and the tail of an English contraction are dropped.
//
// A word of more than [MaxTermRunes] characters is truncated and not split. A longer compound is
// represented by its parts only.
//
// All functions are safe for concurrent use and accept any bytes. Invalid UTF-8 separates words.
package analysis

import "slices"

// Version identifies the rules of this package. An index stores it and is rebuilt when it differs,
// because old terms would not match new queries.
const Version = "2"

// MaxTermRunes is the maximum length of a term in code points.
const MaxTermRunes = 64

// Each calls emit for every term of text in order, for indexing. The slice is valid only during the
// call. A compound precedes its parts.
func Each(text string, emit func(term []byte)) {
	t := tokenizer{emit: emit}
	t.scan(text)
}

// Index returns the terms of text in order, with repetitions.
func Index(text string) []string {
	var terms []string
	Each(text, func(term []byte) { terms = append(terms, string(term)) })
	return terms
}

// QueryTerm is a term of a query.
type QueryTerm struct {
	Text  string
	Count int // occurrences in the query, at least 1
	Kind  Kind
	// Words lists the query words that contain a gram, as ascending indexes into the list of terms.
	// It is empty for other kinds.
	Words []int
}

// Query returns the distinct terms of a query in the order in which they first
// appear; see [QueryTerms].
func Query(text string) []string {
	terms := QueryTerms(text)
	out := make([]string, len(terms))
	for i, t := range terms {
		out[i] = t.Text
	}
	return out
}

// QueryTerms returns the distinct terms of a query with their counts, in order of first appearance.
// Stop words are left out unless the query has no other words. Texts keep theirs, so such a query
// still finds something.
func QueryTerms(text string) []QueryTerm {
	if terms := counted(text, true); len(terms) > 0 {
		return terms
	}
	return counted(text, false)
}

func counted(text string, stop bool) []QueryTerm {
	var c counter
	t := tokenizer{stop: stop, emit: func(term []byte) { c.emit(Word, term) }}
	t.scan(text)
	return slices.Clip(c.terms)
}

// counter collects distinct terms.
type counter struct {
	terms []QueryTerm
	seen  map[string]int
	word  int // index of the last word in terms
}

// add counts a term and returns its index.
func (c *counter) add(kind Kind, term []byte) int {
	i, ok := c.seen[string(term)]
	if !ok {
		if c.seen == nil {
			c.seen = make(map[string]int)
		}
		i = len(c.terms)
		c.terms = append(c.terms, QueryTerm{Text: string(term), Kind: kind})
		c.seen[c.terms[i].Text] = i
	}
	c.terms[i].Count++
	return i
}

func (c *counter) emit(kind Kind, term []byte) {
	if i := c.add(kind, term); kind == Word {
		c.word = i
	}
}

// spelt adds the grams of the last word.
func (c *counter) spelt(word []byte) {
	Grams(word, func(gram []byte) {
		g := &c.terms[c.add(Gram, gram)]
		if i, found := slices.BinarySearch(g.Words, c.word); !found {
			g.Words = slices.Insert(g.Words, i, c.word)
		}
	})
}

// Stem returns the term that a single word becomes, without taking compounds
// apart: lower-cased, normalised and stemmed by the rules of its script.
func Stem(word string) string {
	var term string
	t := tokenizer{emit: func(b []byte) { term = string(b) }}
	t.simple(word, 0)
	return term
}
