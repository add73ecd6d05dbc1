package facts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ragctx/ragctx"
)

// tense selects the reading of a time without a year or week.
type tense uint8

const (
	past tense = iota
	future
)

// rule recognizes one way to state a fact. It is applied at the start of a clause, after
// introductory words.
type rule struct {
	name string
	kind ragctx.FactKind
	// heads are the words that a clause can begin with; "*" matches any.
	heads string
	// has lists words or word beginnings, one of which must occur. It is a cheap pre-filter for
	// rules with any head.
	has string
	// re matches the folded clause and the rest of its sentence. A space matches any white space,
	// {words} is a macro. Groups: v is the value, which ends with the clause; a the attribute, s
	// the subject, p a person, n a name, o an old value.
	re string
	// subject, attribute, value and content are templates over the groups in braces; {S} is the
	// speaker. The default content is the clause in the third person, or quoted. The default
	// subject is the speaker, the default value group v.
	subject, attribute, value, content string
	// exclusive and profile are copied to the fact.
	exclusive, profile bool
	// conf and imp are confidence and importance before the guards lower them.
	conf, imp float64
	reason    string
	tense     tense
	timed     bool // requires a time of its tense
	keep      bool // a trailing time belongs to the value
	standing  bool // a standing order: adjacent questions and conditions do not matter
	more      bool // other rules may also match in the clause
	check     func(*match) bool
	// yes are sentences that the rule must match, no are sentences that it must not match.
	yes, no []string

	lang *language
	rx   *regexp.Regexp
	need [][]byte // the words of has, each after a space
}

// language holds the rules of a language.
type language struct {
	code string
	// user is the subject "the user", says introduces a quotation, quotes surround it.
	user, says string
	quotes     [2]string
	rules      []rule
}

// macros are pattern parts that many rules share.
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
	"{rel}", `(?:(?:older|younger|little|big|best|ex-?|late|twin|step-?|half-?|eldest|oldest|youngest|elder|new|`+
		`former|current|only|dear|good|close|old|beloved|own)\s*)*`+
		`(?:sister|sis|brother|bro|mother|mom|mum|father|dad|wife|husband|hubby|partner|girlfriend|boyfriend|gf|bf|`+
		`fiancee?|spouse|son|daughter|kid|child|baby|`+
		`aunt|uncle|cousin|nephew|niece|grandma|grandmother|grandpa|grandfather|grandson|granddaughter|granny|boss|`+
		`manager|supervisor|colleague|coworker|co-worker|teammate|`+
		`friend|bestie|roommate|flatmate|housemate|neighbou?r|landlord|landlady|doctor|dentist|therapist|teacher|coach|mentor|assistant|`+
		`dog|cat|puppy|kitten|pup|parrot|hamster|rabbit|horse|bunny|tortoise|turtle|guinea pig|co-?founder|team `+
		`lead|tech lead|lead|professor|advisor|tutor|accountant|lawyer|pet|twins?|godson|goddaughter)`+
		`(?:-in-law|\s+in\s+law)?`,
	"{name}", `(?:(?:dr|mr|mrs|ms|prof)\.?\s+)?[a-z][a-z'-]*(?:\s+[a-z][a-z'-]*){0,2}?`,
	"{is}", `(?:'s|\s+is|s)`,
	"{rest}", `(?P<v>.+)`,
	"{ab}", `(?:ab\s+(?:jetzt|sofort|nun)|in\s+zukunft|zukunftig|kunftig|von\s+(?:nun|jetzt)\s+an)`,
	"{desormais}", `(?:desormais|dorenavant|a\s+l'avenir|a\s+partir\s+de\s+maintenant)`,
	"{adelante}", `(?:a\s+partir\s+de\s+ahora|(?:de\s+ahora\s+)?en\s+adelante)`,
)

// compiled maps the first word of a clause to the rules of all languages, in the order of the
// tables.
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

// languages returns the rule tables.
func languages() []*language {
	return []*language{&english, &german, &spanish, &french}
}

// mayFit reports whether the words contain one that the rule needs.
func (r *rule) mayFit(words []byte) bool {
	return r.need == nil || slices.ContainsFunc(r.need, func(w []byte) bool { return bytes.Contains(words, w) })
}

// group returns the bounds of a group in the text, and whether it took part in the match.
func (m *match) group(name string) (from, to int, ok bool) {
	i := m.rule.rx.SubexpIndex(name)
	if i < 0 || m.loc[2*i] < 0 {
		return 0, 0, false
	}
	return m.loc[2*i], m.loc[2*i+1], true
}

// words returns the original words of a group.
func (m *match) words(name string) string {
	from, to, ok := m.group(name)
	if !ok {
		return ""
	}
	return strings.Join(strings.Fields(m.t.orig(from, to)), " ")
}
