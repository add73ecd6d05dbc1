package facts

import (
	"slices"
	"strings"
)

// overReason is the reason for a statement that ended without a successor.
const overReason = "it is over"

// NewerWish is the reason of [Supersedes] for a wish that a newer one overrules.
const NewerWish = "a newer wish on the same"

// Supersedes reports which parts of an earlier content a newer one makes obsolete: all of it, or all but rest.
// common reports whether several of the known contents have a stem; such a word shows less what is meant.
func Supersedes(newer, older *Statements, common func(stem string) bool) (why, rest string, ok bool) {
	endings := make([]ending, len(older.parts))
	for i, n := range newer.parts[:max(0, len(newer.parts)-1)] { // "we'll move, not sure yet"
		if next := newer.parts[i+1]; next.changes().doubt && len(next.words) <= 2 {
			n.changes().doubt = true
		}
	}
	for i, o := range older.parts {
		for _, n := range newer.parts {
			if reason, value, yes := supersedes(n, o, common); yes && !older.outshines(n, o) {
				why = reason
				endings[i] = ending{gone: true, over: reason == overReason, by: n, value: value}
				break
			}
		}
	}
	older.leave(endings)
	if why == "" {
		return "", "", false
	}
	for i, o := range older.parts { // a reason or a condition of a wish goes with it
		reason := o.order && len(o.ws) > 0 && reasonWords[o.source.folded(o.ws[0])] && len(o.asWish().values) == 0
		endings[i].gone = endings[i].gone || reason
	}
	return why, older.without(endings), true
}

// outshines reports whether another part has all that a part shares with a newer statement, and more: of "dental insurance and home
// insurance", "dropped the dental insurance" means the first one.
func (s *Statements) outshines(n, part *statement) bool {
	words := shared(n, part)
	return len(words) > 0 && slices.ContainsFunc(s.parts, func(o *statement) bool {
		return o != part && len(shared(n, o)) > len(words) && !slices.ContainsFunc(words, func(x term) bool { return !o.has(x) })
	})
}

// reasonWords begin a reason or a condition.
var reasonWords = wordSet(`before when whenever if because since bevor wenn falls weil
	avant quand lorsque si car parce cuando porque antes`)

// supersedes reports whether a statement makes an earlier one obsolete, and why. If it names the value of the earlier one
// that no longer holds, it returns the stem of that.
func supersedes(newer, older *statement, common func(string) bool) (why, value string, ok bool) {
	c := newer.changes()
	if newer.sparesWish(older) {
		return "", "", false
	}
	if overrules(newer, older) {
		return NewerWish, "", true
	}
	if thaws(newer, older) || eatsAgain(newer, older) {
		return overReason, "", true
	}
	if ruledOut(newer, older) {
		return "", "", false
	}
	if why, value, ok := certain(newer, older); ok {
		return why, value, true
	}
	if why, ok := sameAttribute(newer, older); ok {
		return why, otherPlace(newer, older), true
	}
	score := changeBias
	evidence(newer, older, common, func(name string, value float64) { score += changeWeights[name] * value })
	if score < 0 {
		return "", "", false
	}
	if c.says(cueEnd, cueNoMore) && !c.says(cueReplace) && len(otherForms(newer, older)) == 0 {
		return overReason, companionIn(newer, older), true
	}
	if value = anotherVersion(newer, older); value == "" {
		value = companionIn(newer, older)
	}
	return "a newer statement of the same", value, true
}

// otherPerson reports whether one statement is about a relative, and the other one about the speaker or another person.
func otherPerson(newer, older *statement) bool {
	n, o := newer.ofRelative(), older.ofRelative()
	if n && o {
		return !sameOwner(newer, older)
	}
	stranger := newer.owner == aPerson && !older.has(term{stem: newer.person})
	if stranger && newer.hasAny(takesOver) && mine(older) && len(shared(newer, older)) > 1 {
		return false // takes over the user's duty
	}
	if stranger && mine(older) && newer.changes().says(cueBecome, cueReplace) && (sameUnit(newer, older) || newer.actsOnUser()) {
		return false // "the doctor put the sertraline up to 75 mg"
	}
	if mine(older) && newer.verb != "" && newer.verb == older.verb && newer.ofOthers() {
		return true // "they open at 9"
	}
	withUser := older.name != "" && subjectHas(newer, []term{{stem: stem(older.called)}}) // "Clara and I"
	return (n || stranger) && mine(older) || o && mine(newer) && !withUser || belongsToOther(newer, older)
}

