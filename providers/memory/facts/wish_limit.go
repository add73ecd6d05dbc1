//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"slices"
	"strings"
)

// isAboutOthers reports whether a statement has a subject that is neither the assistant nor what the user wants: another
// person, a thing that does something, or the user who does it.
func (s *statement) isAboutOthers() bool {
	t := s.source
	if len(s.ws) == 0 {
		return false
	}
	if l := s.last; l != nil && t.first(l.from, l.to) == "i" && l.aboutOthers() && bytes.IndexByte(t.fold[l.from:s.from], ',') < 0 {
		return true // "I told her to answer in English"
	}
	words := t.foldedWords(s.from, s.to)
	first := t.folded(s.ws[0])
	switch {
	case s.ofOthers(), ofNumber().MatchString(words), ofPast().MatchString(words):
		return true
	case firstPronoun[first]:
		return !s.wants()
	case first == "i'm" && len(s.ws) > 1 && progressive(t.folded(s.ws[1])) != "":
		return !wanting[t.folded(s.ws[1])] // "I'm learning English"
	case strings.HasSuffix(first, "'s") && first != "user's" && isContent(strings.TrimSuffix(first, "'s")),
		len(s.ws) > 1 && otherOnes[t.folded(s.ws[1])] && determiners[first],
		len(s.ws) > 1 && outsiders[t.folded(s.ws[1])] && teamWords[first]:
		return true
	case ownWord[first] || otherOwn[first]:
		return !s.ofKind(s.afterCues(1)) && (s.person != "" && s.owner == aPerson || !s.asWish().withdraws)
	case determiners[first]:
		if s.verbAt < 2 || s.verbAt == len(s.ws) || s.asWish().withdraws || s.asWish().denies {
			return false
		}
		return !s.ofKind(s.ws[1:s.verbAt])
	case s.verbAt == 1 && t.capital(s.ws[0].from) && wishValues[first].topic != "" && s.ofTool(first):
		m := ofPossession().FindStringIndex(words)
		return m != nil && !slices.ContainsFunc(s.ws[3:], func(w word) bool { return ownKinds[t.folded(w)] }) // "Google is my client"
	default:
		return s.verbAt == 1 && s.owner == aPerson && singularVerb().MatchString(t.folded(s.ws[1])) && !s.ofKind(s.ws[:1]) &&
			wishValues[first].topic == ""
	}
}

// afterCues returns the first word from an index that is no word of change: my new editor.
func (s *statement) afterCues(i int) []word {
	for i < len(s.ws) && isCue(s.source.folded(s.ws[i])) {
		i++
	}
	return s.ws[min(i, len(s.ws)):min(i+1, len(s.ws))]
}

// ofTool reports whether a word is the name of a tool.
func (s *statement) ofTool(f string) bool { return toolTopics[wishValues[f].topic] }

// ofKind reports whether one of the words is a kind of answers or texts, or what the team works with.
func (s *statement) ofKind(ws []word) bool {
	return slices.ContainsFunc(ws, func(w word) bool {
		f := s.source.folded(w)
		_, scoped := scopes[stem(f)]
		return scoped || plainWish[f] || genericNouns[f] || ownKinds[f] || repoWords[f]
	})
}

// wants reports whether a verb near the beginning says what the user wants or uses.
func (s *statement) wants() bool {
	return s.ofTool(s.source.folded(s.ws[len(s.ws)-1])) || slices.ContainsFunc(s.ws[:min(len(s.ws), 5)], func(w word) bool {
		return wanting[s.source.folded(w)]
	})
}

var (
	// firstPronoun are words for the user as a subject.
	firstPronoun = wordSet("i i'd i'll i've ich je j'ai j'aimerais yo")
	// outsiders are people with whom a team works.
	outsiders = wordSet(`supplier suppliers vendor vendors client clients customer customers competitor competitors
		lieferant lieferanten kunde kunden fournisseur fournisseurs concurrent concurrents
		proveedor proveedores cliente clientes`)
	// otherOnes stand before others of a kind.
	otherOnes = wordSet("other others anderen andere anderes autre autres otro otra otros otras")
	// otherOwn stand before a thing of another person.
	otherOwn = wordSet("his her their sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer son sa ses leur leurs su sus")
	// wanting are verbs with which a user says how answers are to be, or what the user works with.
	wanting = wordSet(`want wanna like love prefer need i'd rather hate dislike expect wish use using
		switching moving switched moved changed migrated go
		mind care ask don't can can't cannot
		will mochte mag bevorzuge brauche hatte wunsche wurde nutze benutze verwende heisse kann bin lieber gern
		veux voudrais prefere aimerais j'aimerais prefererais besoin utilise peux suis m'appelle
		quiero prefiero necesito gusta gustaria uso puedo soy llamo`)
	// ownKinds are things that users and teams have wishes for.
	ownKinds = wordSet(`name nickname pronouns preference preferred favourite favorite default editor browser shell terminal timezone zone
		language currency spelling engine package packages manager dependencies tests test builds ci pipeline stack team tooling tool
		spitzname sprache wahrung standard paket pakete tests zeitzone ton werkzeug
		nom prenom langue devise paquet paquets fuseau ton outil equipe
		nombre idioma moneda paquete paquetes pruebas zona tono herramienta equipo`)
	// ofNumber begins a statement on a number: "26 miles is a marathon".
	ofNumber = pattern(`^ [0-9]+ [a-z]+ (?:is|are|ist|sind|est|sont|es|son) (?:an?|the|eine?|une?|una?|el|la|le|die|der) `)
	// ofPast begins a statement on earlier times.
	ofPast = pattern(`^ (?:i used to|fruher (?:wollte|habe|hatte) ich|avant je|antes (?:queria|yo)) `)
	// ofPossession finds a thing of the user behind "is".
	ofPossession = pattern(`^ \S+ (?:is|was|ist|war|est|es) (?:my|our|mein|meine|unser|unsere|mon|ma|notre|mi|nuestro|nuestra) `)
	// singularVerb matches a verb with one other person or thing as its subject.
	singularVerb = pattern(`^(?:[a-z]+[^s]s|has|hat|[a-z]{3,}t)$`)
)

