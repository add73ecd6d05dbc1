//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// ruledOut reports whether a newer statement cannot make an older one obsolete, whatever their words are.
func ruledOut(n, o *statement) bool {
	if n.passes() || otherOrigin(n, o) || elsewhere(n, o) || n.oneTime() && o.recurs() {
		return true
	}
	if endsTopic(n, o) || promotes(n, o) || otherInOwnRole(n, o) != "" {
		return false
	}
	return otherPerson(n, o) && exchanged(n, o) == "" || // "Max is the boss in place of Lourdes"
		otherName(n, o) || nameInCommon(n, o) || otherSubject(n, o) || disagrees(n, o)
}

// disagrees reports whether two statements of the same person or thing are about different matters.
func disagrees(n, o *statement) bool {
	return otherWish(n, o) || otherDenial(n, o) || personOnly(n, o) || timeOnly(n, o) || otherTopic(n, o) ||
		placeOfThing(n, o) || partOfValue(n, o) || endsOther(n, o) || nameOnly(n, o) || anotherThing(n, o) || changesPart(n, o) ||
		endsItsOwn(n, o) || verbOnly(n, o) || putDown(n, o) || ofSpouse(n, o)
}

// ofSpouse reports whether the older statement names the user's partner, and the newer one gives another deed of that person: "Hugo left
// his job".
func ofSpouse(n, o *statement) bool {
	own := func(x *statement) bool { return hasObject(x, o) || x.topics["work"] }
	return o.topics["partner"] && mine(o) && n.owner == aPerson && oldIsSubject(n, o) && slices.ContainsFunc(n.whole.parts, own) &&
		!n.hasAny(died)
}

// putDown reports whether a statement says where a thing was put: "left the Volvo at the station", but not "left the band in May".
func putDown(n, o *statement) bool {
	i, j := n.endedAt(n.ws)
	if j < 0 || !putting[n.source.folded(n.ws[i])] || n.changes().says(cueReplace, cueNoMore) {
		return false
	}
	place := false
	for _, w := range n.ws[j+1:] {
		f := n.source.folded(w)
		if place && isContent(f) {
			return f[0] > '9' && !o.has(term{stem: stem(f)}) && !dayWords[f] && !timeUnits[f] && !seasons[f]
		}
		place = placePrepositions[f] || place && articleWords[f]
	}
	return false
}

// putting are words for an end that also say where a thing was put.
var (
	putting           = wordSet("left leave leaves quitte laisse dejado deje dejamos")
	placePrepositions = wordSet("at in on outside inside under behind dans chez sur sous devant en sobre bajo")
)

// elsewhere reports whether a statement without a change begins with another place: "at number 14 the fee is 48 euros".
func elsewhere(n, o *statement) bool {
	if len(n.ws) == 0 || !placePrepositions[n.source.folded(n.ws[0])] || mine(n) || n.changes().says(changeCues[:]...) {
		return false
	}
	if slices.ContainsFunc(shared(n, o), func(x term) bool { return x.proper && x.stem[0] > '9' && !n.source.quotesGerman() }) {
		return false // "at the vet's Luna weighed 21 kilos"
	}
	for _, w := range n.ws[1:min(len(n.ws), 5)] {
		if f := n.source.folded(w); isContent(f) {
			return f[0] > '9' && !dayWords[f] && !timeUnits[f] && !numberWords[f] && !o.has(term{stem: stem(f)})
		}
	}
	return false
}

// otherOrigin reports whether a statement tells what something else was before: "from Travis to Buildkite" is no news of a
// home in Leeds.
func otherOrigin(n, o *statement) bool {
	ws := n.ws
	for i := range ws[:max(0, len(ws)-2)] {
		if !origin[n.source.folded(ws[i])] {
			continue
		}
		named, known := false, false
		for j := i + 1; j < min(len(ws), i+5); j++ {
			f := n.source.folded(ws[j])
			if arriving[f] || f == "nach" {
				return named && !known
			}
			if isContent(f) {
				named = named || n.source.capital(ws[j].from) && !dayWords[f]
				known = known || o.has(term{stem: stem(f)})
			}
		}
	}
	return false
}

