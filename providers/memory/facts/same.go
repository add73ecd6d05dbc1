package facts

import (
	"slices"
	"strings"
)

// overReason is the reason for a statement that ended without a successor.
const overReason = "it is over"

// Supersedes reports which parts of an earlier content a newer one makes obsolete: all of it, or all but rest. A
// statement makes an earlier one obsolete if both give the same attribute of the same subject, which has one value
// at a time, or if the newer one says that the earlier one is over.
func Supersedes(newer, older *Statements) (why, rest string, ok bool) {
	gone, over := make([]bool, len(older.parts)), make([]bool, len(older.parts))
	for i, n := range newer.parts[:max(0, len(newer.parts)-1)] { // "we'll move, not sure yet"
		if next := newer.parts[i+1]; next.changes().doubt && len(next.words) <= 2 {
			n.changes().doubt = true
		}
	}
	for i, o := range older.parts {
		for _, n := range newer.parts {
			if reason, yes := supersedes(n, o); yes {
				gone[i], over[i], why = true, reason == overReason, reason
				break
			}
		}
	}
	if why == "" {
		return "", "", false
	}
	return why, older.without(gone, over), true
}

// SupersedesValue is [Supersedes] for a newer value of the same exclusive attribute: the parts that have
// the old value are obsolete.
func SupersedesValue(older *Statements, value string) (rest string) {
	t := read(value)
	var words []term
	for _, w := range t.words(0, len(t.fold)) {
		words = append(words, term{stem: stem(t.folded(w))})
	}
	gone := make([]bool, len(older.parts))
	some := false
	for i, o := range older.parts {
		gone[i] = slices.ContainsFunc(words, func(x term) bool { return len(x.stem) > 1 && o.has(x) })
		some = some || gone[i]
	}
	if !some {
		return ""
	}
	return older.without(gone, gone)
}

// supersedes reports whether a statement makes an earlier one obsolete, and why.
func supersedes(newer, older *Statement) (why string, ok bool) {
	c := newer.changes()
	if c.doubt {
		return "", false
	}
	if newer.order || older.order {
		if why, ok := contradicts(newer, older); ok {
			return why, true
		}
	}
	for _, g := range c.replaced {
		if names(newer, older, g) {
			return "it was replaced", true
		}
	}
	if c.ahead && personalOnly(newer) {
		return "", false // a plan to move ends nothing yet
	}
	for _, g := range c.ended {
		if names(newer, older, g) {
			return overReason, true
		}
	}
	for topic := range c.ends {
		if older.topics[topic] && mine(older) && mine(newer) && !older.changes().ends[topic] && samePeople(newer, older) {
			return overReason, true
		}
	}
	return sameAttribute(newer, older)
}

// personalOnly reports whether a statement is about its speaker's home, work or partner.
func personalOnly(s *Statement) bool {
	for topic := range s.topics {
		if personal[topic] && mine(s) {
			return true
		}
	}
	return false
}

// mine reports whether a statement is about the user, alone or with others.
func mine(s *Statement) bool { return s.owner == theUser || s.owner == theTeam }

// sameOwner reports whether the subjects of two statements may be the same person.
func sameOwner(a, b *Statement) bool {
	if a.owner == aPerson || b.owner == aPerson {
		return a.owner == b.owner && (a.person == b.person || a.person == "" || b.person == "" ||
			b.has(term{stem: a.person}) || a.has(term{stem: b.person}) || thirdPerson[a.person] || thirdPerson[b.person])
	}
	return true
}

// samePeople reports whether the newer statement names no person, or one that the older one names.
func samePeople(newer, older *Statement) bool {
	named := false
	for _, x := range newer.words {
		if x.proper && x.stem[0] > '9' {
			named = true
			if older.has(x) {
				return true
			}
		}
	}
	return !named || !slices.ContainsFunc(older.words, func(x term) bool { return x.proper })
}

// names reports whether the older statement is about the thing that the newer one says is replaced or over.
func names(newer, older *Statement, g group) bool {
	if newer.owner == aPerson && mine(older) || mine(newer) && older.owner == aPerson && g.state {
		return false
	}
	hits, proper, properHits := 0, 0, 0
	for _, x := range g.terms {
		has := older.has(x)
		if has {
			hits++
		}
		if x.proper {
			proper++
			if has {
				properHits++
			}
		}
	}
	if hits == 0 {
		return false
	}
	if g.subject && subjectHas(older, g.terms) {
		return false // "our office is now in Leeds" does not end the office
	}
	if older.denies && len(older.changes().ended) > 0 {
		return false // it says the same
	}
	if proper > 0 {
		return properHits == proper || properHits > 0 && older.has(g.terms[len(g.terms)-1])
	}
	return 2*hits >= len(g.terms) && namesThing(older, g)
}

// namesThing reports whether a statement has a word of a group that is no verb, if the group has one: "stopped
// drinking coffee" does not end tea.
func namesThing(s *Statement, g group) bool {
	things := false
	for _, x := range g.terms {
		if englishLemmas()[x.stem] || verbForm(x.stem) {
			continue
		}
		if things = true; s.has(x) {
			return true
		}
	}
	return !things
}