// partly reports whether two lists have a thing in common, and each one that the other lacks: work links, private links.
func partly(a, b []string) bool { return inAny(a, b) && !comparable(a, b) }

// sparesWish reports whether a content says nothing against an earlier wish, whatever words they share: it is about other people
// or one text, or it asks not to forget the wish. A rule to ask first ends only with words for asking.
func (s *statement) sparesWish(older *statement) bool {
	if !older.order || !older.wishes() {
		return false
	}
	return s.sparesWishes() || older.asWish().values["asking"] != "" && !s.asking()
}

// mentionsWishOnly reports whether a content is about other people or one text, or denies that a wish ends.
func (s *statement) mentionsWishOnly() bool {
	return s.aboutOthers() && !s.asWish().withdraws || s.forOnce() || keepsOn().MatchString(s.source.foldedWords(s.from, s.to))
}

// hasAskingWords reports whether the whole content has a word for asking first.
func (s *statement) hasAskingWords() bool {
	return askingWords().MatchString(s.source.foldedWords(0, len(s.source.fold)))
}

var (
	// keepsOn finds a withdrawal that is denied: "don't drop the summary".
	keepsOn = pattern(` (?:(?:don't|dont|do not|never) (?:you )?(?:ever )?(?:forget|drop|scrap|scratch|skip|omit|leave)|` +
		`vergiss (?:\S+ ){0,4}nicht|nicht (?:\S+ ){0,2}vergessen|n'oublie[sz]? (?:pas|jamais)|oublie[sz]? pas|` +
		`no (?:te |se )?(?:olvides|olvide|dejes de|omitas|quites)) `)
	// askingWords are words for a question before a deed, and for a rule.
	askingWords = pattern(` (?:ask(?:ing|ed)?|check(?:ing)?|approvals?|permission|confirm(?:ation)?|rule|` +
		`habit|go ahead|your own|` +
		`autonomous(?:ly)?|consult(?:ing)?|sign off|` +
		`frag(?:e|en|st)?|nachfrage[n]?|ruckfrage[n]?|fragerei|eigenmachtig|selbst?standig|eigenstandig|rucksprache|freigabe|bestatigung|` +
		`erlaubnis|zustimmung|regel|von selbst|von dir|` +
		`demande[rsz]?|validation|autorisation|feu vert|accord|regle|propre chef|ta guise|consulter|` +
		`pregunt(?:a|ar|es|arme|ame)|me preguntes|permiso|confirmacion|aprobacion|visto bueno|autorizacion|consult(?:a|ar|es|arme)|regla|` +
		`tu cuenta) `)
)

// narrower reports whether a newer wish is limited to a case that the older one does not name, and has no word of change:
// "for baking use Fahrenheit".
func (s *statement) narrower(older *statement) bool {
	if s.changes().says(cueNow, cueReplace) {
		return false
	}
	return slices.ContainsFunc(s.asWish().only, func(x string) bool { return !older.mentions(x) })
}

// mentions reports whether a content has a word with a stem.
func (s *statement) mentions(x string) bool {
	return slices.ContainsFunc(s.source.words(0, len(s.source.fold)), func(w word) bool {
		return sameStem(objectStem(s.source.folded(w)), x)
	})
}

// limits returns the stems of what a wish is limited to.
func (s *statement) limits() []string {
	out := limitsOf(s.source, s.ws)
	if l := s.last; l != nil && len(l.ws) > 0 && (conditionWords[s.source.folded(l.ws[0])] ||
		limiting[s.source.folded(l.ws[0])] && l.verbAt == len(l.ws)) {
		out = append(out, limitsOf(l.source, l.ws)...)
	}
	return out
}

