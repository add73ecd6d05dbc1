//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"maps"
	"slices"
)

// certain reports whether the form of the newer statement shows that it replaces or ends what the older one says, and the stem
// of the value that it names.
func certain(n, o *statement) (why, value string, ok bool) {
	c := n.changes()
	if c.says(cueStay, cueAdd) && !c.says(cueNoMore) || c.ahead && !c.says(cueBecome, cueNow) {
		return "", "", false
	}
	free := mine(n) || len(n.subject) == 0 // the user does it
	if value := ended(n, o); value != "" {
		return overReason, value, true
	}
	if value := exchanged(n, o); value != "" {
		return "something else in its place", value, true
	}
	changes := c.says(cueNow, cueBecome, cueReplace, cueCorrect)
	if value := anotherVersion(n, o); value != "" && changes && nothingElse(n, o) {
		return "another version", value, true
	}
	v := overlapOf(n, o, func(string) bool { return false })
	old := oldIsSubject(n, o)
	whole := len(o.subject) > 0 && (v.both == len(o.subject) || v.both > 0 && o.namesRelative(n))
	switch {
	case old && (c.says(cueEnd) || c.noMore) && !hasObject(n, o):
		return overReason, n.subject[0].stem, true
	case endsTopic(n, o), contradicts(n, o),
		(free || whole) && v.inValue > 0 && c.noMore && (v.things > 0 && n.sameDeed(o) && n.verb != "" || nothingElse(n, o)):
		return overReason, "", true
	case changes && old && (anotherTime(n, o) || c.says(cueReplace) && v.hits > 1 && v.newName && !c.says(cueAlso)):
		return "a newer statement of the same", n.subject[0].stem, true
	case anotherNumber(n, o):
		return "another number", "", true
	case old && c.says(cueReplace) && !hasObject(n, o):
		return "something else in its place", n.subject[0].stem, true
	case changes && slices.ContainsFunc(wishTopics(n), func(topic string) bool { return o.topics[topic] && anotherWish(n, o, topic) }):
		return NewerWish, "", true
	case promotes(n, o):
		return "another position", stem(o.occupation()), true
	case otherInOwnRole(n, o) != "":
		return "somebody else in the role", otherInOwnRole(n, o), true
	case anotherOfTopic(n, o):
		return "another one of the kind", otherPlace(n, o), true
	case anotherInRole(n, o):
		return "somebody else in the role", "", true
	case changes && whole && len(n.subject) <= len(o.subject) && sameKind(n, o) &&
		!c.says(cueAlso) && !otherHolder(n, o):
		return "another value of the same attribute", "", true
	}
	return "", "", false
}

// anotherNumber reports whether two statements about the user differ in their number only: "we are 4", "we are 3".
func anotherNumber(n, o *statement) bool {
	number := func(x term) bool { return x.stem[0] <= '9' }
	return mine(n) && mine(o) && n.verb == o.verb && n.form() == o.form() && n.denies == o.denies && !n.kinds[aTime] && !o.kinds[aTime] &&
		n.kinds[aNumber] && o.kinds[aNumber] && nothingElse(n, o) && nothingElse(o, n) &&
		slices.ContainsFunc(n.words, func(x term) bool { return number(x) && !o.has(x) }) &&
		slices.ContainsFunc(o.words, func(x term) bool { return number(x) && !n.has(x) }) && !n.changes().says(cueAlso, cueAdd)
}

// namesRelative reports whether all that the other statement lacks of a subject is the word for the relative: "my daughter Zoe is 3",
// "Zoe turned 4".
func (s *statement) namesRelative(other *statement) bool {
	return !slices.ContainsFunc(s.subject, func(x term) bool { return !subjectHas(other, []term{x}) && !kinStems[x.stem] })
}

