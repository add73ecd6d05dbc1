package facts

import "strings"

// plain reports whether a piece is a plain statement about the speaker, their things or their people: a known
// subject, a verb that describes a lasting state, and something that it says.
func (e *extractor) plain(x piece) bool {
	r := pieceReader{t: e.t, ws: e.t.words(x.from, x.to)}
	if len(r.ws) < 2 || len(r.ws) > 30 {
		return false
	}
	for _, w := range r.ws {
		r.f = append(r.f, e.t.folded(w))
	}
	at := 0
	for at < len(r.f)-1 && (fillers[r.f[at]] || adverbs[r.f[at]] || joiners[r.f[at]]) {
		at++
	}
	verb := -1
	for k := at; k < min(len(r.f), at+7); k++ {
		if vague[r.f[k]] {
			return false
		}
		if r.finite(k) != "" || contracted(r.f[k]) || r.spanishVerb(k) {
			verb = k
			break
		}
	}
	if verb < 0 {
		return false
	}
	return r.known(at, verb, x.subject) && r.lasting(verb) && r.saysMore(verb)
}

// known reports whether the subject of a statement is known: the speaker, their things and people, or a name.
func (r *pieceReader) known(at, verb int, carried string) bool {
	if contracted(r.f[verb]) && nominatives[r.f[verb]] {
		return !thirdPerson[r.f[verb]]
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
	return carried != "" && verb == at && !r.t.capital(r.ws[verb].from) && !pointing[first] && !thirdPerson[first]
}

// specific reports whether a name or a number follows the verb.
func (r *pieceReader) specific(verb int) bool {
	for k := verb + 1; k < len(r.f); k++ {
		if r.t.capital(r.ws[k].from) && !firstSingular[r.f[k]] || r.f[k][0] >= '0' && r.f[k][0] <= '9' || dayWords[r.f[k]] {
			return true
		}
	}
	return false
}

// lasting reports whether the verb of a statement describes something that lasts.
func (r *pieceReader) lasting(verb int) bool {
	lemma := r.finite(verb)
	if contracted(r.f[verb]) {
		lemma = "be"
	}
	for k := verb + 1; lemma == "aux" && k < min(len(r.f), verb+4); k++ {
		if l := r.finite(k); l != "" && l != "aux" {
			lemma = l
		}
	}
	return !fleeting[lemma]
}

// fleeting verbs tell of thoughts and moments.
var fleeting = wordSet(`think hope say tell ask feel seem look see find know try want give put let come take make guess mean wonder need stand hurt
	get aux show get set turn bring pick happen find will kann konnte quiero puedo vais muss darf`)

// vague words show that a statement is about the conversation, or about a moment.
var vague = wordSet(`this that these those it you your yours he she they there here what which who how why
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
