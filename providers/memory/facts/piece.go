//nolint:misspell // some words are German, French and Spanish
package facts

import (
	"bytes"
	"slices"
	"strings"
)

// piece is a part of a sentence that states one thing: "I live in Bergen | and love sailing | and my boss is Petra".
type piece struct {
	from, to int // without the connector before it
	// subject holds the words of an earlier piece that are its subject, if it has none of its own. Its words of
	// reference ("she") are replaced if pronoun is set.
	subject string
	pronoun bool
	weak    bool // not worth remembering by itself
}

// pieceReader finds the pieces of a sentence.
type pieceReader struct {
	t  *text
	ws []word
	f  []string // the folded words
	// loose also cuts before parts without a verb, for comparing; orders also before another order.
	loose, orders bool
}

func newPieceReader(t *text, from, to int) pieceReader {
	r := pieceReader{t: t, ws: t.words(from, to)}
	for _, w := range r.ws {
		r.f = append(r.f, t.folded(w))
	}
	return r
}

// pieces splits a sentence. It cuts only before a part that has a verb, or that repeats the form of the part
// before it, and behind a part that has a verb.
func (t *text) pieces(from, to int, loose, orders bool) []piece {
	r := newPieceReader(t, from, to)
	r.loose, r.orders = loose, orders
	if len(r.ws) == 0 {
		return []piece{{from: from, to: to}}
	}
	var out []piece
	start := 0 // the first word of the current piece
	current := piece{from: from}
	last := "" // the subject of the piece before, for parts without one
	for k := 1; k < len(r.ws); k++ {
		joined := (r.joins(k-1) || r.loose && r.follows(k)) && k-1 > start
		if !joined && !r.parted(k) || r.joins(k) {
			continue
		}
		end := k
		if joined {
			end = k - 1
		}
		loose := r.loose && r.looseCut(start, end, k, joined) || r.orders && end-start > 1 && (r.orderAt(k) || joined && without[r.f[k]])
		if !loose && !r.hasVerb(start, end) && !r.relative(start, end) {
			continue
		}
		subject := r.subject(start, end)
		if subject == "" {
			subject = last
		}
		next, ok := r.begins(start, end, k, subject, joined)
		if !ok && !loose {
			continue
		}
		current.to = r.ws[end-1].to
		out = append(out, current)
		if next.from = r.ws[k].from; currencySign(r.t.runes[next.from-1]) {
			next.from--
		}
		current, start, last = next, k, subject
	}
	current.to = to
	return append(out, current)
}

// joins reports whether word k joins two parts. The French "plus" of "je ne suis plus" and "en plus" does not.
func (r *pieceReader) joins(k int) bool {
	if r.f[k] != "plus" || !r.loose {
		return joiners[r.f[k]]
	}
	if k > 0 && (r.f[k-1] == "en" || r.f[k-1] == "de" || definite[r.f[k-1]]) {
		return false
	}
	return !slices.ContainsFunc(r.f[max(0, k-4):k], func(f string) bool {
		return f == "ne" || f == "je" || f == "on" || strings.HasPrefix(f, "n'") || strings.HasPrefix(f, "j'")
	})
}

// therefore are the words before a consequence: "the band split, so I have time".
var therefore = wordSet("so donc deshalb daher deswegen")

// saying are verbs whose object clause begins with a word of that: "the doctor says that Theo is fine".
var (
	saying = wordSet("says said sagt sagte meint dit dice dijo")
	that   = wordSet("that dass que")
)

// follows reports whether word k begins a consequence, or what somebody says: "the band split, so I have time".
func (r *pieceReader) follows(k int) bool {
	if !therefore[r.f[k-1]] && !(that[r.f[k-1]] && k > 1 && saying[r.f[k-2]]) {
		return false
	}
	switch {
	case nominatives[r.f[k]], that[r.f[k-1]] && r.t.capital(r.ws[k].from):
		return true
	case k+1 == len(r.ws):
		return false
	}
	return r.f[k] == "the" && (r.f[k+1] == "user" || r.f[k+1] == "user's") || r.finite(k) != "" && inverted[r.f[k+1]] != aThing
}