func limitsOf(t *text, ws []word) (out []string) {
	for i := range ws {
		f := t.folded(ws[i])
		if !limiting[f] && !conditionWords[f] && !ownWord[f] || i+1 == len(ws) {
			continue
		}
		if f == "to" && !determiners[t.folded(ws[i+1])] && !ownWord[t.folded(ws[i+1])] && !t.capital(ws[i+1].from) {
			continue // "to save time"
		}
		var phrase []string
		plain := false // the phrase has the value itself: "in short sentences"
		for _, w := range ws[i+1:] {
			x := t.folded(w)
			if limiting[x] || plainWish[x] || len(phrase) > 0 && !isContent(x) {
				break
			}
			c := wishValues[x]
			_, scoped := scopes[stem(x)]
			switch {
			case c.topic == "at" || c.topic == "verb" || scoped || notLimits[x]:
				plain = true
			case untilWords[f]:
				phrase = append(phrase, stem(x))
			case c.topic == "program" || c.topic == "" && isContent(x) && !isCue(x) && !wishStems[stem(x)] && !(x[0] >= '0' && x[0] <= '9'):
				phrase = append(phrase, objectStem(x))
			case c.topic != "" && len(phrase) > 0 && valueVerb(f):
				plain = true
			}
		}
		if !plain {
			out = append(out, phrase...)
		}
	}
	return out
}

// valueVerb reports whether a preposition also stands before the value of a wish.
func valueVerb(f string) bool { return f == "in" || f == "en" || f == "im" || f == "on" }

var (
	// limiting are prepositions before what a wish is limited to.
	limiting = wordSet(`for in to on at until till during fur im bei bis wahrend pour dans chez jusqu'a pendant para en hasta durante`)
	// conditionWords begin the condition of a wish.
	conditionWords = wordSet("when whenever if wenn falls quand lorsque si cuando")
	// untilWords stand before the end of what holds for a while.
	untilWords = wordSet("until till bis hasta jusqu'a")
	// notLimits are words behind such a preposition that limit nothing.
	notLimits = wordSet(`possible moglich posible me mich mir moi own detail general allgemeinen temperatures temperature
		temperaturen temperaturas person tense imperative voice style tone manner past present order imperativ stil ton style ton estilo`)
)

// isForOnce reports whether a wish is about one answer or one text: "this one in German", "just this once".
func (s *statement) isForOnce() bool {
	words := s.source.fold[s.from:s.to]
	if oneTask().Match(words) || accident().Match(words) {
		return !beyondOne().Match(words)
	}
	if s.changes().says(cueNow, cueReplace) {
		return false
	}
	all := s.source.foldedWords(s.from, s.to)
	if asTask().MatchString(all) {
		return true
	}
	if asWork().Match(s.source.fold[s.from:]) || oneDay().MatchString(all) && !everyDay().MatchString(all) {
		return true
	}
	if !withdrawn().MatchString(all) && !rejects().MatchString(all) {
		return false
	}
	m := onePart().FindStringSubmatch(all)
	return m != nil && !plainWish[m[1]]
}

var (
	// oneDay finds a day or a week that a request is for.
	oneDay = pattern(` (?:this (?:weekend|week|month|evening|morning|afternoon)|(?:on|this|next) ` +
		`(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|dieses wochenende|diese woche|` +
		`(?:am|diesen) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|wochenende)|heute|heute abend|` +
		`ce (?:week end|weekend|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)|cette semaine|demain|aujourd'hui|` +
		`hoy|esta semana|este (?:fin de semana|lunes|martes|miercoles|jueves|viernes|sabado|domingo)) `)
	// everyDay finds words for what holds each time.
	everyDay = pattern(` (?:every|each|always|never|any|no|immer|jede[nrsm]?|nie|kein[a-z]*|toujours|chaque|` +
		`jamais|siempre|cada|nunca) `)
	// asWork finds a way to answer before the question: "answer in English: what is that?".
	asWork = pattern(`^[^:?]{1,60}: [^?]+\?`)
	// asTask finds a task on one text.
	asTask = pattern(`^ (?:please |bitte )?(?:translate|rewrite|summari[sz]e|ubersetze?|uberset[sz]|traduis|` +
		`traduisez|traduce) ` +
		`(?:this|that|the|it|das|dies|diesen|den|die|ce|cette|le|la|esto|este|esta|el) `)
	// onePart finds a part of one text: the last point, the source of the quote.
	onePart = pattern(` (?:(?:the|this|that) (?:last|first|second|third|previous) ([a-z]+)|of (?:the|this|` +
		`that|my) (?:\S+ )??([a-z]+)) `)
	// beyondOne denies that something is for one text only.
	beyondOne = pattern(`\b(?:not (?:just|only)|nicht nur|pas (?:juste|seulement)|no solo)\b`)
)