// anotherWish reports whether two instructions for the same kind of text have different values of a topic.
func anotherWish(n, o *statement, topic string) bool {
	if topic == "asking" || n.narrower(o) {
		return false
	}
	if value := n.asWish().values; value[topic] != "" && o.asWish().values[topic] == "" && len(o.asWish().objects) > 0 {
		return false // "longer answers", "simple words"
	}
	return n.order && o.order && topicValue(n, topic) != topicValue(o, topic) && scopeOf(n) == scopeOf(o)
}

// oldIsSubject reports whether the subject of the newer statement is a value of the older one: "Jenkins is gone".
func oldIsSubject(n, o *statement) bool {
	return len(n.subject) > 0 && !slices.ContainsFunc(n.subject, func(x term) bool {
		return !o.has(x) || subjectHas(o, []term{x})
	})
}

// endsTopic reports whether a word of the user ends the job, the home or the marriage that the older statement is about.
func endsTopic(n, o *statement) bool {
	if o.topics["partner"] && (mine(o) || partnerKin[o.person]) && subjectHas(o, n.subject) && leaves().Match(n.source.fold[n.from:n.to]) {
		return true
	}
	if !mine(n) || !mine(o) && !o.topics["partner"] {
		return false
	}
	for topic := range personal {
		if o.topics[topic] && overWords(n, topic) && !otherObject(n, o, topic) {
			return true
		}
	}
	return o.topics["partner"] && (mine(o) || partnerKin[o.person]) && apart().Match(n.source.fold[n.from:n.to])
}

// otherObject reports whether a statement names a thing outside the topic that the older one lacks: "quit smoking" is no job.
func otherObject(n, o *statement, topic string) bool {
	deed := func(w word) bool { // "quit smoking"
		f := n.source.folded(w)
		return progressive(f) != "" && topicWords[f] != topic && topicWords[progressive(f)] != topic && !o.has(term{stem: stem(f)})
	}
	return slices.ContainsFunc(n.ws[min(len(n.ws), n.verbAt+1):], deed) || slices.ContainsFunc(n.words, func(x term) bool {
		return topicStems[x.stem] != topic && !o.has(x) && !cueStems()[x.stem] && !timeStems[x.stem] && !timeUnits[x.stem] &&
			!x.verb() && x.stem[0] > '9' && !endsAsAdverb(x.stem) && !seasons[x.stem]
	})
}

var seasons = wordSet("spring summer autumn winter fall fruhling sommer herbst printemps ete automne hiver primavera verano otono invierno")

// apart finds words for the end of a couple.
var apart = pattern(`\b(?:broke|broken|breaking|split|splitting) up\b|\b(?:schluss gemacht|uns getrennt|auseinander)\b|` +
	`\b(?:avons rompu|a rompu|s'est quittes|sommes quittes|sommes plus ensemble|sommes separes)\b|` +
	`\b(?:lo (?:he|hemos) dejado|lo deje con|lo dejamos|hemos roto|rompimos|nos separamos)\b|` +
	`\b(?:not|no longer|nicht mehr|plus) (?:together|zusammen|ensemble)\b|` +
	`\bya no (?:estamos|estoy|salgo|salimos) (?:juntos|juntas|con)\b`)

// leaves finds words for a partner who left the user.
var leaves = pattern(`\b(?:left|dumped|divorced) (?:me|the user)\b|` +
	`\bhat mich verlassen\b|\bhat (?:mit mir )?schluss gemacht\b|` +
	`\bm'a (?:quittee?|larguee?|plaquee?)\b|\bme (?:ha dejado|dejo|ha plantado)\b`)

// partnerKin are the stems of the words for a partner.
var partnerKin = func() map[string]bool {
	out := map[string]bool{}
	for w := range kin {
		if topicWords[w] == "partner" {
			out[stem(w)] = true
		}
	}
	return out
}()

// contradicts reports whether a statement denies what the older one says, or says what that denies.
func contradicts(n, o *statement) bool {
	switch {
	case n.order || o.order || n.verb == "" || n.denies == o.denies || n.owner != o.owner || len(shared(n, o)) == 0,
		onlyWords().Match(n.source.fold[n.from:n.to]):
		return false
	case n.denies:
		return nothingElse(n, o) && n.sameDeed(o)
	default:
		return nothingElse(o, n) && nothingElse(n, o) && n.sameDeed(o)
	}
}