var origin = wordSet("from von vom de du desde")

// anotherThing reports whether two statements say the same of different things: the shop opens at 9, the office at 8. A thing with
// an attribute more is another one, too: the mobile team.
func anotherThing(n, o *statement) bool {
	c := n.changes()
	if len(n.subject) == 0 || len(o.subject) == 0 || c.says(cueEnd, cueNoMore, cueCorrect) || n.order && o.order {
		return false
	}
	if foreignSubjects(n, o) {
		if c.says(cueReplace) {
			return false
		}
		same := slices.DeleteFunc(shared(n, o), func(x term) bool { return x.verb() || timeStems[x.stem] || currencyStems[x.stem] })
		return n.verb == o.verb && n.verb != "" && len(same) == 0 || anotherVersion(n, o) != ""
	}
	at := len(n.subject) - 1
	if n.order || o.order || at <= 0 || len(o.subject) != 1 || o.subject[0].proper || !sameStem(n.subject[at].stem, o.subject[0].stem) {
		return false
	}
	attribute := n.subject[at-1]
	return !cueStems()[attribute.stem] && !timeStems[attribute.stem] && !shortly[attribute.stem] && !verbForm(attribute.stem) &&
		!o.has(attribute)
}

// foreignSubjects reports whether both statements have a subject, and neither has a word of the other's.
func foreignSubjects(n, o *statement) bool {
	return len(o.subject) > 0 && len(n.subject) > 0 && !slices.ContainsFunc(n.subject, o.has) && !slices.ContainsFunc(o.subject, n.has)
}

// endsOther reports whether a statement ends something else that is done in the same way: "stopped drinking coffee" leaves tea.
func endsOther(n, o *statement) bool {
	words := shared(n, o)
	return n.changes().says(cueEnd, cueNoMore) && len(words) > 0 && !slices.ContainsFunc(words, func(x term) bool { return !x.verb() }) &&
		slices.ContainsFunc(n.words, func(x term) bool {
			return !x.verb() && !o.has(x) && !cueStems()[x.stem] && !timeStems[x.stem] && !counted[x.stem] && x.stem[0] > '9'
		})
}

// counted are the stems of numbers, of units of time and of words near them: "three weeks ago".
var counted = func() map[string]bool {
	out := stems(numberWords)
	maps.Copy(out, stems(timeUnits))
	maps.Copy(out, stems(wordSet("weeks months years days day ago one once wochen tage tag semaines mois jours dias meses")))
	return out
}()

// nameOnly reports whether the older statement introduces somebody or something, and the newer one says something else of that
// name: the dog called Biscuit, and Biscuit's food.
func nameOnly(n, o *statement) bool {
	c := n.changes()
	if !o.introduces() || n.introduces() || c.says(cueEnd, cueReplace, cueCorrect) || c.noMore && nothingElse(n, o) {
		return false
	}
	words := shared(n, o)
	if len(words) == 0 || slices.ContainsFunc(words, func(x term) bool { return subjectHas(o, []term{x}) }) {
		return false
	}
	ws := n.ws
	for i, w := range ws { // "Heron became Egret" has a new name
		named := (n.becomes() || c.says(cueNow) && n.form() == nominalForm) && oldIsSubject(n, o) && n.kinds[aName]
		if o.has(term{stem: stem(n.source.folded(w))}) && (named || leaving[n.before(ws, i)]) {
			return false
		}
	}
	return true
}

// becomes reports whether a statement says that something became another one, and not only that a thing of it is new.
func (s *statement) becomes() bool {
	c := s.changes()
	for i, w := range s.ws {
		if x, ok := c.cueAt[i]; ok && x == cueBecome && !newWords[s.source.folded(w)] {
			return true
		}
	}
	return false
}

// shared returns the content words of the older statement that the newer one has.
func shared(n, o *statement) []term {
	return slices.DeleteFunc(slices.Clone(o.words), func(x term) bool { return !n.has(x) })
}

