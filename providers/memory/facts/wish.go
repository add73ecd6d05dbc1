//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// wish is the content of a standing wish that another one can contradict.
type wish struct {
	values  map[string]string // by topic: the language, the tone, the currency
	objects []string          // stems of the things and deeds that it names
	scope   string            // the kind of text that it is about; "" for all answers
	verb    string            // the stem of the verb that a frame needs, or ""
	// before are the objects before the preposition of a frame, after the words behind it: mails | as | Ed.
	before, after []string
	frame         string
	number        string // the only number
	at            string // start or end
	denies        bool
	other         bool // about everything else
}

// overrules reports whether a newer wish contradicts an earlier one, so that only the newer one can be followed.
func overrules(newer, older *Statement) bool {
	if !newer.order && !older.order || !newer.wishes() || !older.wishes() || newer.changes().doubt {
		return false
	}
	n, o := newer.asWish(), older.asWish()
	if n.other || n.scope != o.scope && !(n.scope == "" && n.denies != o.denies) || n.at != "" && o.at != "" && n.at != o.at {
		return false
	}
	if n.otherValue(o) || n.denies != o.denies && n.opposes(o) {
		return true
	}
	if n.scope != o.scope || n.denies != o.denies {
		return false
	}
	return n.number != "" && o.number != "" && n.number != o.number &&
		comparable(n.objects, o.objects) && inAny(n.objects, o.objects) || n.otherFrame(o)
}

// wishes reports whether a statement says how the assistant is to answer, or the team works, whatever its kind: "longer answers
// are welcome", "we use npm".
func (s *Statement) wishes() bool {
	return s.order || s.owner != aPerson && (ofAnswers.Match(s.source.fold[s.from:s.to]) || s.owner == theTeam && s.asWish().ofTeam())
}

// ofAnswers reports whether a unit says how the assistant's answers are to be.
func (e *extractor) ofAnswers(u *unit) bool {
	return ofAnswers.Match(e.t.fold[u.from:u.to]) && len(readWish(e.t, e.t.clauseOfAnswers(u.from, u.to), u.to).values) > 0
}

// clauseOfAnswers returns the start of the clause that says something of the assistant's answers, or from.
func (t *text) clauseOfAnswers(from, to int) int {
	if m := ofAnswers.FindIndex(t.fold[from:to]); m != nil {
		from += bytes.LastIndexByte(t.fold[from:from+m[0]], ',') + 1
	}
	return from
}

// ofTeam reports whether a wish is about the tools or the style of a team.
func (n *wish) ofTeam() bool {
	for topic := range n.values {
		if teamTopics[topic] {
			return true
		}
	}
	return false
}

var teamTopics = wordSet("packages/js packages/py indent quotes case spelling")

// ofAnswers finds preferences and remarks on the answers of the assistant.
var ofAnswers = regexp.MustCompile(`\b(?:prefers?|answers|replies|responses|bevorzug[a-z]*|antworten|prefere|reponses|` +
	`prefiero|respuestas)\b`)

// otherValue reports whether two wishes about the same things have different values of a topic.
func (n *wish) otherValue(o *wish) bool {
	if n.denies || o.denies || !comparable(n.objects, o.objects) {
		return false
	}
	for topic, value := range n.values {
		old, ok := o.values[topic]
		if manners[topic] && len(n.objects) == 0 != (len(o.objects) == 0) {
			continue // to the customers, to the user
		}
		if !ok {
			for narrow, x := range o.values { // "imperial units" overrules "Celsius"
				if strings.HasPrefix(narrow, topic+"/") && system[x] != value {
					return true
				}
			}
			continue
		}
		if old != value && !(topic == "length" && value != "long" && old != "long" && (value == "short" || old == "short")) {
			return true
		}
	}
	return false
}

// manners are topics that depend on the addressee.
var manners = wordSet("tone form")

// system is the system of a unit.
var system = map[string]string{
	"celsius": "metric", "km": "metric", "gram": "metric", "fahrenheit": "imperial", "miles": "imperial", "ounce": "imperial",
}

// opposes reports whether one wish asks for a thing that the other one rejects.
func (n *wish) opposes(o *wish) bool {
	for topic, value := range n.values {
		if old, ok := o.values[topic]; ok {
			return old == value && comparable(n.objects, o.objects)
		}
	}
	if len(n.objects) == 0 || len(o.objects) == 0 {
		return false
	}
	return allIn(n.objects, o.objects) || !n.denies && allIn(o.objects, n.objects)
}

