//nolint:misspell // some words are French and Spanish
package facts

import (
	"slices"
	"strings"
)

// overReason is the reason for a statement that ended without a successor.
const overReason = "it is over"

// Supersedes reports which parts of an earlier content a newer one makes obsolete: all of it, or all but rest.
// common reports whether several of the known contents have a stem; such a word shows less what is meant.
func Supersedes(newer, older *Statements, common func(stem string) bool) (why, rest string, ok bool) {
	gone, over := make([]bool, len(older.parts)), make([]bool, len(older.parts))
	for i, n := range newer.parts[:max(0, len(newer.parts)-1)] { // "we'll move, not sure yet"
		if next := newer.parts[i+1]; next.changes().doubt && len(next.words) <= 2 {
			n.changes().doubt = true
		}
	}
	for i, o := range older.parts {
		for _, n := range newer.parts {
			if reason, yes := supersedes(n, o, common); yes {
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

// supersedes reports whether a statement makes an earlier one obsolete, and why.
func supersedes(newer, older *Statement, common func(string) bool) (why string, ok bool) {
	c := newer.changes()
	if overrules(newer, older) {
		return "a newer wish on the same", true
	}
	if ruledOut(newer, older) {
		return "", false
	}
	if why, ok := sameAttribute(newer, older); ok {
		return why, true
	}
	score := changeBias
	evidence(newer, older, common, func(name string, value float64) { score += changeWeights[name] * value })
	if score < 0 {
		return "", false
	}
	if c.says(cueEnd, cueNoMore) && !c.says(cueReplace) {
		return overReason, true
	}
	return "a newer statement of the same", true
}

// otherPerson reports whether one statement is about a relative, and the other one about the speaker or another person.
func otherPerson(newer, older *Statement) bool {
	n, o := newer.ofRelative(), older.ofRelative()
	if n && o {
		return !sameOwner(newer, older)
	}
	stranger := newer.owner == aPerson && !older.has(term{stem: newer.person})
	return (n || stranger) && mine(older) || o && mine(newer) || belongsToOther(newer, older)
}

// belongsToOther reports whether the subject of the newer statement is a thing of a relative or friend whom the older
// one does not name: my dad's car.
func belongsToOther(newer, older *Statement) bool {
	return slices.ContainsFunc(newer.subject, func(t term) bool { return kinStems[t.stem] && !older.has(t) })
}

// samePersonWord reports whether two words for a person differ in their gender at most.
func samePersonWord(a, b string) bool {
	n := min(len(a), len(b))
	return a == b || n > 3 && a[:n-1] == b[:n-1] || sameStem(a, b)
}

// otherSubject reports whether the subjects have the same head and different attributes: the mail server, the build server.
func otherSubject(a, b *Statement) bool {
	x, y := a.subject, b.subject
	if min(len(x), len(y)) < 2 || max(len(x), len(y)) > 3 {
		return false
	}
	apart := func(p, q []term) bool {
		return !slices.ContainsFunc(p, func(t term) bool {
			return slices.ContainsFunc(q, func(u term) bool { return sameStem(t.stem, u.stem) })
		})
	}
	last, first := len(x)-1, len(y)-1
	return sameStem(x[last].stem, y[first].stem) && apart(x[:last], y[:first]) || sameStem(x[0].stem, y[0].stem) && apart(x[1:], y[1:])
}

// ofRelative reports whether a statement is about a person other than the speaker, whatever the name.
func (s *Statement) ofRelative() bool {
	return s.owner == aPerson && (kinStems[s.person] || thirdPerson[s.person] && !ambiguous[s.person])
}

// ambiguous are pronouns that are also articles, or things.
var ambiguous = wordSet("el er il elle")

// kinStems are the stems of the words for relatives.
var kinStems = func() map[string]bool {
	out := map[string]bool{}
	for w := range kin {
		out[w], out[stem(w)] = true, true
	}
	return out
}()

// changeCues are the cues of a change.
var changeCues = [...]cue{cueNow, cueReplace, cueEnd, cueNoMore, cueBecome, cueCorrect}

// overlap counts the words that two statements share.
type overlap struct {
	hits, rare, things    int // of the older one; those that few others have; those that are no verbs
	inSubject, inValue    int // of the older one
	nameInValue           int
	both, older, only     int // in both subjects; in that of the older one only; in that of the newer one only
	oldNumber, newNumber  bool
	oldName, newName, new bool // words that the other one lacks
	frame                 bool // they differ in names and numbers only
}

func overlapOf(n, o *Statement, common func(string) bool) overlap {
	v := overlap{frame: true}
	for _, x := range o.words {
		subject := subjectHas(o, []term{x})
		switch {
		case !n.has(x):
			v.oldNumber = v.oldNumber || x.stem[0] <= '9'
			v.oldName = v.oldName || x.proper && x.stem[0] > '9'
			v.frame = v.frame && x.proper
			continue
		case subject:
			v.inSubject++
		default:
			v.inValue++
			if x.proper {
				v.nameInValue++
			}
		}
		v.hits++
		if !verbForm(x.stem) && !englishLemmas()[x.stem] {
			v.things++
		}
		if !common(x.stem) {
			v.rare++
		}
	}
	for _, x := range o.subject {
		if subjectHas(n, []term{x}) {
			v.both++
		} else {
			v.older++
		}
	}
	for _, x := range n.subject {
		if !subjectHas(o, []term{x}) {
			v.only++
		}
	}
	for _, x := range n.words {
		if !o.has(x) {
			v.new = true
			v.newNumber = v.newNumber || x.stem[0] <= '9'
			v.newName = v.newName || x.proper && x.stem[0] > '9'
			v.frame = v.frame && x.proper
		}
	}
	differs := v.hits < len(o.words) && v.new || n.kinds[aTime] && o.kinds[aTime]
	v.frame = v.frame && v.hits > 0 && differs && n.owner == o.owner
	return v
}

// evidence calls add with what speaks for and against a newer statement making an older one obsolete.
// train/change.py fits the weights.
func evidence(n, o *Statement, common func(string) bool, add func(name string, value float64)) {
	c, v := n.changes(), overlapOf(n, o, common)
	when := func(name string, all ...bool) {
		if !slices.Contains(all, false) {
			add(name, 1)
		}
	}
	value, subject, any := v.inValue > 0, v.inSubject > 0, v.hits > 0
	changes := c.says(changeCues[:]...)
	kind := sameKinds(n, o)
	verb := n.verb != "" && n.verb == o.verb
	for i, name := range [...]string{"end", "no more", "replace", "become", "now", "correct"} {
		x := c.says([...]cue{cueEnd, cueNoMore, cueReplace, cueBecome, cueNow, cueCorrect}[i])
		when("old value, "+name, x, value)
		when("old name, "+name, x, v.nameInValue > 0)
		when("subject, "+name, x, subject)
	}
	if any {
		add("share of the old", float64(v.hits)/float64(len(o.words)))
		add("share of the new", float64(v.hits)/float64(len(n.words)))
	}
	when("word, time", any, n.kinds[aTime], o.kinds[aTime])
	when("word, number", any, n.kinds[aNumber], o.kinds[aNumber])
	when("word, name", any, n.kinds[aName], o.kinds[aName])
	when("word, change, kind", any, changes, kind)
	when("rare word, change", v.rare > 0, changes)
	when("only common words", any, v.rare == 0)
	when("no word", !any)
	when("only a verb", any, v.things == 0, c.says(cueEnd, cueNoMore, cueReplace))
	whole := len(o.subject) > 0 && v.both == len(o.subject)
	when("whole subject", whole)
	when("whole subject, kind", whole, kind)
	when("whole subject, verb", whole, verb)
	when("part of subject, kind", v.both > 0, kind)
	when("other subject", v.both > 0, v.older > 0, v.only > 0)
	when("no subject in common", len(o.subject) > 0, len(n.subject) > 0, v.both == 0)
	when("same but for a value", v.frame)
	when("same but for a value, verb", v.frame, n.verb == o.verb, n.owner == o.owner)
	when("verb, now", verb, c.says(cueNow, cueCorrect))
	when("verb, kind", verb, kind)
	when("verb, kind, change", verb, kind, changes)
	when("other verb", n.verb != "", o.verb != "", !verb, !changes)
	when("number", v.oldNumber, v.newNumber, any)
	n.around(o, c, when)
	for topic := range n.topics {
		if !o.topics[topic] || personal[topic] && !(mine(n) && mine(o)) && !(n.ofRelative() && o.ofRelative()) {
			continue
		}
		if personal[topic] {
			when("topic, end", c.says(cueEnd, cueNoMore) || overWords(n, topic))
			when("topic, change", changes)
			when("topic, name", v.oldName, v.newName)
			when("topic, change, name", changes, v.oldName, v.newName)
		} else {
			when("wish", n.order)
			when("wish, change", n.order, changes)
			when("another wish", n.order, o.order, topicValue(n, topic) != topicValue(o, topic), scopeOf(n) == scopeOf(o))
		}
	}
	when("instructions, word, change", n.order, o.order, any, changes)
	when("change", changes)
	when("no change", !changes)
	when("added", c.says(cueAdd), !c.says(cueNoMore))
	when("added, word", c.says(cueAdd), !c.says(cueNoMore), any)
	when("stays", c.says(cueStay))
	when("ahead", c.ahead)
	when("time of one", n.kinds[aTime] != o.kinds[aTime], !c.says(cueEnd))
	when("nothing new", !v.new, !c.says(cueEnd, cueNoMore))
	when("old denies", o.denies)
	when("denied, become", n.denies, c.says(cueBecome), !c.says(cueNoMore))
	when("old introduces", o.introduces(), !n.introduces(), !c.says(cueEnd, cueNoMore))
	when("relative of old", o.ofRelative(), mine(n))
}

// around adds the evidence of the words near a mention of the old value.
func (s *Statement) around(o *Statement, c *change, when func(string, ...bool)) {
	ws := s.source.words(s.from, s.to)
	seen := map[string]bool{}
	for i, w := range ws {
		f := s.source.folded(w)
		x := term{stem: stem(f)}
		if !isContent(f) || !o.has(x) || subjectHas(o, []term{x}) {
			continue
		}
		for j := max(0, i-3); j < min(len(ws), i+5); j++ {
			cue, ok := c.cueAt[j]
			switch {
			case j < i && leaving[s.source.folded(ws[j])]:
				seen["from old value"] = true
			case j < i && c.says(cueReplace, cueBecome) && arriving[s.source.folded(ws[j])]:
				seen["to old value"] = true
			case !ok || j == i:
			case j < i && cue == cueEnd:
				seen["end before old value"] = true
			case j < i && cue == cueReplace:
				seen["replace before old value"] = true
			case j > i && cue == cueStay:
				seen["stay after old value"] = true
			case j > i && (cue == cueEnd || cue == cueReplace):
				seen["end after old value"] = true
				seen["end of subject"] = seen["end of subject"] || subjectHas(s, []term{x})
			}
		}
	}
	for _, name := range [...]string{
		"from old value", "to old value", "end before old value", "replace before old value", "stay after old value",
		"end after old value", "end of subject",
	} {
		when(name, seen[name])
	}
}

// leaving are words before what is left behind.
var leaving = wordSet("from of than statt anstelle von de du del d' instead not no nicht kein keine keinen ohne without pas sin")

// introduces reports whether a statement gives the name of somebody or something.
func (s *Statement) introduces() bool {
	return slices.ContainsFunc(s.source.words(s.from, s.to), func(w word) bool { return naming[s.source.folded(w)] })
}

var naming = wordSet("called named name heisst heist heis heiss namens appelle s'appelle m'appelle llama llamo llamada llamado nombre")

// overWords reports whether a statement has a word that by itself ends a topic: "divorced".
func overWords(s *Statement, topic string) bool {
	return slices.ContainsFunc(s.source.words(s.from, s.to), func(w word) bool {
		f := s.source.folded(w)
		return topicEnds[f] && topicWords[f] == topic
	})
}

var topicEnds = wordSet(`quit resigned fired retired unemployed gekundigt arbeitslos entlassen rente demissionne chomage retraite licencie
	licenciee despedido despidieron paro jubilado jubilada divorced separated split single widowed geschieden getrennt scheidung verwitwet
	divorce divorcee divorces separe separee separes celibataire divorciado divorciada divorciamos separado separada separamos rompimos`)

// arriving are words before what takes the place of another thing.
var arriving = wordSet("to with by zu durch zum zur auf a par por vers pour")

// sameKinds reports whether both statements have times, numbers or names.
func sameKinds(a, b *Statement) bool {
	for k := range a.kinds {
		if b.kinds[k] {
			return true
		}
	}
	return false
}

// sameAttribute reports whether two statements give the same attribute, which has one value at a time.
func sameAttribute(newer, older *Statement) (string, bool) {
	if !sameOwner(newer, older) || newer.order != older.order {
		return "", false
	}
	for topic := range personal {
		if newer.topics[topic] && older.topics[topic] && topic != "partner" && newer.owner != aThing && older.owner != aThing &&
			!newer.denies && !older.denies && newer.kinds[aName] && valueDiffers(newer, older) &&
			(topic != "work" || newer.changes().says(cueNow)) {
			return "another " + topic, true
		}
	}
	// A newer subject of more words is a part or another thing: the legacy project, the middle name.
	if len(newer.subject) > 0 && len(newer.subject) <= len(older.subject) && newer.owner == older.owner && sameSubject(newer, older) {
		if sameKind(newer, older) && sameVerb(newer, older) && valueDiffers(newer, older) {
			return "another value of the same attribute", true
		}
	}
	if newer.changes().says(cueNow) && newer.verb != "" && newer.verb == older.verb && oneAtATime[newer.verb] &&
		valueDiffers(newer, older) {
		return "another value of the same activity", true
	}
	return "", false
}

// oneAtATime are verbs that hold for one object at a time.
var oneAtATime = wordSet("live work drive study train lead manage commute read wohn fahr studier trainier conduis etudie conduzco estudio")

// sameVerb reports whether two statements say the same of their subjects: neither has a verb of its own or
// both have the same one, or the newer one says that something changed.
func sameVerb(newer, older *Statement) bool {
	return newer.verb == older.verb || newer.changes().says(cueNow) || changing[newer.verb] || newer.verb == "" && changing[older.verb]
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

// mine reports whether a statement is about the user, alone or with others.
func mine(s *Statement) bool { return s.owner == theUser || s.owner == theTeam }

// sameOwner reports whether the subjects of two statements may be the same person.
func sameOwner(a, b *Statement) bool {
	if a.owner == aPerson || b.owner == aPerson {
		return a.owner == b.owner && (samePersonWord(a.person, b.person) || a.person == "" || b.person == "" ||
			b.has(term{stem: a.person}) || a.has(term{stem: b.person}) || thirdPerson[a.person] || thirdPerson[b.person])
	}
	return true
}

// subjectHas reports whether the subject of a statement has one of the words.
func subjectHas(s *Statement, words []term) bool {
	return slices.ContainsFunc(s.subject, func(o term) bool {
		return slices.ContainsFunc(words, func(x term) bool { return sameStem(o.stem, x.stem) })
	})
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