// otherWish reports whether two instructions have no topic in common, and the newer one does not name what the older one wants,
// or whether they are about other things and nothing changed.
func otherWish(n, o *statement) bool {
	if !n.order || !o.order {
		return false
	}
	if !n.changes().says(changeCues[:]...) && !comparable(n.asWish().objects, o.asWish().objects) {
		return true // each has things of its own: reports to the board, to the office
	}
	for topic := range n.topics {
		if o.topics[topic] && !personal[topic] {
			return false
		}
	}
	nw, ow := n.asWish().values, o.asWish().values
	known := len(wishTopics(n)) > 0 && len(wishTopics(o)) > 0 || len(nw) > 0 && len(ow) > 0
	words := slices.DeleteFunc(shared(n, o), func(x term) bool {
		_, scope := scopes[x.stem]
		return wishStems[x.stem] || known && (scope || plainStems[x.stem] || x.verb())
	})
	return len(words) == 0 && (known || len(shared(n, o)) > 0)
}

// wishTopics returns the topics of an instruction that concern no person.
func wishTopics(s *statement) (out []string) {
	for topic := range s.topics {
		if !personal[topic] {
			out = append(out, topic)
		}
	}
	return out
}

// wishStems are the stems of words that most instructions have.
var wishStems = func() map[string]bool {
	out := map[string]bool{}
	for w := range wordSet(`answer answers answering reply replies replying respond response responses write keep stop please always
		antwort antworten antworte schreib schreibe schreiben bitte immer reponse reponses reponds repondre repondez ecris ecrire
		toujours respuesta respuestas responde responder contesta escribe escribir siempre`) {
		out[w], out[stem(w)] = true, true
	}
	return out
}()

// otherDenial reports whether a statement denies another value than the older one gives: an allergy to dogs, not to cats.
func otherDenial(n, o *statement) bool {
	if !n.denies || n.order && o.order || n.hasAny(contrast) || n.changes().says(cueCorrect) {
		return false
	}
	if slices.ContainsFunc(shared(n, o), func(x term) bool { return x.proper }) {
		return false
	}
	lacks := func(x, y *statement) bool {
		return slices.ContainsFunc(x.words, func(t term) bool {
			return !t.verb() && t.stem[0] > '9' && !timeStems[t.stem] && !counted[t.stem] && !isCue(t.stem) &&
				!subjectHas(x, []term{t}) && !y.has(t)
		})
	}
	return lacks(n, o) && lacks(o, n)
}

// contrast are words between what holds and what does not.
var contrast = wordSet("instead rather sondern statt stattdessen plutot sino")

// timeStems are the stems of [dayWords].
var timeStems = stems(dayWords)

// timeOnly reports whether all that two statements share is a time, and the newer one has other words.
func timeOnly(n, o *statement) bool {
	words := shared(n, o)
	isTime := func(x term) bool { return timeStems[x.stem] }
	return len(words) > 0 && !slices.ContainsFunc(words, func(x term) bool { return !isTime(x) }) &&
		slices.ContainsFunc(n.words, func(x term) bool { return !isTime(x) && !isCue(x.stem) && x.stem[0] > '9' }) &&
		!n.changes().says(cueCorrect)
}

// personOnly reports whether all that two statements share is the person they are about: the kinds of their values, their
// verbs and their topics differ.
func personOnly(n, o *statement) bool {
	if n.owner != aPerson || o.owner != aPerson || sameKinds(n, o) && (!n.source.quotesGerman() || n.namesPlace()) {
		return false
	}
	words := shared(n, o)
	other := func(x term) bool { return !samePersonWord(x.stem, o.person) || !samePersonWord(x.stem, n.person) }
	if len(words) == 0 || slices.ContainsFunc(words, other) {
		return false
	}
	nf, of := n.form(), o.form()
	if n.verb == o.verb && (n.verb != "" || nf == of && nf != noCopula) || overWords(n, "partner") && o.topics["partner"] ||
		n.hasAny(died) {
		return false
	}
	nt, ot := n.topicsBesideKin(), o.topicsBesideKin()
	if (nt["work"] || n.hasAny(takesOver)) && of == nominalForm && !o.introduces() {
		return false // an occupation
	}
	return !inCommon(nt, ot)
}