// otherFrame reports whether two wishes differ only in the words behind a preposition: mails start with Dear, with Hi.
func (n *wish) otherFrame(o *wish) bool {
	if n.frame == "" || n.frame != o.frame || n.verb != o.verb || n.at != o.at || len(n.values)+len(o.values) > 0 {
		return false
	}
	if len(n.after) == 0 || len(o.after) == 0 || n.frame == "with" && n.verb+n.at == "" || n.verb == "" && len(n.before) == 0 {
		return false
	}
	return allIn(n.before, o.before) && allIn(o.before, n.before) && !(allIn(n.after, o.after) && allIn(o.after, n.after))
}

// comparable reports whether one of two lists of things has all of the other.
func comparable(a, b []string) bool { return allIn(a, b) || allIn(b, a) }

// allIn reports whether all words of a are in b.
func allIn(a, b []string) bool {
	return !slices.ContainsFunc(a, func(x string) bool {
		return !slices.ContainsFunc(b, func(y string) bool { return sameStem(x, y) })
	})
}

// inAny reports whether two lists have a word in common.
func inAny(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return sameStem(x, y) })
	})
}

// asWish reads a statement as a wish. It is read once.
func (s *Statement) asWish() *wish {
	s.wishOnce.Do(func() {
		from := s.from
		if !s.order {
			from = s.source.clauseOfAnswers(s.from, s.to)
		}
		s.wish = readWish(s.source, from, s.to)
	})
	return &s.wish
}

// wishWord is the class of a word in a wish. The topics at, frame and verb are where it stands in the text.
type wishWord struct{ topic, value string }

// topicOf returns the topic of a word, or of it and the word before, or "".
func topicOf(before, f string) string {
	c, ok := wishValues[before+"_"+f]
	if !ok {
		c = wishValues[f]
	}
	switch {
	case c.topic == "at" || c.topic == "frame" || c.topic == "verb":
		return ""
	case f == "me" && (before == "call" || before == "address") || f == "mich" || f == "moi" || f == "llamame":
		return "name"
	}
	topic, _, _ := strings.Cut(c.topic, "/")
	return topic
}

// readWish reads the words between two positions.
func readWish(t *text, from, to int) wish {
	w := wish{values: map[string]string{}}
	ws := t.words(from, t.endOfWish(from, to))
	f := make([]string, len(ws))
	for i, x := range ws {
		f[i] = t.folded(x)
	}
	fold := " " + strings.Join(f, " ") + " "
	w.other = restOnly.MatchString(fold)
	order := fold // without its condition: "when you are not sure"
	if m := conditional.FindStringIndex(fold); m != nil && m[0] > 0 {
		order = fold[:m[0]+1]
	}
	w.denies = rejects.MatchString(order) || !allows.MatchString(order) && lacking.MatchString(order)
	if dateOrder.MatchString(fold) {
		w.values["date"] = dateOrder.FindString(fold)
	}
	numbers := map[string]bool{}
	framed := false
	for i := 0; i < len(f); i++ {
		x := f[i]
		two := x
		if i+1 < len(f) {
			two += "_" + f[i+1]
		}
		if named := nameAfter(t, ws, f, i); named != "" {
			w.values["name"] = named
			break
		}
		c, ok := wishValues[two]
		if ok {
			i++
		} else if c, ok = wishValues[x]; !ok {
			c, ok = mannerStems[stem(x)]
		}
		switch {
		case ok && c.topic == "at":
			w.at = c.value
		case ok && c.topic == "frame":
			if !framed && len(f) > i+1 {
				framed, w.frame, w.before = true, c.value, slices.Clone(w.objects)
			}
		case ok && c.topic == "verb":
			w.verb = c.value
		case ok:
			if _, set := w.values[c.topic]; !set {
				w.values[c.topic] = c.value
			}
		case x[0] >= '0' && x[0] <= '9' || numberWords[x] || x == "one" || small[x] != "":
			numbers[number(x)] = true
		case dateWords[x]:
		default:
			if name, ok := scopes[stem(x)]; ok {
				w.scope = name
				w.objects = append(w.objects, "#"+name)
				continue
			}
			if !isContent(x) && !wishObject[x] || isCue(x) || wishStems[stem(x)] || plainWish[x] {
				if framed && len(x) > 1 && !nominal[x] && !plainWish[x] {
					w.after = append(w.after, stem(x))
				}
				continue
			}
			if framed {
				w.after = append(w.after, stem(x))
			}
			w.objects = append(w.objects, stem(x))
		}
	}
	if w.scope == "" && w.values["program"] != "" {
		w.scope = "code"
	}
	if len(numbers) == 1 {
		for n := range numbers {
			w.number = n
		}
		if unit := lengthUnit.FindString(fold); unit != "" {
			w.values["length"] = w.number + unit
		}
	}
	return w
}

