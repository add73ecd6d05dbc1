//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"regexp"
	"strings"
)

// change is what a statement says about the validity of earlier ones.
type change struct {
	// now is set if the statement says that it holds from now on.
	now bool
	// doubt is set if it is a plan, a wish or a possibility.
	doubt bool
	// ahead is set if it is about the future.
	ahead bool
	// replaced holds the things that the statement replaces by something else, ended those that it declares over.
	replaced, ended []group
	// ends lists the topics that are over as a whole: "I quit my job".
	ends map[string]bool
}

// group is the content of the words for one thing.
type group struct {
	terms []term
	// state is set if the group is a whole state ("no longer live in Berlin"), not one thing.
	state bool
	// subject is set if the words are the grammatical subject of the statement: "yoga is pilates now".
	subject bool
}

// changePattern finds a change. Its group o matches the old thing, n the new one.
type changePattern struct {
	re *regexp.Regexp
	// over is set for an end without a successor, state for the end of a state.
	over, state, subject bool
}

var changeMacros = strings.NewReplacer(
	"{o}", `(?P<o>[^,;:.()"]{2,60}?)`, "{O}", `(?P<o>[^,;:()"]{2,60})`,
	"{n}", `(?P<n>[^,;:.()"]{2,60})`, " ", `\s+`, "{end}", `(?:$|[,;.()"]|\s(?:and|but|so|because|since|und|aber|weil|et|`+
		`mais|y|pero)\s)`,
)

func changePatterns(over, state, subject bool, patterns ...string) []changePattern {
	var out []changePattern
	for _, p := range patterns {
		out = append(out, changePattern{regexp.MustCompile(changeMacros.Replace(p)), over, state, subject})
	}
	return out
}

// replacing finds what is replaced by something else.
var replacing = changePatterns(false, false, false,
	// English
	`\b(?:replac(?:e|ed|es|ing)|swap(?:ped)?(?: out)?|exchanged|traded(?: in)?|ditched|dropped|dumped|`+
		`substituted) {o} (?:with|for|by|in favou?r of) {n}`,
	`\b(?:switch(?:ed|ing)?|mov(?:ed|ing|e)|migrat(?:ed|ing)|went|gone|chang(?:ed|ing)|converted|transitioned|`+
		`ported) (?:[a-z0-9'-]+ ){0,5}?from {o} (?:over )?to {n}`,
	`\b(?:instead of|in place of|rather than|no more) {O}`,
	`\b(?:took over|takes over|taken over|inherits?|inherited|taking over) (?:[a-z ]{0,30} )?from {o}(?: as [a-z -]+| on |`+
		` in |{end})`,
	`\b(?:succeed(?:s|ed)?|replac(?:es|ed)|replacing|steps? in for|stepped in for) {o}(?: as | on | in |{end})`,
	`\bhand(?:ed|ing)(?: over)? {o}(?: over| on)? to {n}`,
	`\bpass(?:ed|ing)(?: on)? {o}(?: on| over)? to {n}`,
	// German
	`\b(?:statt|anstatt|anstelle von|an stelle von) {o}(?: (?:kommt|nehmen|nutzen|nehme|nutze|gibt|ist|jetzt|nun|verwenden|`+
		`fahre|esse|trinke)\b|{end})`,
	`\bvon {o} (?:zu|auf|nach) {n} (?:[a-z0-9 ]* )?(?:gewechselt|umgestiegen|migriert|umgestellt|gezogen|umgezogen)`,
	`\b(?:ersetz(?:t|en)|abgelost|lost|ablost) {o} (?:durch|ab\b|mit )`,
	`\b{o} (?:wurde|wird|ist|haben wir|hat) (?:durch|von) {n} (?:ersetzt|abgelost)`,
	`\bersetzt {o}(?: als |{end})`,
	`\b(?:von|fur) {o} (?:hat |uber)?(?:ubernommen|ubernimmt)`,
	`\b(?:ubernimmt|ubernahm|ubernommen) [a-z ]*von {o}{end}`,
	// French
	`\b(?:pass(?:e|es|er|ons|ee?s?)|bascule|migre|change|quitte) (?:[a-z]+ )?de {o} (?:a|vers|pour|au) {n}`,
	`\b(?:remplace|remplaces|remplacons|remplacer|echange|troque) {o} (?:par|contre) {n}`,
	`\b(?:remplace|succede a|prend la place de|prend la suite de|a pris la suite de) {o}(?: comme |{end})`,
	`\b(?:au lieu de|a la place de|a la place d'|plutot que) ?{O}`,
	`\b{o} (?:est|a ete|sont|ont ete) remplacee?s? par {n}`,
	// Spanish
	`\b(?:cambi(?:e|amos|ado|o)|sustitu(?:i|imos|ido|yo)|reemplac(?:e|amos|o)|reemplazado) (?:a )?{o} por {n}`,
	`\b(?:pas(?:e|amos|ado)|migr(?:e|amos|ado)|cambi(?:e|amos|ado)) de {o} a {n}`,
	`\b(?:en lugar de|en vez de) {O}`,
	`\b(?:sustituye|reemplaza|releva|sustituyo|relevo) a {o}(?: como |{end})`,
)