// looseCut reports whether a part may be obsolete by itself, whatever its verb.
func (r *pieceReader) looseCut(start, end, k int, joined bool) bool {
	stop := r.stop(k)
	if stop-k < 2 || end-start < 2 || within[r.f[k]] || of[r.f[k]] {
		return false
	}
	f := r.f[k]
	return !joined || r.parted(end) || end-start > 2 && (prepositional[f] || nominal[f] || dayWords[f] || f[0] <= '9' || r.hasVerb(k, stop))
}

// orderAt reports whether an order begins at word k: "and please sign my mails".
func (r *pieceReader) orderAt(k int) bool {
	first := k
	for first < len(r.ws)-1 && first-k < 2 && (adverbs[r.f[first]] || polite[r.f[first]]) {
		first++
	}
	return first+1 < r.stop(first) && imperatives[r.f[first]]
}

// without are words before what an order rules out.
var without = wordSet("without no never sans jamais sin nunca ohne kein keine keinen")

var polite = wordSet("please bitte don't dont do veuillez merci favor")

// imperatives are the verbs with which orders to an assistant begin.
var imperatives = wordSet(`add address always answer ask avoid be begin call check cite convert cut don't double draft drop end explain
	finish format give include keep leave let limit list make mark mention name never note offer open order post prefix print put quote
	read remind render reply respond round run save send set show sign skip sort speak spell start state stick stop suggest summarise
	summarize switch take tell translate treat use warn wrap write
	antworte beginne benutze bleib erklare erklar fang fass fasse formatiere formuliere frag frage fuge gib halte halt hang hange kurze
	lass lasse liefere liste mach mache markiere nenne nenn nimm nutze nutz pruf prufe rechne red rede runde sag sage schick schicke
	schreib schreibe setz setze sprich stell stelle ubersetz ubersetze unterschreib unterschreibe vermeide verwende verzichte warne zeig
	zeige zitiere duz duze siez sieze
	abrege ajoute ajoutez appelle appelez arrete arretez arrondis cite citez commence commencez convertis corrige corrigez demande
	demandez dis donne donnez ecris ecrivez emploie employez evite evitez explique expliquez fais faites finis garde gardez indente
	indique laisse mets mettez montre montrez ne parle parlez precise precisez prends propose relis remplace reponds repondez reste resume
	saute signe signez supprime termine terminez traduis traite tutoie tutoyez utilise utilisez verifie verifiez vouvoie vouvoyez
	anade avisa avisame cita comienza contesta contestame convierte corrige corrigeme cuenta dame deja di dime empieza escribe escribeme
	evita explica explicame firma habla hablame haz hazme incluye indica llama llamame manten muestra muestrame no ordena pide pon ponme
	pregunta preguntame prueba quita recuerda recuerdame redondea responde respondeme resume revisa saluda separa sugiere termina traduce
	trata tratame tutea tuteame usa utiliza verifica`)

// joiners are the words that join the parts of a sentence.
var joiners = wordSet("and und et y e but aber mais pero plus sowie also")

// parted reports whether a mark separates word k from the one before.
func (r *pieceReader) parted(k int) bool {
	gap := r.t.fold[r.ws[k-1].to:r.ws[k].from]
	if len(gap) == 1 && r.f[k-1][0] <= '9' && r.f[k][0] <= '9' {
		return false // "1,240"
	}
	return bytes.IndexByte(gap, ',') >= 0 || bytes.Contains(gap, []byte(" - ")) || bytes.IndexByte(gap, ';') >= 0
}

