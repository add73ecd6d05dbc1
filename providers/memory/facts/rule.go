package facts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// tense says which reading of a time without its year or week a rule wants.
type tense uint8

const (
	past tense = iota
	future
)

// rule recognises one way to say something. It is tried where a clause begins,
// after any words that only lead in.
type rule struct {
	name string
	kind Kind
	// heads are the words that the clause can begin with; "*" is any.
	heads string
	// has are words, or the beginnings of words, of which one must occur. It spares
	// the rules for any head most of their work.
	has string
	// re is matched against the folded clause and what follows it in the sentence.
	// A space stands for any white space, {words} for a macro. Groups: v is the
	// value, which ends with the clause; a the attribute, s the subject, p a person,
	// n a name, o an old value.
	re string
	// subject, attribute, value and content are made of the groups in braces; {S}
	// is the speaker. Without content the clause itself is put in the third person,
	// or quoted. Without subject it is the speaker, without value group v.
	subject, attribute, value, content string
	// exclusive and profile are those of the fact.
	exclusive, profile bool
	// conf and imp are confidence and importance before what the guards take off.
	conf, imp float64
	reason    string
	tense     tense
	timed     bool // wants a time of its tense
	keep      bool // a time at the end belongs to the value
	standing  bool // an order: neither question nor condition before or after it matters
	more      bool // other rules may find more in the clause
	check     func(*match) bool
	// yes are sentences in which the rule finds something, no are others.
	yes, no []string

	lang *language
	rx   *regexp.Regexp
	need [][]byte // has, each after a space
}

// language is what the rules of a language share.
type language struct {
	code string
	// user names the user, says introduces what they say, quotes are around it.
	user, says string
	quotes     [2]string
	rules      []rule
}

// macros are parts that many rules share.
var macros = strings.NewReplacer(
	" ?", `\s*`,
	" ", `\s+`,
	"{im}", `(?:i'?m|i am)`,
	"{ive}", `(?:i'?ve|i have)`,
	"{ill}", `(?:i'll|ill|i will)`,
	"{were}", `(?:we're|we are|(?:me and )?my {rel}(?: [a-z]+)?(?: and i)? are)`,
	"{weve}", `(?:we'?ve|we have|we)`,
	"{dont}", `(?:do not|don'?t)`,
	"{adv}", `(?:(?:really|also|just|still|actually|absolutely|totally|currently|now|mostly|honestly|definitely|generally|personally|`+
		`usually|only|kinda|kind of|sort of|recently|finally|already|officially|always|so|do|strongly|much|very much|quite|even|both|all|`+
		`originally|mainly|mostly|particularly|especially|then|eventually|ended up|both|basically|previously|`+
		`just recently|apparently|happily|proudly)\s+)*`,
	"{rel}", `(?:(?:older|younger|little|big|best|ex-?|late|twin|step-?|half-?|eldest|oldest|youngest|elder|new|former|current|only|dear|good|close|old|beloved|own)\s*)*`+
		`(?:sister|sis|brother|bro|mother|mom|mum|father|dad|wife|husband|hubby|partner|girlfriend|boyfriend|gf|bf|fiancee?|spouse|son|daughter|kid|child|baby|`+
		`aunt|uncle|cousin|nephew|niece|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|granny|boss|manager|supervisor|colleague|coworker|co-worker|teammate|`+
		`friend|bestie|roommate|flatmate|housemate|neighbou?r|landlord|landlady|doctor|dentist|therapist|teacher|coach|mentor|assistant|`+
		`dog|cat|puppy|kitten|pup|parrot|hamster|rabbit|horse|bunny|tortoise|turtle|guinea pig|co-?founder|team lead|tech lead|lead|professor|advisor|tutor|accountant|lawyer|pet|twins?|godson|goddaughter)`+
		`(?:-in-law|\s+in\s+law)?`,
	"{name}", `(?:(?:dr|mr|mrs|ms|prof)\.?\s+)?[a-z][a-z'-]*(?:\s+[a-z][a-z'-]*){0,2}?`,
	"{is}", `(?:'s|\s+is|s)`,
	"{rest}", `(?P<v>.+)`,
)

// compiled are the rules of all languages by the words they begin with, in the
// order of the tables.
var compiled = sync.OnceValue(func() map[string][]*rule {
	index := map[string][]*rule{}
	for _, l := range languages() {
		for i := range l.rules {
			r := &l.rules[i]
			r.lang = l
			r.rx = regexp.MustCompile("^(?:" + macros.Replace(macros.Replace(r.re)) + ")")
			for word := range strings.FieldsSeq(r.has) {
				r.need = append(r.need, []byte(" "+word))
			}
			for head := range strings.FieldsSeq(r.heads) {
				index[head] = append(index[head], r)
			}
		}
	}
	return index
})

// languages returns the tables of rules.
func languages() []*language {
	return []*language{&english, &german, &spanish, &french}
}

// mayFit reports whether the words have one of those that the rule needs.
func (r *rule) mayFit(words []byte) bool {
	return r.need == nil || slices.ContainsFunc(r.need, func(w []byte) bool { return bytes.Contains(words, w) })
}

// group returns where a group of the rule stands in the text, and whether it
// takes part in the match.
func (m *match) group(name string) (from, to int, ok bool) {
	i := m.rule.rx.SubexpIndex(name)
	if i < 0 || m.loc[2*i] < 0 {
		return 0, 0, false
	}
	return m.loc[2*i], m.loc[2*i+1], true
}

// words returns the words of a group as they were written.
func (m *match) words(name string) string {
	from, to, ok := m.group(name)
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(m.t.orig(from, to)), " ")
}