// becoming finds a subject that is something else now: "yoga is pilates now".
var becoming = changePatterns(false, false, true,
	`^{o} (?:has given way to|have given way to|gave way to|(?:was|were|is|are|got|gets|has been|have been) replaced (?:by|`+
		`with)|made way for|made room for|became|turned into|has become) {n}`,
	`^{o} (?:is|are) {n} now\b`, `^{o} (?:is|are) now {n}`,
	`^{o} (?:ist|sind) (?:jetzt|nun|inzwischen|mittlerweile) {n}`, `^{o} (?:wurde|wurden|wird|werden) (?:durch|`+
		`von) {n} (?:ersetzt|abgelost)`,
	`^{o} (?:est devenue?|sont devenue?s|est maintenant|a laisse place a|a cede la place a) {n}`,
	`^{o} (?:es ahora|ahora es|paso a ser|ha pasado a ser|dio paso a|ha dado paso a) {n}`,
)

// ending finds a thing that is over.
var ending = changePatterns(true, false, false,
	// English
	`\b(?:stopped|stopping|quit|quitting|gave up|given up|giving up|cancell?ed|cancell?ing|abandoned|got rid of|sold|`+
		`selling|closed|shut down|`+
		`decommissioned|retired|unsubscribed from|left|resigned from|resigned as|broke up with|split (?:up )?(?:from|with)|`+
		`finished|done with|`+
		`dropped|ditched|discontinued|scrapped|deleted|removed|withdrew from|dropped out of|returned|gave away|given away|`+
		`terminated|ended|`+
		`stepped down (?:as|from)|over with|through with|kicked|turned off|switched off|tore down|buried|lost|forget(?: about)?|`+
		`separated from|divorced from|used to) {O}`,
	`\bput {o} to sleep`, `\bput {o} down{end}`, `\bshut {o} down`, `\bturned {o} off`, `\bgave {o} (?:up|`+
		`away)`, `\bhand(?:ed)? in {O}`,
	`^{o} (?:is|are|was|were|has been|have been|got|has|have) (?:gone|dead|history|no more|shut down|closed|cancelled|`+
		`canceled|over|discontinued|`+
		`dissolved|disbanded|decommissioned|deleted|sold|retired|terminated|scrapped|called off|out of the picture|died|`+
		`passed away|split up)\b`,
	`^{o} (?:split up|broke up|disbanded|died|passed away|went back|shut down|closed down|folded|fell through|ended|expired|`+
		`went bankrupt)\b`,
	`^{o} and (?:i|me) (?:broke up|split up|split|separated|divorced|parted)`, `\b(?:divorced|separated|split up|`+
		`broke up)\b.{0,30}?[, ] ?{o} and (?:i|me)\b`,
	// German
	`\b(?:mit )(?:dem |der |den )?{o} (?:aufgehort|schluss gemacht|schluss|fertig)\b`,
	`\b{o} (?:hab|habe|haben|hat|ist|sind|wurde|wurden|wird) (?:ich |wir |mein [a-z]+ )?(?:[a-z ]{0,20})?(?:abgebrochen|`+
		`gekundigt|verkauft|abgeschafft|abgemeldet|`+
		`aufgegeben|abgesagt|abgeschaltet|aufgelost|weggegeben|geschlossen|eingestellt|beendet|gestorben|verstorben|`+
		`eingeschlafert|weg|geschichte|tot)\b`,
	`\b(?:hab|habe|haben|hat) (?:ich |wir )?{o} (?:abgebrochen|gekundigt|verkauft|abgeschafft|aufgegeben|abgesagt|`+
		`abgeschaltet|weggegeben|geschlossen|`+
		`eingestellt|beendet|abbestellt|verschenkt|einschlafern lassen)\b`,
	`\b(?:kundige|verkaufe|schliesse) {o}{end}`, `^{o} (?:gibt es|gibt's) nicht mehr`, `\baus (?:dem |`+
		`der )?{o} (?:ausgetreten|ausgestiegen)`,
	`\b{o} und ich (?:haben uns getrennt|sind nicht mehr zusammen|haben schluss)`, `\bvon {o} (?:getrennt|scheiden|geschieden)`,
	// French
	`\b(?:arrete|arreter|abandonne|resilie|quitte|vendu|ferme|annule|supprime|donne|rendu|lache|stoppe|cesse|`+
		`demissionne) (?:de |d')?{O}`,
	`^{o} (?:j'ai|on a|nous avons|c'est|est|sont) (?:arrete|fini|termine|abandonne|vendu|mort|morte|ferme|annule|dissous|separe)`,
	`\b(?:rompu|separee?s?|divorcee?s?) (?:avec|d'avec|de) {O}`, `\bdesabonnee? (?:de|du|d') ?{O}`,
	`^{o} et moi(?: on|,? nous)? (?:ne |n')`, `^{o} et moi,? (?:on s'est|on a|nous sommes|avons) (?:separes|rompu|quittes)`,
	`\bn'[a-z]+ plus (?:de |d'|du )?{O}`, `\bn'ai plus (?:de |d'|du )?{O}`,
	// Spanish
	`\b(?:deje|dejamos|dejado|abandone|cancele|cancelado|vendi|vendimos|vendido|cerre|cerramos|termine|acabe|perdi|anule|`+
		`renuncie|dimiti|borre) (?:de |con |a |el |la )?{O}`,
	`\bde baja (?:de |del |en )?{O}`, `^{o} y yo (?:lo dejamos|hemos roto|rompimos|nos separamos|nos divorciamos|`+
		`lo hemos dejado|ya no)`,
	`\b(?:rompi|rompimos|corte|separado|separada|divorciado|divorciada|separe|divorcie) (?:con|de) {O}`,
	`^{o} (?:murio|fallecio|se disolvio|ha cerrado|cerro|se acabo|ya no (?:existe|esta|sigue))`,
	`\bya no tengo {O}`, `\bme quite (?:de |del )?{O}`,
)

