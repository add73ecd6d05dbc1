//nolint:misspell // many words are German, French and Spanish
package facts

import "slices"

// readTopics adds the topics that several words of a statement show together: a rented flat, an employer, an occupation.
func (s *statement) readTopics() {
	t, ws := s.source, s.ws
	for _, w := range ws {
		if homeNouns[t.folded(w)] && renting[s.verb] && s.owner != aPerson {
			s.topics["home"] = true
		}
	}
	if s.owner == theUser && s.engaged() {
		s.topics["work"] = true
	}
}

// employer reports whether an employer stands behind preposition i: "at Acme", "started at the post office".
func (s *statement) employer(i int) bool {
	t, ws := s.source, s.ws
	if i+1 < len(ws) && t.capital(ws[i+1].from) {
		return true
	}
	if s.verb == "be" || i+2 >= len(ws) || !definite[t.folded(ws[i+1])] && t.folded(ws[i+1]) != "a" {
		return false
	}
	f := t.folded(ws[i+2])
	return workVerbs[s.verb] && isContent(f) && !timeUnits[f] && !dayWords[f] && !seasons[f] && !workless[f]
}

// occupation returns the occupation that a statement gives the user, or "": "is a nurse", "soy camarera".
func (s *statement) occupation() string {
	if s.owner != theUser || s.verb != "" || s.denies {
		return ""
	}
	copula, article := false, s.quoted && !s.source.quotesEnglish()
	for _, w := range s.ws {
		f := s.source.folded(w)
		switch {
		case copulas[f] || f == "bin":
			copula = true
		case !copula || isCue(f) && cueWords[f] == cueNow || adverbs[f]:
		case indefinite[f]:
			article = true
		case (article || trained[f]) && isContent(f) && !noTrades[f] && (trained[f] || hasAnySuffix(f, tradeEndings...)):
			return f
		default:
			return ""
		}
	}
	return ""
}

var (
	homeNouns = wordSet(`flat flats apartment apartments house room studio bungalow cottage wohnung haus zimmer wg bude
		appart appartement maison chambre piso casa habitacion departamento`)
	renting    = wordSet("rent share live miet teil partage loue alquilo comparto")
	indefinite = wordSet("a an ein eine un une una")
	// workless follow "started at" and are no employer.
	workless = wordSet("end beginning start bottom top gym weekend school age")
	trained  = wordSet(`nurse chef cook pilot vet clerk judge coach guide paramedic midwife accountant assistant architect lawyer
		attorney artist soldier priest koch arzt arztin anwalt anwaltin pfleger krankenpfleger kaufmann kauffrau
		medecin avocat avocate prof professeur infirmier comptable medico medica abogado abogada profe policia chef cheffe`)
	tradeEndings = []string{
		"er", "or", "ist", "ian", "smith", "erin", "orin", "istin", "eur", "euse", "ier", "iere", "iste", "ien", "ienne", "ero", "era",
		"ista", "dor", "dora", "ologo", "ologa",
	}
	// noTrades end like an occupation.
	noTrades = wordSet(`vegetarian pescatarian mother father brother sister mutter vater bruder schwester member beginner older younger
		eager under over never ever bigger better after other together lover sober former former fighter hier dernier premier derniere
		premiere soltero soltera primero primera entero mejor mayor menor runner swimmer cyclist climber gamer smoker vegetarier
		vegetarierin anfanger anfangerin later lieber sicher immer mieter mieterin owner outsider loner christian italian hungarian
		norwegian canadian australian brazilian russian belgian egyptian indian asian amateur veteran`)
)

// anotherOfTopic reports whether the user has a new job or a new home, or another occupation or employer than before.
func anotherOfTopic(n, o *statement) bool {
	c := n.changes()
	if !mine(n) || !mine(o) || n.denies || o.denies || c.says(cueAlso, cueAdd, cueStay) {
		return false
	}
	if o.topics["work"] && (n.newOne("work") || n.topics["work"] && c.says(cueNow, cueBecome) && n.engaged() && o.engaged()) {
		return true
	}
	return o.topics["home"] && n.newOne("home")
}