// inCommon reports whether two sets of topics have one in common.
func inCommon(a, b map[string]bool) bool {
	for topic := range a {
		if b[topic] {
			return true
		}
	}
	return false
}

// nameInCommon reports whether all that two statements share is the name of the person whom the older one is about: Mara's
// car, and Mara moved. A named speaker calls others by name: "Mara, you got this". [personOnly] judges two statements about
// persons.
func nameInCommon(n, o *statement) bool {
	words := shared(n, o)
	if o.name == "" || o.owner != aThing && !n.bySpeaker || n.owner == aPerson && o.owner == aPerson || len(words) == 0 ||
		slices.ContainsFunc(words, func(x term) bool { return x.stem != stem(o.called) }) {
		return false
	}
	return !inCommon(n.topics, o.topics)
}

// takesOver are words for a new duty.
var takesOver = wordSet("took takes taken ubernimmt ubernommen reprend repris asume asumio")

// A content in one of these languages quotes the speaker. In German every noun has a capital, as a name has.
func (t *text) quotesGerman() bool  { return bytes.HasPrefix(t.fold, []byte("der nutzer")) }
func (t *text) quotesFrench() bool  { return bytes.HasPrefix(t.fold, []byte("l'utilisateur")) }
func (t *text) quotesEnglish() bool { return bytes.HasPrefix(t.fold, []byte("the user says")) }
func (t *text) quotesSpanish() bool { return bytes.HasPrefix(t.fold, []byte("el usuario")) }

// namesPlace reports whether a noun follows a German preposition without an article, as names do: "zu Zeiss".
func (s *statement) namesPlace() bool {
	ws := s.ws
	for i := 1; i < len(ws); i++ {
		if bare[s.source.folded(ws[i-1])] && s.source.capital(ws[i].from) {
			return true
		}
	}
	return false
}

var bare = wordSet("bei zu nach in")

// died are words for a death.
var died = wordSet("died dead gestorben tot verstorben mort morte decede decedee murio muerto muerta fallecio fallecido fallecida")

// topicsBesideKin returns the topics of a statement, except the topics of its words for relatives.
func (s *statement) topicsBesideKin() map[string]bool {
	out := map[string]bool{}
	for _, w := range s.ws {
		if f := s.source.folded(w); topicWords[f] != "" && !kin[f] {
			out[topicWords[f]] = true
		}
	}
	return out
}

// hasAny reports whether a statement has one of some words.
func (s *statement) hasAny(set map[string]bool) bool {
	return slices.ContainsFunc(s.ws, func(w word) bool { return set[s.source.folded(w)] })
}

// otherTopic reports whether one statement tells where a person lives, the other one where the person works, and the newer
// one ends nothing.
func otherTopic(n, o *statement) bool {
	home := func(s *statement) bool { return s.topics["home"] && !s.topics["work"] }
	work := func(s *statement) bool { return s.topics["work"] && !s.topics["home"] }
	return (home(n) && work(o) || work(n) && home(o)) && !n.changes().says(cueEnd, cueNoMore, cueReplace)
}

// form is what follows the copula of a statement.
type form uint8

const (
	noCopula    form = iota
	nominalForm      // "is a Golf"
	placeForm        // "is in the garage"
)

var placeWords = wordSet("in im at bei beim en dans au aux a chez")

// form returns what follows the copula of a statement.
func (s *statement) form() form {
	copula := false
	for _, w := range s.ws {
		f := s.source.folded(w)
		switch {
		case copula && placeWords[f] && (f != "a" || s.source.quotesFrench()):
			return placeForm
		case copulas[f] && f != "becomes" && f != "became":
			copula = true
		case !copula || cueWords[f] == cueNow && isCue(f) || f == "also" || f == "not":
		default:
			return nominalForm
		}
	}
	return noCopula
}

