package passage

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx"
	"github.com/ragctx/ragctx/internal/text/analysis"
)

// maxMarked is how many bytes of a text are searched for words at most.
const maxMarked = 1 << 20

// Highlighter finds the words of a question in texts, as the keyword leg does: by their
// stems, in compounds, and as pairs of characters where a script has no spaces. It may
// be used concurrently.
type Highlighter struct {
	terms map[string]int // numbered
}

// NewHighlighter returns a highlighter of the words of some texts, without stop words
// unless a text has nothing else.
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

// With returns a highlighter that finds some terms as well, as package analysis makes
// them of texts.
func (h Highlighter) With(terms []string) Highlighter {
	all := Highlighter{terms: maps.Clone(h.terms)}
	for _, term := range terms {
		if _, ok := all.terms[term]; !ok {
			all.terms[term] = len(all.terms)
		}
	}
	return all
}

// HighlighterOf returns a highlighter of what a query asks in its own words.
func HighlighterOf(q ragctx.ContextQuery) Highlighter {
	return NewHighlighter(append([]string{q.Query}, q.Queries...)...)
}

// In returns where a text has the words, and the part of it that has most of them.
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

// Matches returns all places of words in a text, in order and apart from each other.
func (h Highlighter) Matches(text string) []ragctx.TextSpan {
	found := h.find(bounded(text))
	spans := make([]ragctx.TextSpan, len(found))
	for i, m := range found {
		spans[i] = m.TextSpan
	}
	return spans
}

// bounded returns as much of a text as is looked at.
func bounded(text string) string {
	if len(text) <= maxMarked {
		return text
	}
	cut := maxMarked
	for cut > maxMarked-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}

// match is a place with the terms, by number, that are there.
type match struct {
	ragctx.TextSpan

	terms []int
}

// find returns where the words are. Places that overlap, such as those of a compound
// and its parts, are one.
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

// fragment returns the part of a text around the matches that stand close together and
// have the most different terms, of as many the most matches, of these the first.
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

// densest returns the first and the one after the last of the matches that a fragment
// can hold and that have most.
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

// backward returns where a fragment begins that has up to n more code points before the
// end of a text: at the beginning of a line or word, if there is one.
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
		return at // of a script without spaces
	}
	return word
}

// forward returns the length of what a fragment has of a text that goes on, up to n code
// points: to the end of its line or of a word, if there is one.
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