// sameDeed reports whether two statements have the same verb, or the newer one a verb that stands for any: "do".
func (s *statement) sameDeed(o *statement) bool {
	return s.verb == o.verb || s.verb == "do" || o.verb == "do"
}

// exchanged returns the stem of the older value, if the newer statement puts something in its place: "swapped X for Y",
// "went from X to Y".
func exchanged(n, o *statement) string {
	c := n.changes()
	if !c.says(cueReplace, cueBecome, cueEnd) {
		return ""
	}
	ws := n.ws
	for i, w := range ws {
		x := term{stem: stem(n.source.folded(w))}
		if !isContent(n.source.folded(w)) || !o.has(x) || subjectHas(o, []term{x}) {
			continue
		}
		before := n.before(ws, i)
		if instead[before] && slices.ContainsFunc(ws[max(0, i-4):i], func(w word) bool { return insteadCue[n.source.folded(w)] }) {
			return x.stem
		}
		if (cueWords[before] == cueReplace && n.follows(o, ws, i, exchanging) ||
			leaving[before] && n.follows(o, ws, i, arriving) && c.says(cueReplace, cueBecome)) && !otherActor(n, o, ws[:i]) {
			return x.stem
		}
	}
	return ""
}

// otherActor reports whether the words before a value name somebody or something that the older statement does not.
func otherActor(n, o *statement, ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool {
		f := n.source.folded(w)
		x := term{stem: stem(f)}
		return isContent(f) && !o.has(x) && !isCue(f) && !dayWords[f] && !verbForm(f) && !x.verb() && !endsAsAdverb(f)
	})
}

// endsAsAdverb reports whether a word ends as adverbs do.
func endsAsAdverb(f string) bool { return hasAnySuffix(f, "ly", "ment", "mente", "weise") }

// nothingElse reports whether all content of the newer statement is in the older one, but for numbers and the change itself.
func nothingElse(n, o *statement) bool {
	return !slices.ContainsFunc(n.words, func(x term) bool {
		return x.stem[0] > '9' && !o.has(x) && !x.verb() && !cueStems()[x.stem] && x.stem != "versio"
	})
}

// anotherInRole reports whether both statements say who has a role, and only the name differs: "Mira is the team lead".
func anotherInRole(n, o *statement) bool {
	role := func(s, other *statement) bool {
		return s.owner == aPerson && s.form() == nominalForm && s.hasAny(definite) && len(s.subject) == 1 &&
			!slices.ContainsFunc(s.words, func(x term) bool { return !subjectHas(s, []term{x}) && !other.has(x) })
	}
	return len(o.words) > 1 && !n.changes().says(cueAlso, cueAdd) && role(n, o) && role(o, n)
}

// ended returns the stem of the older value, if it is the first content word behind a word for an end: "sold the Volvo".
func ended(s, o *statement) string {
	ws := s.ws
	c := s.changes()
	for i := range ws {
		if cue, ok := c.cueAt[i]; !ok || cue != cueEnd {
			continue
		}
		for j := c.after(i); j < min(len(ws), i+6); j++ {
			f := s.source.folded(ws[j])
			if s.source.comma(ws, j) {
				break
			}
			if aims[f] || endPredicates[s.source.folded(ws[i])] {
				break
			}
			if !isContent(f) || isCue(f) {
				continue
			}
			x := term{stem: stem(f)}
			if !o.has(x) || subjectHas(o, []term{x}) {
				break
			}
			if (verbForm(f) || x.verb()) && !(sameStem(x.stem, stem(o.verb)) && s.endsPhrase(o, ws, j)) {
				continue
			}
			if !s.endsPhrase(o, ws, j) {
				break
			}
			if mine(s) || len(s.subject) == 0 || !otherActor(s, o, ws[:i]) {
				return x.stem
			}
			break
		}
	}
	return ""
}

