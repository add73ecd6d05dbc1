package queryexpand

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// term is a word of a text that says something, as it is written there: a name or
// a path with its signs.
type term struct {
	text  string
	key   string // lower-cased
	at    int    // among the text's terms, repetitions counted
	count int
	named bool // it is written like a name or an identifier
}

// longestTerm is how many bytes a term has at most; what is longer is no word.
const longestTerm = 80

// termsOf returns the distinct words of a text that say something, in their order.
func termsOf(text string) []term {
	l := languageOf(split(text, mostWords))
	var out []term
	place := make(map[string]int)
	n, first := 0, true
	for field := range strings.FieldsFuncSeq(text, parting) {
		bare := strings.TrimFunc(field, func(r rune) bool { return !inWord(r) })
		starts := first
		last, _ := utf8.DecodeLastRuneInString(field)
		first = strings.ContainsRune(sentenceSigns, last)
		if len(bare) > longestTerm {
			continue
		}
		if bare = l.says(bare); bare == "" {
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

// parting reports whether a sign stands between words and never in them.
func parting(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<>()[]{}|\"`,;", r) }

// says returns the part of a word that says something, "" for none: without a
// tail such as 's, and without an article such as l'.
func (l *lexicon) says(field string) string {
	if !strings.ContainsFunc(field, func(r rune) bool { return !inWord(r) }) {
		if l.small(strings.ToLower(field)) {
			return ""
		}
		return field
	}
	parts := split(field, 8)
	small := 0
	for _, p := range parts {
		if l.small(p.text) {
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
		case l.small(strings.ToLower(tail)):
			return head
		case l.small(strings.ToLower(head)):
			return tail
		}
	}
	return field
}

// named reports whether a word is written like a name or an identifier. The first
// one of a sentence has its capital from there.
func named(w string, first bool) bool {
	for i, r := range w {
		if unicode.IsDigit(r) || !inWord(r) && r != '\'' && r != '’' && r != '-' || r == '_' || unicode.IsUpper(r) && (i > 0 || !first) {
			return true
		}
	}
	return false
}

// telling takes the n most telling of the terms that were not taken before, in
// their order: what is said often, early, and with a name.
func (taken wordSet) telling(terms []term, n int) []string {
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
	earlyTerms  = 40  // a term after so many others tells half as much
	namedFactor = 1.5 // what a name tells more than a word
)

// take takes the first n of the terms that were not taken before.
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