// denying finds a state that is over: its verb and its value.
var denying = changePatterns(true, true, false,
	`\b(?:no longer|not any longer) {O}`, `(?:\bnot|n't|\bnever|\bno) {o} (?:anymore|any more|any longer|these days|again)\b`,
	`\b{o} (?:nicht|kein|keine|keinen|keinem) {n} mehr\b`, `\b{o} (?:nicht|kein|keine|keinen|`+
		`keinem) mehr {n}`, `\b{o} nicht mehr{end}`, `\b(?:bin|ist|sind) (?:nicht mehr|kein|keine) {O}`,
	`\b(?:ne |n'){o} plus\b\s*(?P<n>[^,;:.()"]{0,60})`,
	`\bya no {O}`, `\bya (?:ni|nada de) {O}`, `\bdeje de {O}`, `\bhe dejado de {O}`, `\b(?:aufgehort|horte auf|hore auf) zu {O}`,
)

// overs finds topics that end as a whole.
var overs = map[string]*regexp.Regexp{
	"work": regexp.MustCompile(`\b(?:quit|left|lost|resigned|leaving)\b(?: from)? (?:my|the) (?:old )?(?:job|position|post|` +
		`company)|\bi (?:quit|resigned|got fired|` +
		`was fired|was laid off|got laid off|retired)\b|\b(?:has|have|'ve|user) (?:quit|resigned|retired)\b|\b(?:user quit|` +
		`quit the user's job|laid off|made redundant|been fired|got fired|` +
		`handed in (?:my|the user's) notice|am retired|is retired|unemployed|between jobs|out of (?:a job|work))\b|` +
		`\b(?:hab|habe|habe ich|hab ich) (?:gestern |heute |endlich |[a-z]+ )?(?:gekundigt|den job gekundigt)|\b(?:arbeitslos|` +
		`in rente|pensioniert|gekundigt worden|` +
		`meinen job verloren|entlassen worden)\b|\bwurde (?:entlassen|gekundigt)\b|` +
		`\b(?:j'ai |ai )(?:demissionne|quitte mon (?:boulot|travail|poste|emploi)|perdu mon (?:boulot|travail|poste|emploi)|` +
		`pris ma retraite)\b|` +
		`\b(?:suis|est) (?:au chomage|a la retraite|retraite|vire|viree|licencie|licenciee)\b|\b(?:ete|etee) (?:vire|viree|` +
		`licencie|licenciee)\b|` +
		`\b(?:deje|he dejado|perdi|renuncie a) (?:el|mi) (?:trabajo|curro|empleo|puesto)\b|\b(?:me despidieron|` +
		`me han despedido|me he jubilado|me jubile|` +
		`estoy en (?:el )?paro|estoy jubilad[oa]|dimiti)\b`),
	"partner": regexp.MustCompile(`\b(?:divorced|separated|broke up|broken up|split up|widowed|single again|am single|` +
		`is single|called off the (?:wedding|engagement))\b|` +
		`\b(?:geschieden|getrennt|scheidung|verwitwet|wieder single|schluss gemacht|auseinander)\b|` +
		`\b(?:divorcee?s?|separee?s?|rompu|celibataire)\b|\b(?:divorciad[oa]s?|divorciamos|separad[oa]s?|separamos|rompimos|` +
		`hemos roto|lo dejamos|solter[oa])\b`),
}

