package docs

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/passage"
	"github.com/ragctx/ragctx/internal/text/sentence"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

const maxAbstractRunes = 500

// leadRunes is the part of the abstract reserved for the beginning of the text.
const leadRunes = 280

// comments matches HTML comments. An unclosed comment extends to the end.
var comments = regexp.MustCompile(`(?s)<!--.*?(-->|$)`)

// Limits of the sentences considered per document.
const (
	maxSentences = 80
	maxProse     = 8 << 10 // bytes
)

// abstractSentence is a candidate sentence for an abstract.
type abstractSentence struct {
	text  string
	runes int
	lead  bool // in the first paragraph with sentences
	terms []string
	score float64
}

// abstract summarizes a document with its own sentences: the author's description, the beginning of
// the first paragraph, and the most central sentences, in text order. A document without prose is
// summarized by its declarations, the beginning of its text, or its title.
func abstract(p passage.PreparedDocument, s structure) string {
	if strings.EqualFold(s.description, p.Title) {
		s.description = ""
	}
	candidates := candidatesOf(p.Text, s)
	scoreSentences(candidates, p.Title)
	c := selection{candidates: candidates, remaining: maxAbstractRunes}
	if s.description != "" {
		c.record(analysis.Query(s.description), utf8.RuneCountInString(s.description)+2)
	}
	lead := leadRunes
	for i := 0; i < len(candidates) && candidates[i].lead && lead > 0; i++ {
		c.take(i)
		lead -= candidates[i].runes
	}
	for _, i := range byScore(candidates) {
		c.take(i)
	}
	if s.description == "" && len(c.chosen) == 0 {
		return withoutProse(p, s)
	}
	return c.join(s.description)
}

// selection is the selection of sentences for an abstract.
type selection struct {
	candidates []abstractSentence
	chosen     []int
	remaining  int // remaining code points
	covered    []map[string]bool
}

// record records the terms and the length of a part of the abstract.
func (c *selection) record(terms []string, runes int) {
	set := make(map[string]bool, len(terms))
	for _, t := range terms {
		set[t] = true
	}
	c.covered = append(c.covered, set)
	c.remaining -= runes
}

// take selects a sentence if it fits and is not redundant.
func (c *selection) take(i int) {
	s := c.candidates[i]
	if s.runes >= c.remaining || slices.Contains(c.chosen, i) || c.repeats(s.terms) {
		return
	}
	c.chosen = append(c.chosen, i)
	c.record(s.terms, s.runes+1)
}

// repeats reports whether one selected sentence contains four fifths of the terms.
func (c *selection) repeats(terms []string) bool {
	for _, said := range c.covered {
		n := 0
		for _, t := range terms {
			if said[t] {
				n++
			}
		}
		if n*5 >= len(terms)*4 {
			return true
		}
	}
	return false
}

// joinBlocks returns the description and the selected sentences in text order.
func (c *selection) join(description string) string {
	slices.Sort(c.chosen)
	var parts []string
	if description != "" {
		if len(c.chosen) > 0 && !strings.ContainsRune(sentenceEnds, lastRune(description)) {
			description += "."
		}
		parts = append(parts, description)
	}
	for _, i := range c.chosen {
		parts = append(parts, c.candidates[i].text)
	}
	return sentence.Clip(strings.Join(parts, " "), maxAbstractRunes)
}

// candidatesOf returns the sentences of the prose that can stand alone. The first sentence may
// begin in lower case: it refers to nothing before it, and often begins with a name from code.
func candidatesOf(text string, s structure) []abstractSentence {
	var out []abstractSentence
	first := -1 // the paragraph with the first candidate
	size := 0
	for i, pr := range s.prose {
		if size += pr.end - pr.start; size > maxProse && i > 0 || len(out) >= maxSentences {
			break
		}
		par := sentence.ShortenRuns(strings.ToValidUTF8(text[pr.start:min(pr.end, pr.start+maxProse)], ""))
		if s.plain != nil {
			par = s.plain(par)
		}
		par = strings.Join(strings.Fields(par), " ")
		opening := i == 0
		sentence.Sentences(par, func(t string) bool {
			if standsAlone(t) || opening && complete(t) {
				if first < 0 {
					first = i
				}
				out = append(out, abstractSentence{text: t, runes: utf8.RuneCountInString(t), lead: i == first})
			}
			opening = false
			return len(out) < maxSentences
		})
	}
	return out
}

// sentenceEnds are the characters that end a sentence.
const sentenceEnds = ".!?。！？…؟।։"

// standsAlone reports whether a sentence can be read alone: it is complete and not the rest of
// another.
func standsAlone(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLower(first) && complete(s)
}

