package queryexpand

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// term is a content word of a text as written, such as a name or a path with its punctuation.
type term struct {
	text  string
	key   string // lower-cased
	at    int    // position among the text's content words, repetitions counted
	count int
	named bool // written like a name or an identifier
}

// longestTerm is the maximum length of a term in bytes; longer runs are not words.
const longestTerm = 80

// termsOf returns the distinct content words of a text in order.
func termsOf(text string) []term {
	l := languageOf(split(text, maxWords))
	var out []term
	place := make(map[string]int)
	n, first := 0, true
	for field := range strings.FieldsFuncSeq(text, separates) {
		bare := strings.TrimFunc(field, func(r rune) bool { return !inWord(r) })
		starts := first
		last, _ := utf8.DecodeLastRuneInString(field)
		first = strings.ContainsRune(sentenceSigns, last)
		if len(bare) > longestTerm {
			continue
		}
		if bare = l.contentPart(bare); bare == "" {
			continue
		}
		key := strings.ToLower(bare)
		i, ok := place[key]
		if !ok {
			i = len(out)
			place[key] = i
			out = append(out, term{text: bare, key: key, at: n})
		}
		out[i].count++
		out[i].named = out[i].named || named(bare, starts)
		n++
	}
	return out
}

// separates reports whether a character stands between words and never in them.
func separates(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>()[]{}|\"`,;", r) }

// contentPart returns the part of a word that has content, without a tail such as 's and an article
// such as l', or "".
func (l *lexicon) contentPart(field string) string {
	if !strings.ContainsFunc(field, func(r rune) bool { return !inWord(r) }) {
		if l.isFunction(strings.ToLower(field)) {
			return ""
		}
		return field
	}
	parts := split(field, 8)
	small := 0
	for _, p := range parts {
		if l.isFunction(p.text) {
			small++
		}
	}
	if small == len(parts) {
		return ""
	}
	if i := strings.IndexAny(field, "'’"); i > 0 {
		_, size := utf8.DecodeRuneInString(field[i:])
		head, tail := field[:i], field[i+size:]
		switch {
		case l.isFunction(strings.ToLower(tail)):
			return head
		case l.isFunction(strings.ToLower(head)):
			return tail
		}
	}
	return field
}

// named reports whether a word is written like a name or an identifier. A capital at the start of a
// sentence does not count.
func named(w string, first bool) bool {
	for i, r := range w {
		if unicode.IsDigit(r) || !inWord(r) && r != '\'' && r != '’' && r != '-' || r == '_' || unicode.IsUpper(r) && (i > 0 || !first) {
			return true
		}
	}
	return false
}

// takeBest takes the n most informative terms that were not taken before, in their order. Frequent,
// early and named terms are the most informative.
func (taken wordSet) takeBest(terms []term, n int) []string {
	value := func(t term) float64 {
		v := (1 + math.Log(float64(t.count))) / (1 + float64(t.at)/earlyTerms)
		if t.named {
			v *= namedFactor
		}
		return v
	}
	terms = slices.DeleteFunc(terms, func(t term) bool { return taken[t.key] })
	slices.SortStableFunc(terms, func(a, b term) int { return cmp.Compare(value(b), value(a)) })
	terms = terms[:min(n, len(terms))]
	slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.at, b.at) })
	return taken.take(terms, n)
}

const (
	earlyTerms  = 40  // after this many terms the value is halved
	namedFactor = 1.5 // value of a named term relative to another
)

// take takes the first n terms that were not taken before.
func (taken wordSet) take(terms []term, n int) (out []string) {
	for _, t := range terms {
		if len(out) == n {
			break
		}
		if !taken[t.key] {
			taken[t.key] = true
			out = append(out, t.text)
		}
	}
	return out
}