// unsure finds statements that are no facts yet.
var unsure = regexp.MustCompile(`\b(?:maybe|perhaps|might|(?:i|we|he|she|they|it|user|and) may|could|would|considering|` +
	`consider|thinking (?:about|of)|think about|not sure|unsure|possibly|` +
	`probably|wondering|tempted|hope to|hoping|if|wish|toying|someday|some day|one day|undecided|should|` +
	`vielleicht|eventuell|uberlege|uberlegen|wurde gern|wurde gerne|moglicherweise|wahrscheinlich|noch nicht sicher|` +
	`nicht sicher|falls|ob|konnte|konnten|mochte|` +
	`peut-etre|j'hesite|hesite|pense a|envisage|probablement|pas sur|aimerais|voudrais|si jamais|pourrais|` +
	`quiza|quizas|tal vez|a lo mejor|pensando en|planteando|planteo|no se si|me gustaria|probablemente|podria|igual me)\b`)

// coming finds statements about the future.
var coming = regexp.MustCompile(`\b(?:will|'ll|going to|gonna|i'm moving|am moving|is moving|plan to|planning to|` +
	`next (?:month|year|spring|summer|autumn|fall|winter)|` +
	`werde|werden|wird|ziehe|zieh|nachsten|nachstes|kommendes|vais|va|allons|prochaine?|voy a|vamos a|proximo|proxima)\b`)

// readChange finds what the words between two positions change.
func readChange(t *text, from, to int) change {
	words := t.fold[from:to]
	var c change
	c.doubt = unsure.Match(words)
	c.ahead = coming.Match(words)
	c.now = holdsNow(t, from, to)
	for _, list := range [...][]changePattern{replacing, becoming, ending, denying} {
		for _, p := range list {
			loc := p.re.FindSubmatchIndex(words)
			if loc == nil {
				continue
			}
			g := group{state: p.state, subject: p.subject}
			for i, name := range p.re.SubexpNames() {
				if loc[2*i] < 0 || name != "o" && !(name == "n" && p.state) {
					continue
				}
				g.terms = append(g.terms, contentOf(t, from+loc[2*i], from+loc[2*i+1], !p.state)...)
			}
			switch {
			case len(g.terms) == 0:
			case p.over:
				c.ended = append(c.ended, g)
			default:
				c.replaced = append(c.replaced, g)
			}
		}
	}
	for topic, re := range overs {
		if re.Match(words) {
			if c.ends == nil {
				c.ends = map[string]bool{}
			}
			c.ends[topic] = true
		}
	}
	return c
}

// holdsNow reports whether the words say that something holds from now on.
func holdsNow(t *text, from, to int) bool {
	ws := t.words(from, to)
	for i, w := range ws {
		f := t.folded(w)
		if changeWords[f] || i+1 < len(ws) && changeWords[f+"_"+t.folded(ws[i+1])] {
			return true
		}
	}
	return false
}

// aside begins words about the place or time of an end, which are not what ends.
var aside = wordSet(`in at on last yesterday today for because since after before when while this by
	im am an auf letzte letzten gestern heute nach vor wegen weil seit
	dans en hier aujourd'hui apres avant parce depuis pour
	ayer hoy desde porque hace tras despues`)

// contentOf returns the content words between two positions. With thing it stops at an aside.
func contentOf(t *text, from, to int, thing bool) []term {
	var out []term
	for _, w := range t.words(from, to) {
		f := t.folded(w)
		if thing && len(out) > 0 && aside[f] {
			break
		}
		if isContent(f) && !changeWords[f] && !dayWords[f] {
			out = append(out, term{stem(f), t.capital(w.from) || f[0] >= '0' && f[0] <= '9'})
		}
	}
	return out
}