// finite returns the first form of the verb that word k is, or "".
func (r *pieceReader) finite(k int) string {
	f := r.f[k]
	if len(f) > 2 && f[1] == '\'' && (f[0] == 'j' || f[0] == 'n') {
		f = f[2:]
	}
	f = strings.TrimSuffix(f, "n't")
	lemma := verbs()[f]
	if lemma == "" && copulas[r.f[k]] {
		lemma = "be"
	}
	if lemma == "" && (strings.HasSuffix(f, "iere") || strings.HasSuffix(f, "iert")) && !r.t.capital(r.ws[k].from) {
		lemma = f
	}
	if auxiliaries[f] {
		lemma = "aux"
	}
	if lemma == "" || k > 0 && r.t.afterNominal(r.f[k-1], f) || r.t.capital(r.ws[k].from) && k > 0 {
		return ""
	}
	return lemma
}

// auxiliaries begin a predicate, too.
var auxiliaries = wordSet(`can can't cannot will won't must should could would may might do does did don't doesn't didn't don doesn
	didn has hasn have haven ca
	kann darf muss soll wird werden wurde hat haben habe hab peux peut doit dois va vais puedo puede debo debe ha he hemos`)

// hasVerb reports whether a verb, or "I'm", is among the words.
func (r *pieceReader) hasVerb(from, to int) bool {
	for k := from; k < to; k++ {
		if r.finite(k) != "" || r.contracted(k) || r.spanishVerb(k) {
			return true
		}
	}
	return false
}

// contracted reports whether word k is a pronoun with a verb: "I'm".
func (r *pieceReader) contracted(k int) bool {
	f := r.f[k]
	if f == "im" { // a German preposition before a noun
		return k+1 < len(r.ws) && !r.t.capital(r.ws[k+1].from)
	}
	return strings.HasPrefix(f, "j'") || hasAnySuffix(f, "'m", "'re", "'ve", "'ll", "'d") || f == "ive" || f == "he's" ||
		f == "she's" || f == "it's" ||
		f == "c'est"
}

// relative reports whether words without a verb are about a relative: "my brother a Volvo".
func (r *pieceReader) relative(from, to int) bool {
	return to-from > 2 && (ownWord[r.f[from]] || r.f[from] == "our") && kin[r.f[from+1]]
}

// spanishVerb reports whether a word looks like a Spanish verb in the first person before its complement.
func (r *pieceReader) spanishVerb(k int) bool {
	f := r.f[k]
	if len(f) < 4 || !(hasAnySuffix(f, "amos", "emos", "imos") || strings.HasSuffix(f, "o") && k+1 < len(r.ws) && complements[r.f[k+1]]) {
		return false
	}
	return !r.t.capital(r.ws[k].from) && (k == 0 || !r.t.afterNominal(r.f[k-1], f))
}

var complements = wordSet("en el la los las un una a con mi mis por como todos cada poco mucho al de del para")

// nominatives are pronouns that are subjects.
var nominatives = wordSet(`i i'm im i've ive i'll i'd we we're we've we'll he he's she she's they they're it it's
	ich wir er sie es je j'ai j'habite j'utilise j'adore j'aime nous il elle on ils elles yo nosotros ella ellos c'est`)