// actsOnUser reports whether the user is an object of a statement: "they moved the user to Thursday".
func (s *statement) actsOnUser() bool {
	for i := max(1, s.verbAt); i < len(s.ws); i++ {
		f := s.source.folded(s.ws[i])
		if f == "user" || objectUser[f] {
			return true
		}
	}
	return s.verbAt < len(s.ws) && strings.HasPrefix(s.source.folded(s.ws[s.verbAt]), "m'")
}

var objectUser = wordSet("me us mich mir uns nous nos m'a m'ont")

// belongsToOther reports whether the subject of the newer statement is a thing of a relative or friend whom the older
// one does not name: my dad's car.
func belongsToOther(newer, older *statement) bool {
	return slices.ContainsFunc(newer.subject, func(t term) bool { return kinStems[t.stem] && !older.has(t) })
}

// samePersonWord reports whether two words for a person differ in their gender at most.
func samePersonWord(a, b string) bool {
	n := min(len(a), len(b))
	return a == b || sameRole[a] != "" && sameRole[a] == sameRole[b] || n > 3 && a[:n-1] == b[:n-1] || sameStem(a, b)
}

// sameRole maps the stems of words for the same person to one of them.
var sameRole = func() map[string]string {
	out := map[string]string{}
	for _, words := range [...]string{
		`boss manager supervisor lead chef chefin vorgesetzte vorgesetzter patron patronne cheffe jefe jefa
			encargado encargada`,
		"mother mum mom mama mutter mere maman madre", "father dad papa vater pere padre",
		"boyfriend bf freund mec copain novio", "girlfriend gf freundin copine meuf novia",
		"flatmate roommate housemate mitbewohner mitbewohnerin coloc",
	} {
		for w := range wordSet(words) {
			out[w], out[stem(w)] = words, words
		}
	}
	return out
}()