// endOfWish returns the comma after the first words of content: a reason or a rejected thing follows.
func (t *text) endOfWish(from, to int) int {
	content := false
	ws := t.words(from, to)
	for i, w := range ws {
		f := t.folded(w)
		if i > 0 && content && bytes.IndexByte(t.fold[ws[i-1].to:w.from], ',') >= 0 && wishValues[f].topic == "" {
			return ws[i-1].to
		}
		content = content || wishValues[f].topic != "" || isContent(f) && !plainWish[f] && !isCue(f)
	}
	return to
}

// nameAfter returns how the user wants to be called, if word i begins with that.
func nameAfter(t *text, ws []word, f []string, i int) string {
	m := wantsName.FindString(strings.Join(f[i:min(len(f), i+6)], " ") + " ")
	n := len(strings.Fields(m))
	if n == 0 || i+n >= len(f) || function[f[i+n]] && !t.capital(ws[i+n].from) || !t.capital(ws[i+n].from) && !t.careless {
		return ""
	}
	return f[i+n] + " " + strings.Join(f[i+n+1:min(len(f), i+n+3)], " ")
}

// wantsName begins a wish with a name in it.
var wantsName = regexp.MustCompile(`^(?:(?:call|address) me (?:as |by )?|my name is |(?:nenne?|nennt|` +
	`nennen sie) mich (?:bitte |lieber |einfach )?|` +
	`sag |ich heisse |(?:appelle|appelez) moi (?:plutot )?|je m'appelle |llamame |me llamo )`)

// rejects finds a rejection, also in the words of a permission: "you can stop".
var rejects = regexp.MustCompile(` (?:not|never|don't|dont|doesn't|needn't|no|stop|quit|skip|drop|avoid|leave (?:out|` +
	`off)|scrap|scratch|forget|enough with|` +
	`nicht|nie|niemals|kein|keine|keinen|keinem|keiner|weglassen|weg|hor auf|aufhoren|verzichte|spar dir|vermeide|schluss mit|` +
	`pas|plus de|plus d'[a-z]+|plus besoin|ne [a-z]+ plus|jamais|arrete|arretez|evite|evitez|inutile|aucun|aucune|laisse tomber|` +
	`nunca|jamas|nada de|deja de|dejes|evita|ya no|hace falta|quita|omite|tampoco) `)

// lacking is the same in words that a permission may have beside it: "you may commit without asking".
var lacking = regexp.MustCompile(` (?:without|ohne|sans|sin) `)

// conditional begins the condition of a wish.
var conditional = regexp.MustCompile(` (?:when|whenever|if|unless|because|since|wenn|falls|weil|quand|lorsque|si|` +
	`parce que|cuando|porque) `)

// allows finds a permission.
var allows = regexp.MustCompile(` (?:can|may|welcome|okay|ok|fine|allowed|again|feel free|kannst|darfst|durfen|ruhig|` +
	`wieder|erlaubt|peux|pouvez|` +
	`puedes|puede|vuelve) `)

// restOnly finds a wish about what no other wish is about.
var restOnly = regexp.MustCompile(` (?:else|otherwise|sonst|ansonsten|ubrigen|le reste|sinon|lo demas) `)

// dateOrder finds the order of a date's parts.
var dateOrder = regexp.MustCompile(` (?:iso|(?:(?:yy|yyyy|jj|jjjj|aaaa|dd|mm|tt|dia|mes|ano|tag|monat|jahr) ){3}) ?`)