// complete reports whether a sentence has an end and a few words, consists mostly of letters and
// accepts no markup.
func complete(s string) bool {
	if len(s) > 4*sentence.MaxSentence || strings.ContainsAny(s, "{}|<>`") || strings.Contains(s, "](") || strings.Contains(s, "]:") {
		return false
	}
	if !balanced(s) || !strings.ContainsRune(sentenceEnds, lastRune(strings.TrimRight(s, "\"')”’」』）"))) {
		return false
	}
	weight, others := 0, 0
	for _, r := range s {
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r): // a CJK character carries more meaning
			weight += 3
		case unicode.IsLetter(r):
			weight++
		case !unicode.IsSpace(r):
			others++
		}
	}
	return weight >= 24 && others*4 <= weight
}

// balanced reports whether brackets and quotation marks come in pairs. They do not if the segmenter
// split inside them.
func balanced(s string) bool {
	return strings.Count(s, "(") == strings.Count(s, ")") && strings.Count(s, "“") == strings.Count(s, "”") &&
		strings.Count(s, `"`)%2 == 0
}

// dependentWords lists the first words of English sentences that refer to the previous sentence.
var dependentWords = []string{
	"however", "this", "these", "those", "it", "they", "furthermore", "moreover", "therefore", "thus", "then", "but",
	"and", "so", "also", "such", "here", "he", "she", "instead", "otherwise", "finally", "that", "additionally", "similarly",
}

func dependsOnPrevious(s string) bool {
	word, _, _ := strings.Cut(s, " ")
	return strings.HasSuffix(s, "?") || slices.Contains(dependentWords, strings.ToLower(strings.TrimRight(word, ",")))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// scoreSentences scores sentences by centrality: the sum of the logarithms of their terms' counts over all
// sentences, double for terms of the title, divided by the square root of the number of terms.
// Questions and sentences that refer to another get half.
func scoreSentences(candidates []abstractSentence, title string) {
	counts := make(map[string]int)
	for i := range candidates {
		candidates[i].terms = analysis.Query(candidates[i].text)
		for _, t := range candidates[i].terms {
			counts[t]++
		}
	}
	titled := make(map[string]bool)
	for _, t := range analysis.Query(title) {
		titled[t] = true
	}
	for i := range candidates {
		c := &candidates[i]
		for _, t := range c.terms {
			w := math.Log(float64(counts[t]))
			if titled[t] {
				w = 2*w + 1
			}
			c.score += w
		}
		if c.score /= math.Sqrt(float64(len(c.terms)) + 4); dependsOnPrevious(c.text) {
			c.score /= 2
		}
	}
}

// byScore returns the indexes of the candidates, best first, ties in text order.
func byScore(candidates []abstractSentence) []int {
	order := make([]int, len(candidates))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch d := candidates[b].score - candidates[a].score; {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return 0
	})
	return order
}

// withoutProse summarizes a document without sentences: by its other text, its declarations or
// headings, or its title.
func withoutProse(p passage.PreparedDocument, s structure) string {
	rest := s.rest
	if s.prose == nil && rest == nil && len(p.Outline) == 0 || s.plain == nil && s.prose != nil {
		rest = []span{{s.start, len(p.Text)}}
	}
	var parts []string
	for i, size := 0, 0; i < len(rest) && size < maxAbstractRunes; i++ {
		text := p.Text[rest[i].start:min(rest[i].end, rest[i].start+maxProse)]
		if s.plain != nil {
			text = comments.ReplaceAllString(text, "")
		}
		for _, par := range sentence.Paragraphs(text) {
			if s.plain != nil {
				par = s.plain(par)
			}
			if par = strings.Join(strings.Fields(par), " "); sentence.HasLetter(par) && size < maxAbstractRunes {
				parts = append(parts, par)
				size += len(par)
			}
		}
	}
	if len(parts) == 0 {
		return withoutText(p, s)
	}
	return sentence.Clip(strings.ToValidUTF8(strings.Join(parts, " "), ""), maxAbstractRunes)
}

// withoutText summarizes a document by its outermost sections.
func withoutText(p passage.PreparedDocument, s structure) string {
	names := topTitles(p.Outline, p.Title)
	switch {
	case len(names) == 0:
		return sentence.Clip(p.Title, maxAbstractRunes)
	case s.plain == nil:
		return sentence.Clip("Declares "+strings.Join(names, "; ")+".", maxAbstractRunes)
	}
	return sentence.Clip(p.Title+": "+strings.Join(names, "; ")+".", maxAbstractRunes)
}