// placeOfThing reports whether the older statement defines its subject, and the newer one only names its place.
func placeOfThing(n, o *statement) bool {
	return n.form() == placeForm && o.form() == nominalForm && !n.kinds[aTime] && !n.kinds[aNumber] &&
		!slices.ContainsFunc(shared(n, o), func(x term) bool { return !subjectHas(o, []term{x}) })
}

// longAgo finds what happened years ago, which is no news.
var longAgo = pattern(`\b(?:years|ages) ago\b|\bvor (?:[a-z0-9]+ )?jahren\b|\bil y a (?:[a-z0-9]+ )?ans\b|` +
	`\bhace (?:[a-z0-9]+ )?anos\b|\b(?:in|im jahr|en) (?:19|20)[0-9][0-9]\b.{0,60}\b(?:for|fur|pendant|durante) ` +
	`(?:a|an|one|two|three|ein|zwei|drei|un|deux|trois|dos|tres) (?:year|month|jahr|monat|an|mois|ano|mes)`)

// forNow reports whether a statement is about a day or a week only: "this week the standup is at 11", but not "from this week".
func forNow(n *statement) bool {
	if n.changes().says(cueBecome, cueReplace, cueNoMore) || !n.kinds[aTime] && !n.kinds[aNumber] {
		return false
	}
	ws := n.ws
	if n.last != nil && n.last.verbAt == len(n.last.ws) { // "this week only, the club meets on Thursday"
		ws = slices.Concat(n.last.ws, ws)
	}
	for i, w := range ws {
		f := n.source.folded(w)
		var before string
		if i > 0 {
			before = n.source.folded(ws[i-1])
		}
		if (before != "" && f == weekWords[before] || shortly[f]) && !n.lasting(ws, i) {
			return true
		}
	}
	return false
}

// oneTime reports whether a statement is about one day of many: "this Thursday's rehearsal", "am kommenden Dienstag".
func (s *statement) oneTime() bool {
	for i := range s.ws[:max(0, len(s.ws)-1)] {
		f, next := s.source.folded(s.ws[i]), s.source.folded(s.ws[i+1])
		if (comingWords[f] && weekDay(next) || weekDay(f) && comingWords[next]) && !s.lasting(s.ws, i) {
			return true
		}
	}
	return false
}

// recurs reports whether a statement is about a day of every week: "on Thursdays", "le lundi".
func (s *statement) recurs() bool {
	for i, w := range s.ws {
		f := s.source.folded(w)
		before := ""
		if i > 0 {
			before = s.source.folded(s.ws[i-1])
		}
		day, plural := strings.CutSuffix(f, "s")
		if everyWords[f] || weekDay(f) && (plural && dayWords[day] || before == "los" || before == "le" && s.source.quotesFrench()) {
			return true
		}
	}
	return false
}

func weekDay(f string) bool { return weekDays[strings.TrimSuffix(strings.TrimSuffix(f, "'s"), "s")] }

var (
	comingWords = wordSet("this next coming diesen kommenden nachsten ce prochain este proximo")
	everyWords  = wordSet("every each weekly jeden jede jedes wochentlich wochentliche chaque tous toutes cada todos semanal")
)

// lasting reports whether the words before a time say that something holds from then on, or until then.
func (s *statement) lasting(ws []word, i int) bool {
	return slices.ContainsFunc(ws[max(0, i-3):i], func(w word) bool { return lastingWords[s.source.folded(w)] })
}

var (
	weekWords    = map[string]string{"this": "week", "diese": "woche", "dieser": "woche", "cette": "semaine", "esta": "semana"}
	shortly      = wordSet("today tomorrow tonight heute morgen aujourd'hui demain hoy manana")
	lastingWords = wordSet(`every each jeden cada chaque usa en
		from since as starting until to ab seit bis auf fur depuis des partir compter a au
		desde hasta de contar para la las por`)
)