// before returns the word before a word, or before its article.
func (s *statement) before(ws []word, i int) string {
	for j := i - 1; j >= 0; j-- {
		f := s.source.folded(ws[j])
		if !articleWords[f] && !s.source.capital(ws[j].from) {
			return f
		}
	}
	return ""
}

var articleWords = wordSet(`the a an my our his her their old der die das den dem mein meine meinen meinem unser unsere unserem unseren
	le la les l' mon ma mes notre nos el los las mi mis nuestro nuestra alten alte alter ancien ancienne viejo vieja antiguo antigua`)

// follows reports whether one of some words stands behind a value of the older statement and before a word that it lacks.
func (s *statement) follows(o *statement, ws []word, i int, any map[string]bool) bool {
	for j := i + 1; j+1 < min(len(ws), i+5); j++ {
		if !any[s.source.folded(ws[j])] {
			continue
		}
		for k := j + 1; k < min(len(ws), j+4); k++ {
			if f := s.source.folded(ws[k]); isContent(f) {
				return !o.has(term{stem: stem(f)})
			}
		}
	}
	return false
}

// instead are words before what another thing stands in place of, with the words of insteadCue a little before.
var (
	instead    = wordSet("of than statt anstelle anstatt de du del d' a")
	insteadCue = wordSet("instead place lieu rather statt anstelle anstatt lugar vez")
)

// exchanging are words between the old value and the new one: "swapped X for Y".
var exchanging = wordSet("for with by against durch mit gegen par pour contre por")

// anotherVersion returns the stem of a name that has different numbers behind it in both statements: Debian 11, Debian 13.
func anotherVersion(n, o *statement) string {
	a, b := n.versions(), o.versions()
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if b[name] != "" && b[name] != a[name] {
			return name
		}
	}
	return ""
}

// findVersions returns the numbers behind names: Debian 13, Solr is at version 9.
func (s *statement) findVersions() map[string]string {
	out := map[string]string{}
	ws := s.ws
	for i, w := range ws {
		f := s.source.folded(w)
		if !s.source.capital(w.from) || !isContent(f) {
			continue
		}
		for j := i + 1; j < min(len(ws), i+5); j++ {
			g := s.source.folded(ws[j])
			if g[0] >= '0' && g[0] <= '9' && !looksLikeTime(s.source, ws, j) {
				to := j
				for to+1 < len(ws) && ws[to+1].from == ws[to].to+1 && s.source.fold[ws[to].to] == '.' {
					to++
				}
				out[stem(f)] = string(s.source.fold[ws[j].from:ws[to].to])
				break
			}
			if !versionWords[g] {
				break
			}
		}
	}
	return out
}

var versionWords = wordSet(`is at on version now jetzt ist sind bei auf in est en passe passee maintenant esta va ahora la ya
	runs lauft tourne corre v`)

// leaving are words before an old value.
var leaving = wordSet("from of than statt anstelle von de du del d' instead not no nicht kein keine keinen ohne without pas sin")

// overWords reports whether a statement has a word that by itself ends a topic: "divorced".
func overWords(s *statement, topic string) bool {
	return slices.ContainsFunc(s.ws, func(w word) bool {
		f := s.source.folded(w)
		return topicEnds[f] && topicWords[f] == topic
	})
}

var topicEnds = wordSet(`quit resigned fired retired unemployed gekundigt arbeitslos entlassen rente demissionne chomage retraite licencie
	licenciee despedido despidieron paro jubilado jubilada divorced separated split single widowed geschieden getrennt scheidung verwitwet
	divorce divorcee divorces separe separee separes celibataire divorciado divorciada divorciamos separado separada separamos rompimos`)

// arriving are words before what takes the place of another thing.
var arriving = wordSet("to with by zu durch zum zur auf a par por vers pour")