// lengthUnit finds a bound of the length of an answer.
var lengthUnit = regexp.MustCompile(` (?:words?|wort|worter|worten|mots|palabras|sentences?|satze?|satzen|phrases|` +
	`frases|lines?|zeilen?|lignes?|` +
	`lineas?|paragraphs?|absatze?|absatzen|paragraphes?|parrafos?|pages?|seiten?|paginas?|characters|zeichen) `)

// small are numbers in words beside [numberWords], by their digits.
var small = map[string]string{
	"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"zwei": "2", "drei": "3", "vier": "4", "funf": "5", "sechs": "6", "deux": "2", "trois": "3", "quatre": "4", "cinq": "5",
	"una": "1", "sola": "1", "dos": "2", "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6",
}

func number(f string) string {
	if n := small[f]; n != "" {
		return n
	}
	return f
}

// wishValues are the values of topics of which a wish has one, by word or pair of words.
var wishValues = func() map[string]wishWord {
	out := map[string]wishWord{}
	add := func(topic, value, words string) {
		for w := range strings.FieldsSeq(words) {
			out[w] = wishWord{topic, value}
		}
	}
	for value, words := range map[string]string{
		"en": "english englisch anglais ingles", "fr": "french franzosisch francais frances", "de": "german deutsch allemand aleman",
		"es": "spanish spanisch espagnol espanol castellano", "it": "italian italienisch italien italiano",
		"pt": "portuguese portugiesisch portugais portugues", "nl": "dutch niederlandisch neerlandais",
		"pl": "polish polnisch polonais polaco", "ja": "japanese japanisch japonais japones", "sv": "swedish schwedisch suedois sueco",
		"ru": "russian russisch russe ruso", "tr": "turkish turkisch turc turco", "ca": "catalan katalanisch",
		"da": "danish danisch danois",
	} {
		add("language", value, words)
	}
	for topic, values := range map[string]map[string]string{
		"length": {
			"short": `short brief briefly concise terse shorter kurz knapp kurze kurzer kurzere court courte courts courtes bref breve
				breves concis corto corta cortas cortos`,
			"long": `long longer detail details detailed lengthy verbose thorough elaborate lang lange langer langere ausfuhrlich
				ausfuhrlicher ausfuhrliche detailliert detaille detaillee detaillees longue longues largo larga largas largos detallado
				detallada detalladas detalle extenso`,
		},
		"tone": {
			"formal": `formal professional strict polite siez sieze siezen formlich formell per_sie vouvoie vouvoyer vouvoyez
				formel de_usted
				usted`,
			"casual": `casual informal chatty friendly relaxed duz duze duzen locker per_du sag_du ruhig_du tutoie tutoyer tutoyez
				informel tutea tuteame tutear de_tu`,
		},
		"units": {
			"metric": "metric metrisch metrische metrique metriques metrico metricas si_units", "imperial": "imperial imperiale",
		},
		"units/temperature": {"celsius": "celsius centigrade", "fahrenheit": "fahrenheit", "kelvin": "kelvin"},
		"units/distance": {
			"km": "kilometres kilometers kilometern kilometer km kilometros metres", "miles": "miles meilen millas feet",
		},
		"units/weight": {"gram": "grams grammes gramm gramos", "ounce": "ounces unzen onces onzas cups"},
		"spelling":     {"british": "british britisch", "american": "american amerikanisch us_spelling uk_spelling"},
		"money": {
			"dollar": "dollar dollars usd dolares", "euro": "euro euros eur", "pound": "pounds sterling gbp",
			"franc": "francs swiss_francs franken schweizer_franken chf francos",
			"krona": "kronor kroner kronen", "yen": "yen", "zloty": "zloty",
		},
		"tax":   {"gross": "brutto gross ttc", "net": "netto ht"},
		"clock": {"12": "12_hour 12h 12_h 12_stunden am_pm 12_horas 12_heures", "24": "24_hour 24h 24_h 24_stunden 24_horas 24_heures"},
		"zone": {
			"pacific": "pacific", "eastern": "eastern", "central": "central_time", "utc": "utc gmt", "cet": "cet cest mez mesz",
		},
		"layout": {
			"list":  "bullet bullets bulleted stichpunkte stichpunkten stichworten puces vinetas",
			"prose": "prose fliesstext texte_suivi texto_seguido flowing_text",
		},
		"indent": {
			"tabs": "tabs tab tabulations tabulatoren tabuladores", "spaces": "spaces leerzeichen espaces espacios",
		},
		"quotes": {"single": "single_quotes", "double": "double_quotes"},
		"case":   {"snake": "snake_case", "camel": "camelcase camel_case", "kebab": "kebab_case", "pascal": "pascalcase pascal_case"},
		"level": {
			"beginner": `beginner novice layman anfanger laie debutant debutante profane principiante i'm_five im_five`,
			"expert":   "expert advanced experte experten profi experto experta pro",
		},
		"program": {
			"python": "python", "java": "java", "typescript": "typescript", "javascript": "javascript", "rust": "rust", "go": "golang",
			"kotlin": "kotlin", "swift": "swift", "ruby": "ruby", "php": "php", "perl": "perl",
		},
		"form": {
			"first": "first_name first_names vornamen vorname prenom",
			"last":  "last_name last_names surname surnames nachnamen nachname apellido apellidos",
		},
		"person":      {"first": "first_person", "third": "third_person"},
		"packages/js": {"npm": "npm", "pnpm": "pnpm", "yarn": "yarn", "bun": "bun"},
		"packages/py": {"pip": "pip", "uv": "uv", "poetry": "poetry", "conda": "conda", "pipenv": "pipenv"},
		"at": {
			"start": "at_start start begin beginning anfang fang beginne debut commence inicio principio empieza first zuerst",
			"end":   "end ending ende schluss fin final termina terminer terminar termine last zuletzt hor_auf",
		},
		"frame": {
			"as": "as als comme como", "in": "in en im", "with": "with mit avec con by",
		},
		"verb": {
			"sign":   "sign signing sign_off unterschreib unterschreibe unterschreiben signe signez firma firmar",
			"treat":  "treat behandle behandel traite trata tratame trateme",
			"format": "format formatting formatiere", "run": "run starte lance ejecuta", "gender": "gendern gendere",
		},
	} {
		for value, words := range values {
			add(topic, value, words)
		}
	}
	return out
}()