// otherSubject reports whether the subjects have the same head and different attributes: the mail server, the build server.
func otherSubject(a, b *statement) bool {
	x, y := withoutDays(a.subject), withoutDays(b.subject)
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

// withoutDays returns the words of a subject that are no days, months or numbers.
func withoutDays(subject []term) []term {
	return slices.DeleteFunc(slices.Clone(subject), func(x term) bool { return timeStems[x.stem] || x.stem[0] <= '9' })
}

// ofRelative reports whether a statement is about a person other than the speaker, whatever the name.
func (s *statement) ofRelative() bool {
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

// sameAttribute reports whether two statements give the same attribute, which has one value at a time.
func sameAttribute(newer, older *statement) (string, bool) {
	if !sameOwner(newer, older) || newer.order != older.order {
		return "", false
	}
	for topic := range personal {
		if newer.topics[topic] && older.topics[topic] && topic != "partner" && newer.owner != aThing && older.owner != aThing &&
			!newer.denies && !older.denies && newer.kinds[aName] && valueDiffers(newer, older) &&
			(topic != "work" || !newer.source.quotesGerman() || newer.namesPlace()) && (topic != "work" || newer.changes().says(cueNow)) {
			return "another " + topic, true
		}
	}
	// A newer subject of more words is a part or another thing: the legacy project, the middle name.
	if len(newer.subject) > 0 && len(newer.subject) <= len(older.subject) && sameKindOfOwner(newer, older) && sameSubject(newer, older) {
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

// sameKindOfOwner reports whether two statements are about the user, the team, a person, or a thing. A thing at the beginning
// of a sentence reads like the name of a person, so a subject that both have counts.
func sameKindOfOwner(a, b *statement) bool {
	named := func(s *statement) bool {
		return s.owner == aThing || s.owner == aPerson && !kinStems[s.person] && !thirdPerson[s.person] &&
			subjectHas(s, []term{{stem: s.person}})
	}
	return a.owner == b.owner || named(a) && named(b)
}

// oneAtATime are verbs that hold for one object at a time.
var oneAtATime = wordSet("live work drive study train lead manage commute read wohn fahr studier trainier conduis etudie conduzco estudio")

// sameVerb reports whether two statements say the same of their subjects: neither has a verb of its own or
// both have the same one, or the newer one says that something changed.
func sameVerb(newer, older *statement) bool {
	n, o := newer.verb, older.verb
	if namingVerbs[n] && o == "" || namingVerbs[o] && n == "" {
		return true
	}
	return newer.verb == older.verb || newer.changes().says(cueNow) || changing[newer.verb] || newer.verb == "" && changing[older.verb]
}

// namingVerbs say what the name of their subject is, as "is" does.
var namingVerbs = wordSet("heiss llamo s'appelle")

// changing are verbs of a change of value.
var changing = wordSet("move push postpone change reschedule switch upgrade migrate rename raise set cost start begin wechsel verschieb")

// sameSubject reports whether the words before the verbs mean the same thing: one has all of the other's.
func sameSubject(a, b *statement) bool {
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
func sameKind(a, b *statement) bool {
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

// SupersedesValue is [Supersedes] for a newer value of the same exclusive attribute, unless the newer content holds for a while
// only, or tells what another thing was before: the parts that have the old value are obsolete.
func SupersedesValue(newer, older *Statements, value string) (rest string, ok bool) {
	for _, n := range newer.parts {
		if n.passes() || !slices.ContainsFunc(older.parts, func(o *statement) bool { return !otherOrigin(n, o) }) {
			return "", false
		}
	}
	t := read(value)
	var words []term
	for _, w := range t.words(0, len(t.fold)) {
		words = append(words, term{stem: stem(t.folded(w))})
	}
	endings := make([]ending, len(older.parts))
	some := false
	for i, o := range older.parts {
		gone := slices.ContainsFunc(words, func(x term) bool { return len(x.stem) > 1 && o.has(x) })
		endings[i] = ending{gone: gone, over: gone}
		if gone && o.topics["work"] {
			endings[i].beside = o.beside(older.texts[i], words[0].stem)
		}
		some = some || gone
	}
	if !some {
		return "", true
	}
	return older.without(endings), true
}

// mine reports whether a statement is about the user, alone or with others.
func mine(s *statement) bool { return s.owner == theUser || s.owner == theTeam }

// sameOwner reports whether the subjects of two statements may be the same person.
func sameOwner(a, b *statement) bool {
	if a.owner == aPerson || b.owner == aPerson {
		return a.owner == b.owner && (samePersonWord(a.person, b.person) || a.person == "" || b.person == "" ||
			b.has(term{stem: a.person}) || a.has(term{stem: b.person}) || thirdPerson[a.person] || thirdPerson[b.person])
	}
	return true
}

// subjectHas reports whether the subject of a statement has one of the words.
func subjectHas(s *statement, words []term) bool {
	return slices.ContainsFunc(s.subject, func(o term) bool {
		return slices.ContainsFunc(words, func(x term) bool { return sameStem(o.stem, x.stem) })
	})
}

// valueDiffers reports whether each statement has a word after its subject that the other one lacks.
func valueDiffers(a, b *statement) bool {
	lacks := func(x, y *statement) bool {
		return slices.ContainsFunc(x.words, func(t term) bool {
			return (t.proper || !verbForm(t.stem)) && !subjectHas(x, []term{t}) && !y.has(t)
		})
	}
	return lacks(a, b) && lacks(b, a)
}

// topicValue returns the words of a statement on a topic.
func topicValue(s *statement, topic string) string {
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
		"mail": "mail mails email emails e-mail e-mails letter letters brief briefe courriel courriels correo correos carta cartas " +
			"correspondence korrespondenz courrier correspondencia",
		"commit": "commit commits changelog",
		"title":  "title titles heading headings titel uberschriften titres titulos",
		"report": "report reports summary summaries tldr bericht berichte rapport rapports informe informes",
	} {
		for w := range wordSet(words) {
			out[stem(w)] = name
		}
	}
	return out
}()

// scopeOf returns the kind of text that an instruction is about, "" for all answers.
func scopeOf(s *statement) string {
	for _, x := range s.words {
		if name, ok := scopes[x.stem]; ok {
			return name
		}
	}
	return ""
}
