package facts

import (
	"slices"
	"strings"
)

// employing words stand before an employer, workVerbs are the verbs of a sentence with one: "I'm a nurse at St Olave's".
var (
	employing = wordSet("at bei beim zur chez")
	workVerbs = wordSet("be work start join switch get lead wechsel")
)

// moves are verbs of a new home, or of a new tool: "we've moved to bun".
var moves = wordSet("moved relocated gezogen mudado mude mudamos")

// toThing reports whether a word without a capital follows the preposition behind a verb of moving.
func toThing(t *text, ws []word, i int) bool {
	return i+2 < len(ws) && prepositional[t.folded(ws[i+1])] && !t.capital(ws[i+2].from) && !function[t.folded(ws[i+2])]
}

// findVerb returns the index of the main verb, or len(ws).
func (s *statement) findVerb(t *text, ws []word) int {
	at := len(ws)
	for i, w := range ws {
		f := t.folded(w)
		if strings.HasPrefix(f, "j'") || strings.HasPrefix(f, "n'") {
			f = f[2:]
		}
		lemma, ok := t.verb(f)
		if i > 0 && strings.HasSuffix(t.folded(ws[i-1]), "'s") && t.folded(ws[i-1]) != "user's" && (pastVerb(f) || endPredicates[f]) {
			return i // "Rita's gone"
		}
		if base := progressive(f); base != "" && i > 0 && i == at+1 {
			lemma, ok = base, true
		}
		if !ok && t.isPreterite(ws, i) {
			lemma, ok = stem(f), true
		}
		if !ok && t.isAuxiliary(ws, i) {
			lemma, ok = "have", true
		}
		switch {
		case !ok, i > 0 && t.capital(w.from), t.article(f), t.isNounAmid(ws, i), i == 0 && isNounBefore(t, ws, f),
			i > 0 && t.afterNominal(t.folded(ws[i-1]), f) && !afterClitic(t, ws, i):
			continue
		}
		if at == len(ws) {
			at = i
		}
		if lemma != "be" && lemma != "have" && lemma != "hab" && lemma != "ai" && lemma != "get" {
			s.verb = lemma
			break
		}
		if i-at > 3 {
			break
		}
	}
	if at == len(ws) {
		at = t.unknownVerb(ws)
	}
	return at
}

// unknownVerb returns the index of the word that stands where a verb does, behind a pronoun or a name, or len(ws).
func (t *text) unknownVerb(ws []word) int {
	for i := 1; i < min(len(ws)-1, 4); i++ {
		f, before := t.folded(ws[i]), t.folded(ws[i-1])
		after := verbSubjects[before] && (before != "on" || t.quotesFrench()) || before == "user"
		named := i == 1 && t.capital(ws[0].from) && isContent(before) && !definite[before]
		if (after || named) && isContent(f) && !t.capital(ws[i].from) && !dayWords[f] && f[0] > '9' {
			return i
		}
	}
	return len(ws)
}

var verbSubjects = wordSet("i we he she they ich wir je nous on il elle ils elles yo")

// small reports whether no word but the first one begins with a capital letter.
func (t *text) small(from, to int) bool {
	for i, w := range t.words(from, to) {
		if f := t.folded(w); i > 0 && t.capital(w.from) && f != "i" && !strings.HasPrefix(f, "i'") {
			return false
		}
	}
	return true
}

// namePlace reports whether a word without a capital stands where the name of a place or of a firm does: "lives in leeds".
func (t *text) namePlace(ws []word, i int) bool {
	f := t.folded(ws[i])
	return i > 0 && ofNames[t.folded(ws[i-1])] && !noPlaces[f] && !isCue(f) && !verbForm(f) && !dayWords[f] && !timeUnits[f] && !seasons[f]
}

var (
	ofNames  = wordSet("in at to near for bei nach aus zu chez a en called named heisst heist appelle s'appelle llama")
	noPlaces = wordSet(`home work bed town school church hospital college university office general fact case person love charge total
		hause urlaub arbeit schule rente fuss bett pension maison pied ecole vacances voiture velo train retraite ville famille
		casa clase coche bici tren pie vacaciones paro general uni`)
)

// progressive returns the first form of an English verb that ends in -ing, or "".
func progressive(f string) string {
	base, ok := strings.CutSuffix(f, "ing")
	switch {
	case !ok || len(base) < 2:
		return ""
	case englishLemmas()[base]:
		return base
	case englishLemmas()[base+"e"]:
		return base + "e"
	case len(base) > 3 && base[len(base)-1] == base[len(base)-2] && englishLemmas()[base[:len(base)-1]]:
		return base[:len(base)-1]
	case len(base) > 3:
		return base
	}
	return ""
}