// mannerStems are the stems of the words for a tone or a length, for their other forms: "duzen", "longest".
var mannerStems = func() map[string]wishWord {
	out := map[string]wishWord{}
	several := map[string]bool{}
	for w, x := range wishValues {
		if (x.topic != "tone" && x.topic != "length") || len(stem(w)) < 3 || strings.Contains(w, "_") {
			continue
		}
		if old, ok := out[stem(w)]; ok && old != x {
			several[stem(w)] = true
		}
		out[stem(w)] = x
	}
	for s := range several {
		delete(out, s)
	}
	return out
}()

// plainWish are words that most wishes have, and what stands for the assistant's answers.
var plainWish = wordSet(`give show use make put add include set provide want like need may can you'd feel free
	welcome again enough max maximum
	most least only just ever any anything everything everyone all each from here onwards on now please thanks instead
	rather also strictly address tell
	answer answers reply replies response responses output text texts message messages respond write format formats units unit
	time times style tone number limit stop skip drop avoid leave allowed okay fine time being future going forward
	price prices amount amounts sums quote preis preise betrage prix montants precios importes
	antwort antworten gib zeig zeige verwende nutze nutz nimm benutze setz schreib schreibe schreiben text texte ruhig
	kannst darfst wieder konnen sollten uns podemos pouvons peut nos
	lieber einfach bitte immer ab jetzt kunftig heute hochstens maximal gern lass brauchst musst mehr sag mach mache
	halte dich weglassen
	angeben jede jeder jedes einzelnen
	reponse reponses donne mets mettez utilise utilisez fais fait ecris texte textes veuillez peux tu toi moi chaque maintenant partir
	desormais dorenavant plutot toujours besoin inutile format
	respuesta respuestas pon ponme dame usa utiliza haz escribe texto textos siempre puedes ahora partir adelante mejor favor hoy
	hace falta formato solo cada prefiero prefer prefers prefiere bevorzuge user`)

// plainStems are the stems of [plainWish].
var plainStems = func() map[string]bool {
	out := map[string]bool{}
	for w := range plainWish {
		out[stem(w)] = true
	}
	return out
}()

// wishObject are short words, or words without content elsewhere, that a wish may be about.
var wishObject = wordSet("go plan iva tva mwst")

// dateWords are words for the parts of a date's order.
var dateWords = wordSet("iso yy yyyy jj jjjj aaaa dd mm tt dia mes ano tag monat jahr")
