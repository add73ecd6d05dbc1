package facts

import (
	"slices"
	"strings"
)

// said is how much a plain statement says.
type said uint8

const (
	nothing   said = iota // it is no plain statement
	something             // it may be about the moment
	concrete              // it names somebody, a thing or a day, or denies
)

// plain reports whether a piece is a plain statement about the speaker, their things or their people: a known
// subject, a verb that describes a lasting state, and something that it says.
func (e *extractor) plain(x piece) said {
	r := newPieceReader(e.t, x.from, x.to)
	if len(r.ws) < 2 || len(r.ws) > 30 {
		return nothing
	}
	at := 0
	for at < len(r.f)-1 && (fillers[r.f[at]] || adverbs[r.f[at]] || joiners[r.f[at]]) {
		at++
	}
	verb := -1
	for k := at; k < min(len(r.f), at+7); k++ {
		if vague[r.f[k]] || within[r.f[k]] {
			return nothing
		}
		if r.finite(k) != "" || r.contracted(k) || r.spanishVerb(k) {
			verb = k
			break
		}
	}
	if verb < 0 || verb > at && (verbLike[r.f[at]] || r.led(at, verb)) {
		return nothing
	}
	if !r.known(at, verb, x.subject) || !r.lasting(verb) || !r.saysMore(verb) {
		return nothing
	}
	switch {
	case r.specific(verb):
		return concrete
	case r.past(verb):
		return nothing
	case slices.ContainsFunc(r.f, func(f string) bool { return denials[f] || strings.HasSuffix(f, "n't") }), r.named(at, verb):
		return concrete
	}
	return something
}

// named reports whether a subject is a name, or a thing or person of the speaker.
func (r *pieceReader) named(at, verb int) bool {
	return verb > at && (ownWord[r.f[at]] || teamWords[r.f[at]] || r.t.capital(r.ws[at].from) && at > 0 && !function[r.f[at]])
}

// led reports whether words that are neither a time nor a place stand before a mark and the subject: "one moment, I'm".
func (r *pieceReader) led(at, verb int) bool {
	if prepositional[r.f[at]] || dayWords[r.f[at]] || r.f[at][0] <= '9' {
		return false
	}
	for k := at + 1; k <= verb; k++ {
		if r.parted(k) {
			return true
		}
	}
	return false
}

// past reports whether the verb tells of something done, not of something that is.
func (r *pieceReader) past(verb int) bool {
	f := r.f[verb]
	return f != "was" && f != "were" && pastVerb(f) || hasAnySuffix(f, "'ve", "ive") || f == "have" && pastVerb(r.next(verb)) ||
		f == "haven't"
}

// known reports whether the subject of a statement is known: the speaker, their things and people, or a name.
func (r *pieceReader) known(at, verb int, carried string) bool {
	if r.contracted(verb) && nominatives[r.f[verb]] {
		return !thirdPerson[r.f[verb]] && !momentary[r.f[verb]]
	}
	for _, k := range [...]int{verb + 1, verb + 2} {
		if k < len(r.f) && inverted[r.f[k]] != aThing {
			return true
		}
	}
	if r.personal(verb) {
		return true
	}
	first, _, _ := strings.Cut(strings.ToLower(carried), " ")
	own := func(f string) bool {
		return firstSingular[f] || firstPlural[f] || ownWord[f] || teamWords[f] || f == "on"
	}
	for k := at; k < verb; k++ {
		if own(r.f[k]) {
			return true
		}
	}
	switch {
	case own(first) && verb == at:
		return true
	case verb > at && r.t.capital(r.ws[at].from) && !function[r.f[at]] && !dayWords[r.f[at]] && (at > 0 || verb-at <= 2):
		return true // a name
	case verb > at+1 && definite[r.f[at]]:
		return r.specific(verb)
	}
	return carried != "" && verb == at && !r.t.capital(r.ws[verb].from) && !pointing[first] && !thirdPerson[first] && !vague[first]
}

// specific reports whether a name or a number follows the verb.
func (r *pieceReader) specific(verb int) bool {
	for k := verb + 1; k < len(r.f); k++ {
		if r.t.capital(r.ws[k].from) && !firstSingular[r.f[k]] && r.f[k] != "i" || r.f[k][0] >= '0' && r.f[k][0] <= '9' ||
			dayWords[r.f[k]] {
			return true
		}
	}
	return false
}

// lasting reports whether the verb of a statement describes something that lasts.
func (r *pieceReader) lasting(verb int) bool {
	lemma := r.finite(verb)
	if r.contracted(verb) {
		lemma = "be"
	}
	if k := verb + 1; lemma == "be" && k < len(r.f) { // "I'm looking at a trace"
		base, ok := strings.CutSuffix(r.f[k], "ing")
		if ok && (fleeting[base] || fleeting[base+"e"] || len(base) > 2 && fleeting[base[:len(base)-1]]) {
			return false
		}
	}
	for k := verb + 1; lemma == "aux" && k < min(len(r.f), verb+4); k++ {
		if l := r.finite(k); l != "" && l != "aux" {
			lemma = l
		}
	}
	return !fleeting[lemma]
}

// momentary are contractions that tell of the conversation or a wish.
var momentary = wordSet("it's c'est i'd we'd")

// fleeting verbs tell of thoughts and moments.
var fleeting = wordSet(`think hope say tell ask feel seem look see find know try want give put let come take make guess mean wonder
	need stand hurt
	get aux show open try start stare write read debug click check wait fix set turn bring pick happen find will kann konnte quiero
		puedo vais muss darf`)

// vague words show that a statement is about the conversation, or about a moment.
var vague = wordSet(`someone somebody people everyone everybody anyone jemand leute alle quelqu'un alguien gente this that these those
	it you your yours he she they there here what which who how why
	dies diese dieser dieses das du dein deine ihr es er sie man
	ce cette ces ca tu ton ta tes vous votre vos il elle c'est
	esto esta este eso esa ese tu tus usted le`)

// moods describe a moment.
var moods = wordSet(`rather proud quite really basically honestly literally better worse fun weird crazy point
	tired stuck sure ready confused sorry happy glad lost late busy curious fine ok okay sad bored excited done afraid broken wrong
	good bad great nice slow error errors bug bugs problem problems trouble issue issues question questions today tonight yesterday
	mude sicher fertig froh spat kaputt fehler problem probleme frage fragen heute gestern
	fatigue sur sure pret desole content perdu retard erreur probleme question aujourd'hui hier
	cansado seguro listo perdido tarde error problema pregunta hoy ayer`)

// saysMore reports whether something lasting follows the verb, or precedes it ("coffee I do not drink").
func (r *pieceReader) saysMore(verb int) bool {
	n := 0
	for k, f := range r.f {
		switch {
		case k == verb:
		case moods[f] || k > verb && vague[f] && k <= verb+2:
			return false
		case isContent(f) || dayWords[f] || topicWords[f] != "":
			if k > verb || k < verb && inverted[r.next(verb)] != aThing {
				n++
			}
		}
	}
	return n > 0
}

func (r *pieceReader) next(k int) string {
	if k+1 < len(r.f) {
		return r.f[k+1]
	}
	return ""
}