// article reports whether a form of a verb is an article or a preposition in the language of the text.
func (t *text) article(f string) bool {
	return (f == "am" || f == "es") && t.quotesGerman() || nominal[f] && f != "on" && f != "a" && f != "son"
}

// verb returns the first form of a verb, in the language of a quotation: "les" is no German verb in French.
func (t *text) verb(f string) (lemma string, ok bool) {
	lemma, ok = verbs()[f]
	if !ok || copulas[f] {
		return lemma, ok
	}
	switch {
	case t.quotesGerman():
		return lemma, verbsOf()["de"][f]
	case t.quotesFrench():
		return lemma, verbsOf()["fr"][f]
	case t.quotesSpanish():
		return lemma, verbsOf()["es"][f]
	}
	return lemma, ok
}

// isNounAmid reports whether a verb form is a noun, as the finite verb follows: "the Monday call with Crane has been abolished".
func (t *text) isNounAmid(ws []word, i int) bool {
	if i < 2 || !englishLemmas()[t.folded(ws[i])] || verbSubjects[t.folded(ws[i-1])] || adverbs[t.folded(ws[i-1])] {
		return false
	}
	first := t.folded(ws[0])
	finite := func(w word) bool { f := t.folded(w); return copulas[f] || f == "has" || f == "got" }
	return (definite[first] || ownWord[first] || first == "our" || first == "a") && first != "die" &&
		slices.ContainsFunc(ws[i+1:min(len(ws), i+5)], finite)
}

// isPreterite reports whether a Spanish statement begins with a verb in the first person: "vendí la moto", "cerramos la tienda".
func (t *text) isPreterite(ws []word, i int) bool {
	if !t.quotesSpanish() || i > 3 || i > 0 && !clitics[t.folded(ws[i-1])] && t.folded(ws[i-1]) != "me" && t.folded(ws[i-1]) != "nos" {
		return false
	}
	f := t.folded(ws[i])
	last := t.runes[ws[i].to-1]
	return len(f) > 3 && (hasAnySuffix(f, "amos", "emos", "imos") || last == 'é' || last == 'í')
}

// isAuxiliary reports whether word i is "a" or "he" before a participle: "on a remplacé", "me han echado".
func (t *text) isAuxiliary(ws []word, i int) bool {
	if i+1 >= len(ws) {
		return false
	}
	f, next := t.folded(ws[i]), t.folded(ws[i+1])
	if t.quotesSpanish() {
		return spanishHave[f] && hasAnySuffix(next, "ado", "ido", "cho", "sto", "rto", "elto")
	}
	return f == "a" && t.quotesFrench() && i > 0 && (frenchSubjects[t.folded(ws[i-1])] || t.capital(ws[i-1].from))
}

var (
	spanishHave    = wordSet("he ha has han hemos")
	frenchSubjects = wordSet("on il elle ca m' qui")
)

// isNounBefore reports whether a verb form at the beginning is a noun, as a finite verb follows: "Rent went up".
func isNounBefore(t *text, ws []word, f string) bool {
	if len(ws) < 2 || !englishLemmas()[f] && !englishLemmas()[strings.TrimSuffix(f, "s")] {
		return false
	}
	next := t.folded(ws[1])
	return copulas[next] || next == "has" || verbForm(next) && !englishLemmas()[next]
}

// nominal are words before a noun, never before a finite verb.
var nominal = wordSet(`the a an my our his her their your of in at on for with to this that these those no
	der die das den dem des ein eine einen einem einer mein meine meinen meinem unser unsere unseren unserem kein keine keinen im am zum zur
	le la les l' un une des du mon ma mes notre nos son sa ses au aux de
	el los las una unos mi mis nuestro nuestra su sus del al en con por para`)

// afterNominal reports whether a word before a verb form shows that it is a noun. The French "on" does not.
func (t *text) afterNominal(before, f string) bool {
	if before == "son" && !t.quotesFrench() {
		return false // an English noun, a French pronoun
	}
	return (nominal[before] || strings.HasSuffix(before, "'s") && !contracted[before]) &&
		(before != "on" || englishBase(strings.TrimSuffix(f, "s")))
}

// afterClitic reports whether a pronoun stands between a noun and a verb: "las pruebas las hace Kepa".
func afterClitic(t *text, ws []word, i int) bool {
	return i > 1 && clitics[t.folded(ws[i-1])] && isContent(t.folded(ws[i-2])) && !verbForm(t.folded(ws[i-2]))
}

var clitics = wordSet("la las lo los le les")

// contracted are words with "is" or "has", which are no possessives.
var contracted = wordSet("it's he's she's that's there's what's who's here's let's where's how's everything's one's")
