package skills

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ragctx/ragctx/analysis"
)

// Skill is what agents are shown of a published procedure.
type Skill struct {
	ID        ID
	Trigger   string
	Published time.Time

	terms []string // what can be matched, sorted
}

// NewSkill prepares a skill for matching.
func NewSkill(id ID, trigger string, published time.Time) Skill {
	s := Skill{ID: id, Trigger: trigger, Published: published}
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

// A skill fits a question if they share two words, or all that one of them has, and
// enough of both is shared. The weights are set by hand on a set of questions that
// testdata/skills.txt lists; they prefer to say nothing.
const (
	leastScore = 0.40 // of the geometric mean of said and asked
	matchBias  = -4.6
	matchScale = 8.8
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
	whole := m.words == len(terms) || m.words == len(s.terms)
	both := math.Sqrt(m.said * m.asked)
	if m.words < 2 && !whole || both < leastScore {
		return m
	}
	m.relevance = 1 / (1 + math.Exp(-(matchBias + matchScale*both)))
	return m
}
