package passage

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// maxHighlighted is the number of bytes of a text that are searched for words.
const maxHighlighted = 1 << 20

// Highlighter finds the words of a query in texts, as the keyword index does: by stem, in
// compounds, and as pairs of characters in scripts without spaces. It is safe for concurrent use.
type Highlighter struct {
	terms map[string]int // term to its number
}

// NewHighlighter returns a highlighter of the words of some texts. Stop words count only in a text
// that has no other words.
func NewHighlighter(texts ...string) Highlighter {
	h := Highlighter{terms: make(map[string]int)}
	for _, text := range texts {
		for _, term := range analysis.Query(text) {
			if _, ok := h.terms[term]; !ok {
				h.terms[term] = len(h.terms)
			}
		}
	}
	return h
}

// With returns a highlighter that also finds the given terms of package analysis.
func (h Highlighter) With(terms []string) Highlighter {
	all := Highlighter{terms: maps.Clone(h.terms)}
	for _, term := range terms {
		if _, ok := all.terms[term]; !ok {
			all.terms[term] = len(all.terms)
		}
	}
	return all
}

// HighlighterOf returns a highlighter of the words of a query and of its other wordings.
func HighlighterOf(q ragctx.ContextQuery) Highlighter {
	return NewHighlighter(append([]string{q.Query}, q.Queries...)...)
}

// In returns the matches in a text, and the fragment with most of them.
func (h Highlighter) In(text string) ragctx.Highlights {
	text = bounded(text)
	found := h.find(text)
	found = found[:min(len(found), ragctx.MaxMatches)]
	spans := make([]ragctx.TextSpan, len(found))
	for i, m := range found {
		spans[i] = m.TextSpan
	}
	return ragctx.Highlights{Matches: spans, Fragment: fragment(text, found, len(h.terms))}
}

// Matches returns all matches in a text, in order, without overlaps.
func (h Highlighter) Matches(text string) []ragctx.TextSpan {
	found := h.find(bounded(text))
	spans := make([]ragctx.TextSpan, len(found))
	for i, m := range found {
		spans[i] = m.TextSpan
	}
	return spans
}

// bounded returns the part of a text that is searched.
func bounded(text string) string {
	if len(text) <= maxHighlighted {
		return text
	}
	cut := maxHighlighted
	for cut > maxHighlighted-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// match is a range and the numbers of the terms in it.
type match struct {
	ragctx.TextSpan

	terms []int
}

// find returns the matches. Overlapping ranges, such as a compound and its parts, are merged.
func (h Highlighter) find(text string) []match {
	var found []match
	analysis.Spans(text, func(term []byte, start, end int) {
		n, ok := h.terms[string(term)]
		if !ok {
			return
		}
		if last := len(found) - 1; last >= 0 && start < found[last].End {
			found[last].End, found[last].terms = max(found[last].End, end), append(found[last].terms, n)
			return
		}
		found = append(found, match{ragctx.TextSpan{Start: start, End: end}, []int{n}})
	})
	at, runes := 0, 0
	count := func(to int) int {
		runes, at = runes+utf8.RuneCountInString(text[at:to]), to
		return runes
	}
	for i := range found {
		found[i].StartRune = count(found[i].Start)
		found[i].EndRune = count(found[i].End)
	}
	return found
}

// fragment returns the part of a text around the densest matches: those with the most distinct
// terms, then the most matches, then the first ones.
func fragment(text string, found []match, terms int) ragctx.TextSpan {
	first, end := densest(found, terms)
	var s ragctx.TextSpan
	if first < end {
		s = found[first].TextSpan
		s.End, s.EndRune = found[end-1].End, found[end-1].EndRune
	}
	room := ragctx.FragmentChars - (s.EndRune - s.StartRune)
	before := backward(text[:s.Start], room/2)
	s.StartRune -= utf8.RuneCountInString(text[before:s.Start])
	s.Start = before
	after := s.End + forward(text[s.End:], ragctx.FragmentChars-(s.EndRune-s.StartRune))
	s.EndRune += utf8.RuneCountInString(text[s.End:after])
	s.End = after
	return s
}

// densest returns the range of the matches that fit into a fragment and have the most distinct
// terms.
func densest(found []match, terms int) (first, end int) {
	counts := make([]int, terms)
	distinct, most, to := 0, 0, 0
	for i, m := range found {
		for to < len(found) && (to == i || found[to].EndRune-m.StartRune <= ragctx.FragmentChars) {
			for _, term := range found[to].terms {
				if counts[term]++; counts[term] == 1 {
					distinct++
				}
			}
			to++
		}
		if score := distinct*(len(found)+1) + to - i; score > most {
			first, end, most = i, to, score
		}
		for _, term := range m.terms {
			if counts[term]--; counts[term] == 0 {
				distinct--
			}
		}
	}
	return first, end
}

// backward returns the start of a fragment of up to n code points before the end of a text. It is
// the beginning of a line or word if there is one.
func backward(text string, n int) int {
	at, word := len(text), len(text)
	for range n {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		switch {
		case size == 0 || r == '\n' || r == '\f':
			return at
		case unicode.IsSpace(r):
			word = at
		}
		at -= size
	}
	if at == 0 {
		return 0
	}
	if word == len(text) && !strings.ContainsFunc(text[at:], unicode.IsSpace) {
		return at // a script without spaces
	}
	return word
}

// forward returns the length of a fragment of up to n code points at the start of a text. It ends
// at the end of a line or word if there is one.
func forward(text string, n int) int {
	word, left := 0, n
	for i, r := range text {
		switch {
		case r == '\n' || r == '\f':
			return i
		case left == 0 && !unicode.IsSpace(r):
			if word == 0 && !strings.ContainsFunc(text[:i], unicode.IsSpace) {
				return i
			}
			return word
		case left == 0:
			return i
		case unicode.IsSpace(r):
			word = i
		}
		left--
	}
	return len(text)
}