// promotes reports whether a statement says that the user, with an occupation so far, got another position: "they promoted me".
func promotes(n, o *statement) bool {
	return o.occupation() != "" && (mine(n) || n.actsOnUser()) && (n.hasAny(promotions) || n.madeOf())
}

// madeOf reports whether a Spanish statement names a new position of the user: "me hicieron encargado".
func (s *statement) madeOf() bool {
	return len(s.ws) > 2 && s.source.folded(s.ws[0]) == "me" && s.source.folded(s.ws[1]) == "hicieron" && !nominal[s.source.folded(s.ws[2])]
}

var promotions = wordSet(`promoted demoted appointed befordert ernannt promu promue nommee retrogradee ascendieron ascendido
	ascendida ascendi nombraron`)

// otherInOwnRole returns the stem of the older name, if both statements name a person in a role for the user, and it is another one
// now: "Dele is the user's partner".
func otherInOwnRole(n, o *statement) string {
	if !n.changes().says(cueNow) || n.form() != nominalForm || n.owner != aPerson || !mine(o) {
		return ""
	}
	for i := n.verbAt + 1; i+1 < len(n.ws); i++ {
		if f := n.source.folded(n.ws[i]); f != "user's" && !ownWord[f] {
			continue
		}
		role := n.source.folded(n.ws[i+1])
		for j := 1; j+1 < len(o.ws); j++ {
			if own := o.source.folded(o.ws[j-1]); o.source.folded(o.ws[j]) == role && (own == "user's" || ownWord[own]) &&
				o.source.capital(o.ws[j+1].from) {
				return stem(o.source.folded(o.ws[j+1]))
			}
		}
	}
	return ""
}

// otherPlace returns the stem of the older employer, if the newer statement names only another one: "is a nurse at St Olave's" and
// "works at the hospice now". What the user does there stays.
func otherPlace(n, o *statement) string {
	if !n.topics["work"] || !o.topics["work"] || n.occupation() != "" || n.hasAny(roles) {
		return ""
	}
	for i := 1; i+1 < len(o.ws); i++ {
		if !employing[o.source.folded(o.ws[i])] {
			continue
		}
		for _, w := range o.ws[i+1 : min(len(o.ws), i+4)] {
			if f := o.source.folded(w); isContent(f) && !n.has(term{stem: stem(f)}) {
				return stem(f)
			}
		}
	}
	return ""
}

// roles stand before what somebody works as.
var roles = wordSet("as als comme como de")

// engaged reports whether a statement names the occupation or the employer of the user.
func (s *statement) engaged() bool {
	if s.occupation() != "" {
		return true
	}
	for i, w := range s.ws {
		if employing[s.source.folded(w)] && (s.verb == "" || workVerbs[s.verb]) && s.employer(i) {
			return true
		}
	}
	return false
}

// newOne reports whether the user has a new thing of a topic, or changed it: "got a new job", "changed jobs".
func (s *statement) newOne(topic string) bool {
	if s.verb != "" && !obtaining[s.verb] && !taking[s.verb] {
		return false
	}
	noun := func(w word) bool { return topicNouns[topic][s.source.folded(w)] }
	for i := 0; i+1 < len(s.ws); i++ {
		f := s.source.folded(s.ws[i])
		if newWords[f] && noun(s.ws[i+1]) || topic == "work" && taking[f] && slices.ContainsFunc(s.ws[i+1:min(len(s.ws), i+3)], noun) {
			return true
		}
		if changedWords[f] && slices.ContainsFunc(s.ws[i+1:min(len(s.ws), i+3)], noun) {
			return true
		}
	}
	return false
}

var (
	obtaining    = wordSet("have get start find change switch hab ai tengo find move land")
	taking       = wordSet("take took accept accepted landed")
	newWords     = wordSet("new neue neuen neuer neues nouveau nouvel nouvelle nuevo nueva")
	changedWords = wordSet("changed switched gewechselt change cambiado cambie")
	topicNouns   = map[string]map[string]bool{
		"work": wordSet(`job jobs position employer stelle arbeit arbeitgeber boulot poste emploi taf travail boite
			trabajo curro empleo puesto`),
		"home": wordSet("flat apartment house place home wohnung bude haus appart appartement maison logement piso casa"),
	}
)