// endedAt returns the index of the first word for an end that has an object, and that of the object, or -1.
func (s *statement) endedAt(ws []word) (cue, object int) {
	c := s.changes()
	for i := range ws {
		if x, ok := c.cueAt[i]; !ok || x != cueEnd && !(x == cueNoMore && c.wide[i] && s.source.folded(ws[i]) == "no") { // "no more queue"
			continue
		}
		for j := c.after(i); j < min(len(ws), i+6) && !s.source.comma(ws, j); j++ {
			f := s.source.folded(ws[j])
			if leads[f] || conjunctions[f] {
				break
			}
			deed := j == c.after(i) && progressive(f) != ""
			if isContent(f) && !isCue(f) && (deed || !verbForm(f) && !(term{stem: stem(f)}).verb()) {
				return i, j
			}
		}
	}
	return -1, -1
}

// leads are words before a place, a time or a reason, which is no object: "gone to Dubai", "stood down after eleven years".
var leads = wordSet(`to after for because since when before until with without nach wegen weil seit bevor mit ohne apres pour parce
	depuis avant chez sans despues para porque desde tras sin`)

// comma reports whether a comma stands before a word.
func (t *text) comma(ws []word, j int) bool {
	return j > 0 && bytes.IndexByte(t.fold[ws[j-1].to:ws[j].from], ',') >= 0
}

// endPredicates say that their subject is over, and have no object. aims stand before a destination.
var (
	endPredicates = wordSet("over off gone dead history weg vorbei redundant bust passe")
	aims          = wordSet("to nach zu about")
)

// endsPhrase reports whether no other noun follows words of the older statement: "the piano", not "the piano stool".
func (s *statement) endsPhrase(o *statement, ws []word, j int) bool {
	for k := j + 1; k < len(ws) && ws[k].from == ws[k-1].to+1 && s.source.fold[ws[k-1].to] == ' '; k++ {
		f := s.source.folded(ws[k])
		if !isContent(f) || isCue(f) || dayWords[f] || verbForm(f) || endsAsAdverb(f) || s.figure(ws[k]) || function[f] || wholes[f] {
			return true
		}
		if !o.has(term{stem: stem(f)}) {
			return false
		}
	}
	return true
}

// wholes stand behind the name of a thing and mean all of it: "the gym membership".
var wholes = wordSet(`membership subscription account plan contract lease lessons classes course habit club abo abonnement vertrag
	mitgliedschaft konto kurs unterricht compte cours suscripcion cuota clases curso`)

// hasObject reports whether a thing of its own follows the word for an end: "Mia finished her homework".
func hasObject(n, o *statement) bool {
	ws := n.ws
	c := n.changes()
	for i := range ws {
		if cue, ok := c.cueAt[i]; !ok || cue != cueEnd && cue != cueNoMore && cue != cueReplace {
			continue
		}
		from := c.after(i)
		if c.cueAt[i] == cueNoMore && n.verb != "" {
			from = min(from, n.verbAt+1) // "doesn't drive trains any more"
		}
		if intransitive[n.source.folded(ws[i])] {
			continue
		}
		for j := from; j < len(ws) && !n.source.comma(ws, j); j++ {
			f := n.source.folded(ws[j])
			if conjunctions[f] || c.cueAt[i] == cueEnd && (leads[f] || f == "a" && n.source.quotesSpanish()) {
				break
			}
			if isContent(f) && !isCue(f) && !dayWords[f] && !timeUnits[f] && !endsAsAdverb(f) && !o.has(term{stem: stem(f)}) && f[0] > '9' {
				return true
			}
		}
	}
	return false
}

// intransitive are words for an end that have no object.
var intransitive = wordSet(`died dies retired lapsed expired starb gestorben verstorben ausgezogen weggezogen mort morte decede decedee
	murio muerto muerta fallecio jubilo jubilado jubilada caduco vencio`)

// timeUnits are units of time, and what follows "for" as they do: "for good", "for ever".
var timeUnits = wordSet("good ever year week month jahr woche monat an annee semaine mois ano semana mes")

// onlyWords limit a denial: "doesn't only speak French".
var onlyWords = pattern(`\b(?:only|just|nur|solo|pas que|pas qu'[a-z]+|solamente|seulement)\b`)
