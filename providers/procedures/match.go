package procedures

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// PublishedProcedure is the part of a published procedure that queries match and agents see.
type PublishedProcedure struct {
	ID        ID
	Trigger   string
	Published time.Time

	terms []string // terms to match, sorted
	does  string   // the term that names the action
	says  string   // the trigger without braces
}

// NewPublishedProcedure prepares a published procedure for matching.
func NewPublishedProcedure(id ID, trigger string, published time.Time) PublishedProcedure {
	s := PublishedProcedure{ID: id, Trigger: trigger, Published: published}
	first, _, _ := strings.Cut(id.Name, "-")
	s.does = analysis.Stem(first)
	fixed := []string{withoutBraces(trigger)}
	for word := range strings.SplitSeq(id.Name, "-") {
		if !strings.Contains(trigger, "{"+word+"}") { // the name of a value is no word of requests
			fixed = append(fixed, word)
		}
	}
	s.terms = contentTerms(strings.Join(fixed, "\n"))
	s.says = strings.NewReplacer("{", "", "}", "").Replace(trigger)
	return s
}

// withoutBraces removes placeholders: their values differ each time.
func withoutBraces(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			break
		}
		j := strings.IndexByte(s[i:], '}')
		if j < 0 {
			break
		}
		b.WriteString(s[:i] + " ")
		s = s[i+j+1:]
	}
	return b.String() + s
}

// contentTerms returns the distinct terms of a text without stop words, sorted.
func contentTerms(text string) []string {
	var out []string
	for _, t := range analysis.ContentFeatures(text) {
		if t.Kind == analysis.Word {
			out = append(out, t.Text)
		}
	}
	slices.Sort(out)
	return out
}

// match is the match of a procedure with a question.
type match struct {
	// procedureShare is the weighted share of the procedure's words that the question contains,
	// questionShare is the weighted share of the question's words that the procedure contains. words
	// counts the shared words.
	procedureShare, questionShare float64
	words                         int
	cosine                        float64 // if the procedure is meant in other words
	relevance                     float64
}

// A procedure matches a question if they share two words, or all words of the procedure, and enough
// weight on both sides: more if the question does not name the action, and most if it asks for a fact.
// The numbers were set by hand
// on testdata/procedures.txt and favor silence over false matches.
const (
	leastScore         = 0.40 // on the geometric mean of the two shares
	leastWithoutAction = 0.50
	leastForFact       = 0.75
	matchBias          = -4.6 // bias of the logistic function that maps it to the common relevance scale
	matchScale         = 8.8
	noActionFactor     = 0.6 // factor on the relevance if the action is not named
)

// score returns the match of each procedure with a question, in their order.
func score(list []*PublishedProcedure, question string) []match {
	out := make([]match, len(list))
	terms := contentTerms(question)
	if len(terms) == 0 {
		return out
	}
	weights, fact := rarity(list, terms), asksForFact(question)
	for i, s := range list {
		out[i] = s.match(terms, weights, fact)
	}
	return out
}

// rarity returns the weight of each term of a question: the fewer procedures contain it, the
// higher.
func rarity(list []*PublishedProcedure, terms []string) map[string]float64 {
	weights := make(map[string]float64, len(terms))
	for _, t := range terms {
		have := 0
		for _, s := range list {
			if s.has(t) {
				have++
			}
		}
		weights[t] = math.Log(2 + (float64(len(list))+1)/(float64(have)+1))
	}
	return weights
}

func (s *PublishedProcedure) has(term string) bool {
	_, ok := slices.BinarySearch(s.terms, term)
	return ok
}

func (s *PublishedProcedure) match(terms []string, weights map[string]float64, fact bool) match {
	var m match
	var shared, total float64
	for _, t := range terms {
		total += weights[t]
		if s.has(t) {
			shared += weights[t]
			m.words++
		}
	}
	if m.words == 0 {
		return match{}
	}
	// A word missing from the question gets the mean weight of the question's words.
	mean := total / float64(len(terms))
	m.questionShare = shared / total
	m.procedureShare = shared / (shared + float64(len(s.terms)-m.words)*mean)
	both, least, share := math.Sqrt(m.procedureShare*m.questionShare), leastScore, 1.0
	if !slices.Contains(terms, s.does) {
		least, share = leastWithoutAction, noActionFactor
	}
	if fact {
		least = leastForFact
	}
	if m.words < min(2, len(s.terms)) || both < least {
		return m
	}
	m.relevance = share / (1 + math.Exp(-(matchBias + matchScale*both)))
	return m
}