// begins reports whether word k begins a piece, after one from start to end with the given subject.
func (r *pieceReader) begins(start, end, k int, subject string, joined bool) (piece, bool) {
	if within[r.f[k]] || r.t.fold[r.ws[k].from] >= '0' && r.t.fold[r.ws[k].from] <= '9' && !r.counts(k) {
		return piece{}, false
	}
	stop := r.stop(k)
	verb := -1
	for j := k; j < min(stop, k+6); j++ {
		if r.finite(j) != "" || r.contracted(j) || r.spanishVerb(j) {
			verb = j
			break
		}
		if within[r.f[j]] && j > k {
			break
		}
	}
	first := k
	for first < stop && adverbs[r.f[first]] && first-k < 2 {
		first++
	}
	switch {
	case verb < 0 && r.loose && stop-first > 2 && nominatives[r.f[first]] && !thirdPerson[r.f[first]]:
		return piece{}, true // a verb that is not known
	case verb < 0:
		return piece{}, r.elliptic(start, end, k, stop)
	case pointing[r.f[first]] && r.f[first] != "you", r.f[first] == "they", r.f[first] == "it's":
		return piece{}, false // it means something of the part before
	case nominatives[r.f[first]]:
		p := piece{}
		if thirdPerson[r.f[first]] && subject != "" && !nominatives[strings.ToLower(subject)] && r.f[start] != r.f[first] && first == k {
			p.subject, p.pronoun = subject, true
		}
		return p, true
	case verb == first && stop-verb > 2 && (copulas[r.f[verb+1]] || auxiliaries[r.f[verb+1]]):
		return piece{}, true // "releases are cut"
	case verb == first && stop-verb > 1:
		if r.personal(verb) {
			return piece{}, true
		}
		if subject == "" && !r.imperative(start) {
			return piece{}, joined
		}
		return piece{subject: subject}, r.agrees(start, end, verb, subject)
	case verb+1 < stop && (nominatives[r.f[verb+1]] || r.f[verb+1] == "bei"): // "Kaffee vertrag ich nicht"
		return piece{}, true
	case verb > first:
		// A subject of its own: no preposition before the verb, except between nouns.
		if prepositional[r.f[first]] {
			return piece{}, nominatives[r.f[verb-1]]
		}
		return piece{}, stop-verb > 1
	}
	return piece{}, false
}

// personal reports whether a Spanish verb needs no subject.
func (r *pieceReader) personal(k int) bool {
	f := r.f[k]
	return r.spanishVerb(k) || f == "soy" || f == "estoy" || f == "voy" || f == "doy" || strings.HasSuffix(f, "mos") ||
		strings.HasSuffix(f, "o") && verbForm(f) && !englishBase(f)
}

// counts reports whether a number begins a part such as "2 kids".
func (r *pieceReader) counts(k int) bool { return k+1 < len(r.ws) && r.stop(k)-k <= 3 }

// within begins a part that belongs to the part before: a relative clause, a reason, an infinitive.
var within = wordSet(`who which that whose whom where when while because since cause as than if unless so like such to for of though
	although until before after
	or nor not mostly including especially even
	weil dass ob wenn als wie damit sodass denn falls welche welcher welches wo bis obwohl also oder sondern nicht
	qui que quand parce car comme si dont ou lorsque donc puisque sauf
	quien cuando porque como si donde aunque asi pues sino ni o`)

// adverbs may stand before the verb of a part.
var adverbs = wordSet(`also now then still just always never usually often only mostly currently sometimes recently finally even
	auch jetzt dann noch immer nie oft nur gern gerade inzwischen nun
	aussi maintenant encore toujours jamais surtout tambien ahora aun siempre nunca casi solo`)

// prepositional words begin an adverbial, not a subject.
var prepositional = wordSet(`in at on for with from by of to about into over under near behind since until after before during without
	im am an auf in bei mit von zu zum zur nach seit bis aus fur uber unter ohne vor
	a au aux en dans chez avec pour sur depuis sans de du des par con por para desde sin sobre`)

// stop returns the index of the first word of the next part that a mark or a joiner separates.
func (r *pieceReader) stop(k int) int {
	for j := k + 1; j < len(r.ws); j++ {
		if r.parted(j) || r.joins(j) {
			return j
		}
	}
	return len(r.ws)
}

// subject returns the words before the verb of a piece.
func (r *pieceReader) subject(start, end int) string {
	at := start
	for at < end && (fillers[r.f[at]] || adverbs[r.f[at]]) {
		at++
	}
	for k := at; k < end; k++ {
		if r.contracted(k) {
			return pronounOf(r.f[k])
		}
		if r.finite(k) == "" && !r.spanishVerb(k) {
			continue
		}
		if k+1 < end && inverted[r.f[k+1]] != aThing {
			return r.f[k+1]
		}
		if k == at || prepositional[r.f[at]] && !nominatives[r.f[k-1]] {
			return ""
		}
		if prepositional[r.f[at]] || nominatives[r.f[k-1]] {
			at = k - 1
		}
		for k > at && adverbs[r.f[k-1]] {
			k--
		}
		if k == at {
			return ""
		}
		return r.t.quote(r.ws[at].from, r.ws[k-1].to)
	}
	return ""
}