// subjectHas reports whether the subject of a statement has one of the words.
func subjectHas(s *Statement, words []term) bool {
	return slices.ContainsFunc(s.subject, func(o term) bool {
		return slices.ContainsFunc(words, func(x term) bool { return sameStem(o.stem, x.stem) })
	})
}

// sameAttribute reports whether two statements give the same attribute, which has one value at a time.
func sameAttribute(newer, older *Statement) (string, bool) {
	if !sameOwner(newer, older) || newer.order != older.order {
		return "", false
	}
	for topic := range personal {
		if newer.topics[topic] && older.topics[topic] && topic != "partner" && newer.owner != aThing && older.owner != aThing &&
			!newer.denies && !older.denies && newer.kinds[aName] && valueDiffers(newer, older) && (topic != "work" || newer.changes().now) {
			return "another " + topic, true
		}
	}
	if len(newer.subject) > 0 && len(older.subject) > 0 && newer.owner == older.owner && sameSubject(newer, older) {
		if sameKind(newer, older) && sameVerb(newer, older) && valueDiffers(newer, older) {
			return "another value of the same attribute", true
		}
	}
	if newer.changes().now && newer.verb != "" && newer.verb == older.verb && oneAtATime[newer.verb] && valueDiffers(newer, older) {
		return "another value of the same activity", true
	}
	return "", false
}

// oneAtATime are verbs that hold for one object at a time.
var oneAtATime = wordSet("live work drive study train lead manage commute read wohn fahr studier trainier conduis etudie conduzco estudio")

// sameVerb reports whether two statements say the same of their subjects: neither has a verb of its own or
// both have the same one, or the newer one says that something changed.
func sameVerb(newer, older *Statement) bool {
	return newer.verb == older.verb || newer.changes().now || changing[newer.verb] || newer.verb == "" && changing[older.verb]
}

// changing are verbs of a change of value.
var changing = wordSet("move push postpone change reschedule switch upgrade migrate rename raise set cost start begin wechsel verschieb")

// sameSubject reports whether the words before the verbs mean the same thing: one has all of the other's.
func sameSubject(a, b *Statement) bool {
	if len(a.subject) > len(b.subject) {
		a, b = b, a
	}
	if len(b.subject)-len(a.subject) > 2 {
		return false
	}
	for _, x := range a.subject {
		if !slices.ContainsFunc(b.subject, func(o term) bool { return sameStem(o.stem, x.stem) }) {
			return false
		}
	}
	return true
}

// sameKind reports whether the values of two statements are of one kind: times, numbers or names.
func sameKind(a, b *Statement) bool {
	for _, k := range [...]valueKind{aTime, aNumber, aName} {
		if a.kinds[k] && b.kinds[k] {
			return true
		}
		if a.kinds[k] != b.kinds[k] {
			return false
		}
	}
	return false
}

// valueDiffers reports whether each statement has a word after its subject that the other one lacks.
func valueDiffers(a, b *Statement) bool {
	lacks := func(x, y *Statement) bool {
		return slices.ContainsFunc(x.words, func(t term) bool {
			return (t.proper || !verbForm(t.stem)) && !subjectHas(x, []term{t}) && !y.has(t)
		})
	}
	return lacks(a, b) && lacks(b, a)
}

// contradicts reports whether two instructions are about the same topic and the same texts.
func contradicts(newer, older *Statement) (string, bool) {
	for topic := range newer.topics {
		if personal[topic] || !older.topics[topic] {
			continue
		}
		if topicValue(newer, topic) != topicValue(older, topic) && scopeOf(newer) == scopeOf(older) {
			return "a newer instruction about the " + topic, true
		}
	}
	return "", false
}

// topicValue returns the words of a statement on a topic.
func topicValue(s *Statement, topic string) string {
	var out []string
	for _, x := range s.words {
		if topicStems[x.stem] == topic {
			out = append(out, x.stem)
		}
	}
	if s.denies {
		out = append(out, "not")
	}
	return strings.Join(out, " ")
}

// topicStems are the stems of [topicWords].
var topicStems = func() map[string]string {
	out := map[string]string{}
	for w, topic := range topicWords {
		out[stem(w)] = topic
	}
	return out
}()

// scopes are kinds of texts that instructions are about, by the stems of their names.
var scopes = func() map[string]string {
	out := map[string]string{}
	for name, words := range map[string]string{
		"code": "code comment comments kommentar kommentare code-kommentare commentaires comentarios docstrings identifiers " +
			"variable variables",
		"mail":   "mail mails email emails e-mail e-mails letter letters brief briefe courriel courriels correo correos carta cartas",
		"commit": "commit commits changelog",
		"title":  "title titles heading headings titel uberschriften titres titulos",
		"report": "report reports summary summaries bericht berichte rapport rapports informe informes",
	} {
		for w := range wordSet(words) {
			out[stem(w)] = name
		}
	}
	return out
}()

// scopeOf returns the kind of text that an instruction is about, "" for all answers.
func scopeOf(s *Statement) string {
	for _, x := range s.words {
		if name, ok := scopes[x.stem]; ok {
			return name
		}
	}
	return ""
}