// changesPart reports whether a statement changes a part of the older value: "changed the chain on the Peugeot".
func changesPart(n, o *statement) bool {
	c := n.changes()
	ws := n.ws
	for i := range ws {
		if cue, ok := c.cueAt[i]; !ok || cue != cueReplace && cue != cueBecome {
			continue
		}
		part := false
		for j := i + 1; j < min(len(ws), i+7); j++ {
			f := n.source.folded(ws[j])
			if !isContent(f) || isCue(f) || f[0] <= '9' {
				continue
			}
			old := o.has(term{stem: stem(f)})
			if old && part && partOf[n.before(ws, j)] {
				return true
			}
			if old {
				break
			}
			part = true
		}
	}
	return false
}

// partOf are words between a part and its whole.
var partOf = wordSet("of on am vom von du del")

// accident finds words for accidents and for short times.
var accident = pattern(`\b(?:by accident|accidentally|aus versehen|versehentlich|par (?:accident|megarde)|sin querer|` +
	`por accidente|for (?:today|tonight|a (?:minute|moment|second)|the (?:day|night|weekend))|fur heute|pour aujourd'hui|` +
	`un instant|por hoy|un momento)\b`)

// byAccident reports whether a statement is about an accident, or holds for a short time.
func byAccident(n *statement) bool {
	return !n.changes().says(cueCorrect) && accident().Match(n.source.fold[n.from:n.to])
}

// partOfValue reports whether a statement ends something that only has the name of the older value: the Tesla shares.
func partOfValue(n, o *statement) bool {
	if !n.changes().says(cueEnd) {
		return false
	}
	words := slices.DeleteFunc(shared(n, o), func(x term) bool { return x.verb() })
	if len(words) != 1 || !words[0].proper {
		return false
	}
	other := func(f string) bool { return partWords[f] && !o.has(term{stem: stem(f)}) }
	return slices.ContainsFunc(n.ws, func(w word) bool {
		f := n.source.folded(w)
		_, after, compound := strings.Cut(f, "-")
		return other(f) || compound && other(after)
	})
}

// partWords are things with the name of another one: shares of a maker, its shirt.
var partWords = wordSet(`share shares stock stocks bonds shirt t-shirt mug sticker stickers poster posters voucher jacket cap book books
	toy tab tabs window windows file files aktie aktien anteile tasse buch bucher gutschein jacke mutze fenster datei
	action actions parts tasse livre livres bon veste casquette onglet fenetre fichier
	accion acciones taza libro libros vale chaqueta gorra pestana ventana archivo`)

// endsItsOwn reports whether the old value ends something of its own ("Netflix cancelled the show"), or whether what ends only
// has its name ("sold the piano stool").
func endsItsOwn(n, o *statement) bool {
	c := n.changes()
	if !c.says(cueEnd, cueNoMore) || c.says(cueReplace, cueCorrect, cueBecome) || n.order || o.order {
		return false
	}
	if oldIsSubject(n, o) && hasObject(n, o) {
		return true
	}
	ws := n.ws
	i, j := n.endedAt(ws)
	if j < 0 || endPredicates[n.source.folded(ws[i])] {
		return false
	}
	f := n.source.folded(ws[j])
	x := term{stem: stem(f)}
	if o.has(x) {
		return !subjectHas(o, []term{x}) && !n.endsPhrase(o, ws, j)
	}
	return f[0] > '9' && !dayWords[f] && !endsAsAdverb(f) && !strings.HasSuffix(f, "ing")
}

// verbOnly reports whether the verb is all that two statements share, and it holds for many objects: speaks, owns, is allergic.
func verbOnly(n, o *statement) bool {
	c := n.changes()
	allergic := term{stem: stem("allergic")}
	if !c.says(cueNow) || c.says(cueReplace, cueEnd, cueNoMore, cueBecome, cueCorrect) || n.order || o.order || len(n.subject) > 0 {
		return false
	}
	verb := n.verb != "" && n.verb == o.verb && !oneAtATime[n.verb] && !slices.ContainsFunc(otherForms(n, o), isClass) || n.has(allergic)
	return verb && !inCommon(n.topics, o.topics) &&
		!slices.ContainsFunc(shared(n, o), func(x term) bool { return !x.verb() && x.stem != allergic.stem })
}
