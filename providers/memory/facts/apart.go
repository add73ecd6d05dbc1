//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// ruledOut reports whether a newer statement cannot make an older one obsolete, whatever their words are.
func ruledOut(n, o *Statement) bool {
	c := n.changes()
	return c.doubt || c.denied || c.says(cuePast) || otherPerson(n, o) || otherName(n, o) || nameInCommon(n, o) || otherSubject(n, o) ||
		otherWish(n, o) || otherDenial(n, o) || personOnly(n, o) || timeOnly(n, o) || otherTopic(n, o) || placeOfThing(n, o) ||
		byAccident(n) || partOfValue(n, o)
}

// shared returns the content words of the older statement that the newer one has.
func shared(n, o *Statement) []term {
	return slices.DeleteFunc(slices.Clone(o.words), func(x term) bool { return !n.has(x) })
}

// otherWish reports whether two instructions have no topic in common, and the newer one does not name what the older one wants,
// or whether they are about other things and nothing changed.
func otherWish(n, o *Statement) bool {
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
		return wishStems[x.stem] || known && (scope || plainStems[x.stem] || verbForm(x.stem) || englishLemmas()[x.stem])
	})
	return len(words) == 0 && (known || len(shared(n, o)) > 0)
}

// wishTopics returns the topics of an instruction that concern no person.
func wishTopics(s *Statement) (out []string) {
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
func otherDenial(n, o *Statement) bool {
	if !n.denies || n.order && o.order || n.hasAny(contrast) || n.changes().says(cueCorrect) {
		return false
	}
	if slices.ContainsFunc(shared(n, o), func(x term) bool { return x.proper }) {
		return false
	}
	lacks := func(x, y *Statement) bool {
		return slices.ContainsFunc(x.words, func(t term) bool {
			return !verbForm(t.stem) && !englishLemmas()[t.stem] && t.stem[0] > '9' && !timeStems[t.stem] && !isCue(t.stem) &&
				!subjectHas(x, []term{t}) && !y.has(t)
		})
	}
	return lacks(n, o) && lacks(o, n)
}

// contrast are words between what holds and what does not.
var contrast = wordSet("instead rather sondern statt stattdessen plutot sino")

// timeStems are the stems of [dayWords].
var timeStems = func() map[string]bool {
	out := map[string]bool{}
	for w := range dayWords {
		out[stem(w)] = true
	}
	return out
}()

// timeOnly reports whether all that two statements share is a time, and the newer one has other words.
func timeOnly(n, o *Statement) bool {
	words := shared(n, o)
	isTime := func(x term) bool { return timeStems[x.stem] }
	return len(words) > 0 && !slices.ContainsFunc(words, func(x term) bool { return !isTime(x) }) &&
		slices.ContainsFunc(n.words, func(x term) bool { return !isTime(x) && !isCue(x.stem) && x.stem[0] > '9' }) &&
		!n.changes().says(cueCorrect)
}

// personOnly reports whether all that two statements share is the person they are about: the kinds of their values, their
// verbs and their topics differ.
func personOnly(n, o *Statement) bool {
	if n.owner != aPerson || o.owner != aPerson || sameKinds(n, o) && (!quotesGerman(n) || n.namesPlace()) {
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
func nameInCommon(n, o *Statement) bool {
	words := shared(n, o)
	if o.name == "" || o.owner != aThing && !n.bySpeaker || n.owner == aPerson && o.owner == aPerson || len(words) == 0 ||
		slices.ContainsFunc(words, func(x term) bool { return x.stem != stem(o.called) }) {
		return false
	}
	return !inCommon(n.topics, o.topics)
}

// takesOver are words for a new duty.
var takesOver = wordSet("took takes taken ubernimmt ubernommen reprend repris asume asumio")

// quotesGerman reports whether a statement quotes German, in which every noun has a capital as a name has.
func quotesGerman(s *Statement) bool { return bytes.HasPrefix(s.source.fold, []byte("der nutzer")) }

// namesPlace reports whether a noun follows a German preposition without an article, as names do: "zu Zeiss".
func (s *Statement) namesPlace() bool {
	ws := s.source.words(s.from, s.to)
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

// topicsBesideKin returns the topics of a statement, without those of its words for relatives.
func (s *Statement) topicsBesideKin() map[string]bool {
	out := map[string]bool{}
	for _, w := range s.source.words(s.from, s.to) {
		if f := s.source.folded(w); topicWords[f] != "" && !kin[f] {
			out[topicWords[f]] = true
		}
	}
	return out
}

// hasAny reports whether a statement has one of some words.
func (s *Statement) hasAny(set map[string]bool) bool {
	return slices.ContainsFunc(s.source.words(s.from, s.to), func(w word) bool { return set[s.source.folded(w)] })
}

// otherTopic reports whether one statement tells where a person lives, the other one where the person works, and the newer
// one ends nothing.
func otherTopic(n, o *Statement) bool {
	home := func(s *Statement) bool { return s.topics["home"] && !s.topics["work"] }
	work := func(s *Statement) bool { return s.topics["work"] && !s.topics["home"] }
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
func (s *Statement) form() form {
	copula := false
	for _, w := range s.source.words(s.from, s.to) {
		f := s.source.folded(w)
		switch {
		case copula && placeWords[f]:
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

// placeOfThing reports whether the older statement tells what its subject is, and the newer one only where it is.
func placeOfThing(n, o *Statement) bool {
	return n.form() == placeForm && o.form() == nominalForm && !n.kinds[aTime] && !n.kinds[aNumber] &&
		!slices.ContainsFunc(shared(n, o), func(x term) bool { return !subjectHas(o, []term{x}) })
}

// accident finds words for what nobody wanted, or for a short while.
var accident = regexp.MustCompile(`\b(?:by accident|accidentally|aus versehen|versehentlich|par (?:accident|megarde)|sin querer|` +
	`por accidente|for (?:today|tonight|a (?:minute|moment|second)|the (?:day|night|weekend))|fur heute|pour aujourd'hui|` +
	`un instant|por hoy|un momento)\b`)

// byAccident reports whether what happened was an accident, or holds for a short while, and so changes nothing for good.
func byAccident(n *Statement) bool {
	return !n.changes().says(cueCorrect) && accident.Match(n.source.fold[n.from:n.to])
}

// partOfValue reports whether a statement ends something that only has the name of the older value: the Tesla shares.
func partOfValue(n, o *Statement) bool {
	if !n.changes().says(cueEnd) {
		return false
	}
	words := slices.DeleteFunc(shared(n, o), func(x term) bool { return verbForm(x.stem) || englishLemmas()[x.stem] })
	if len(words) != 1 || !words[0].proper {
		return false
	}
	other := func(f string) bool { return partWords[f] && !o.has(term{stem: stem(f)}) }
	return slices.ContainsFunc(n.source.words(n.from, n.to), func(w word) bool {
		f := n.source.folded(w)
		_, after, compound := strings.Cut(f, "-")
		return other(f) || compound && other(after)
	})
}

// partWords are things with the name of another one: shares of a maker, its shirt.
var partWords = wordSet(`share shares stock stocks bonds shirt t-shirt mug sticker stickers poster posters voucher jacket cap hat book books
	toy tab tabs window windows file files aktie aktien anteile tasse buch bucher gutschein jacke mutze fenster datei
	action actions parts tasse livre livres bon veste casquette onglet fenetre fichier
	accion acciones taza libro libros vale chaqueta gorra pestana ventana archivo`)
