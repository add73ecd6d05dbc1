package procedures

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/internal/text/analysis"
)

// Skill is what agents are shown of a published procedure.
type Skill struct {
	ID        ID
	Trigger   string
	Published time.Time

	terms []string // what can be matched, sorted
	does  string   // the term that says what is done
}

// NewSkill prepares a skill for matching.
func NewSkill(id ID, trigger string, published time.Time) Skill {
	s := Skill{ID: id, Trigger: trigger, Published: published}
	first, _, _ := strings.Cut(id.Name, "-")
	s.does = analysis.Stem(first)
	s.terms = contentTerms(strings.ReplaceAll(id.Name, "-", " ") + "\n" + withoutBraces(trigger))
	return s
}

// withoutBraces removes {names} of values: they say what is different each time.
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

// contentTerms returns the distinct terms of a text, sorted, without stop words.
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

// match is how a skill answers a question.
type match struct {
	// said is the share of the skill's words that the question has, asked the share of
	// the question's that the skill has, both by weight; words counts them.
	said, asked float64
	words       int
	relevance   float64
}

// A skill fits a question if they share two words, or all that the skill has, and
// enough of both is shared: more where the question does not say what is to be done.
// The numbers are set by hand on testdata/skills.txt, and prefer to say nothing.
const (
	leastScore   = 0.40 // of the geometric mean of said and asked
	leastNotSaid = 0.50
	matchBias    = -4.6 // of a logistic function of it, on the common scale of relevance
	matchScale   = 8.8
	notSaid      = 0.6 // share of relevance that is left where it is not said
)

// score returns how well skills match a question, in their order.
func score(list []*Skill, question string) []match {
	out := make([]match, len(list))
	terms := contentTerms(question)
	if len(terms) == 0 {
		return out
	}
	weights := rarity(list, terms)
	for i, s := range list {
		out[i] = s.match(terms, weights)
	}
	return out
}

// rarity returns what each term of a question weighs: the fewer skills have it, the
// more.
func rarity(list []*Skill, terms []string) map[string]float64 {
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

func (s *Skill) has(term string) bool {
	_, ok := slices.BinarySearch(s.terms, term)
	return ok
}

func (s *Skill) match(terms []string, weights map[string]float64) match {
	var m match
	var shared, asked float64
	for _, t := range terms {
		asked += weights[t]
		if s.has(t) {
			shared += weights[t]
			m.words++
		}
	}
	if m.words == 0 {
		return match{}
	}
	// A word that the question does not have weighs as one of its own that are usual.
	mean := asked / float64(len(terms))
	m.asked = shared / asked
	m.said = shared / (shared + float64(len(s.terms)-m.words)*mean)
	both, least, share := math.Sqrt(m.said*m.asked), leastScore, 1.0
	if !slices.Contains(terms, s.does) {
		least, share = leastNotSaid, notSaid
	}
	if m.words < min(2, len(s.terms)) || both < least {
		return m
	}
	m.relevance = share / (1 + math.Exp(-(matchBias + matchScale*both)))
	return m
}