// pronounOf returns the pronoun of a contraction.
func pronounOf(f string) string {
	switch {
	case strings.HasPrefix(f, "i"):
		if strings.HasPrefix(f, "it") {
			return "it"
		}
		return "I"
	case strings.HasPrefix(f, "j'"):
		return "je"
	case f == "c'est":
		return ""
	}
	before, _, _ := strings.Cut(f, "'")
	return before
}

// imperative reports whether a piece begins with an order.
func (r *pieceReader) imperative(start int) bool {
	for k := start; k < min(start+4, len(r.ws)); k++ {
		if verbLike[r.f[k]] || r.finite(k) != "" {
			return true
		}
	}
	return false
}

// agrees reports whether the verb can have the subject of the piece before, and does not depend on a verb there
// ("I want to stay and work").
func (r *pieceReader) agrees(start, end, verb int, subject string) bool {
	for k := start; k < end; k++ {
		if k > start && r.f[k-1] == "to" && verbForm(r.f[k]) || modals[r.f[k]] || infinitives[r.f[k]] ||
			strings.HasSuffix(r.f[k], "n't") && englishBase(r.f[verb]) {
			return false
		}
	}
	f, low := r.f[verb], strings.ToLower(subject)
	third := strings.HasSuffix(f, "s") && !hasAnySuffix(f, "ss", "us", "is") && englishBase(strings.TrimSuffix(f, "s")) ||
		f == "has" || f == "is" || f == "does"
	switch low {
	case "i", "we", "they":
		return !third
	case "ich", "je", "yo":
		return !strings.HasSuffix(f, "en")
	case "":
		return true
	}
	return third || !englishBase(f) || pastVerb(f) || strings.Contains(low, " and ")
}

// englishBase reports whether a word is the first form of an English verb.
func englishBase(f string) bool { return englishLemmas()[f] }

// infinitives are verbs that take another verb.
var infinitives = wordSet("muss mussen soll sollen will wollen kann konnen darf durfen mochte werde wird werden wurde veux peux " +
	"dois vais quiero puedo voy debo")

// elliptic reports whether words without a verb state something like the piece before: they repeat its
// preposition ("api runs on kestrel, staging on merlin"), are about a relative, or count something.
func (r *pieceReader) elliptic(start, end, k, stop int) bool {
	if stop-k < 2 || stop-k > 6 {
		return false
	}
	if r.loose && !joiners[r.f[k-1]] && !prepositional[r.f[k]] && !dayWords[r.f[k]] && r.f[k][0] > '9' {
		return true
	}
	if ownWord[r.f[k]] || r.f[k] == "our" {
		return r.relative(k, stop)
	}
	if r.f[k] == "no" && r.f[k+1] == "longer" || counting[r.f[k]] && len(r.f[k+1]) > 2 && stop-k <= 3 {
		return true
	}
	if nominal[r.f[k]] || prepositional[r.f[k]] || adverbs[r.f[k]] {
		return false
	}
	for j := k + 1; j < stop-1; j++ {
		if prepositional[r.f[j]] && slices.Contains(r.f[start:end], r.f[j]) && !of[r.f[j]] {
			return true
		}
	}
	return false
}

var (
	of       = wordSet("of de du des von del d'")
	counting = wordSet("two three four five six zwei drei vier funf deux trois quatre cinq dos tres cuatro cinco 2 3 4 5 6")
)

// words returns the words of a piece with their subject.
func (p piece) words(own string) string {
	if p.subject == "" || strings.HasPrefix(own, "j'") || strings.HasPrefix(own, "j’") {
		return own
	}
	if p.pronoun {
		first, rest, _ := strings.Cut(own, " ")
		if strings.ContainsAny(first, "'’") {
			return p.subject + " is " + rest
		}
		return p.subject + " " + rest
	}
	return p.subject + " " + own
}
