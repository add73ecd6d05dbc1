//nolint:misspell // many words are German, French and Spanish
package facts

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Statement is the content of a fact, prepared for the comparison with others.
type Statement struct {
	owner  owner
	person string // the stem of the person's name or relation, if the owner is a person
	name   string // of the person whom it is about, or whose thing, in small letters; "" for the user
	called string // the first word of name, folded
	// subject are the content stems before the verb, words those of the whole statement.
	subject, words []term
	verb           string // the first form of the main verb, or ""
	verbAt         int    // its index, or the number of words
	topics         map[string]bool
	kinds          map[valueKind]bool // of the values after the subject
	order          bool               // addresses the assistant
	quoted         bool               // the words of a speaker
	small          bool               // written without capital letters
	bySpeaker      bool               // of a speaker with a name
	// denies is set for a statement that something is not, or no more.
	denies bool

	source   *text // and the positions in it
	from, to int
	ws       []word // of the source, between the positions
	once     sync.Once
	read     change
	// What several comparisons need is found once.
	brief    func() bool
	versions func() map[string]string
	days     func() map[string]bool
	wishOnce sync.Once
	wish     wish
}

// owner is whose attribute a statement gives.
type owner uint8

const (
	aThing owner = iota
	theUser
	theTeam
	aPerson
)

// term is a content word.
type term struct {
	stem   string
	proper bool // a name, a noun in German, or a number
}

// verb reports whether a word is a form of a frequent verb.
func (x term) verb() bool {
	return verbForm(x.stem) || englishLemmas()[x.stem] || englishLemmas()[x.stem+"e"]
}

// valueKind is a kind of value that shows what an attribute is, without its name.
type valueKind uint8

const (
	aTime valueKind = iota
	aNumber
	aName
)

// quotation matches the words around a quoted statement of the user.
var quotation = regexp.MustCompile(`^(?:the user says|der nutzer sagt|l'utilisateur dit|el usuario dice) ?: "? ?`)

// Statements are the content of a fact, divided into what it states.
type Statements struct {
	parts  []*Statement
	before string   // the words around a quotation
	after  string   //
	texts  []string // of the parts
	// speaker is the name at the beginning of the content, if it is one of the speakers. The parts have "the user" instead.
	speaker string
}

// ReadStatements prepares the content of a fact. Instruction says that it addresses the assistant. Speaker is the person
// of [SpeakerOf], whose name at the beginning means the user; "" is none.
func ReadStatements(content string, instruction bool, speaker string) *Statements {
	content, speaker = asUser(content, speaker)
	t := read(content)
	from, to := 0, len(t.fold)
	quoted := false
	if m := quotation.Find(t.fold); m != nil {
		from, quoted = len(m), true
	}
	for to > from && bytes.IndexByte([]byte(` ".!`), t.fold[to-1]) >= 0 {
		to--
	}
	out := &Statements{before: t.orig(0, from), after: t.orig(to, len(t.fold)), speaker: speaker}
	var last *Statement
	small := t.small(from, to)
	for _, x := range t.pieces(from, to, true, instruction) {
		s := &Statement{
			topics: map[string]bool{}, kinds: map[valueKind]bool{}, order: instruction, quoted: quoted, small: small,
			bySpeaker: speaker != "",
		}
		s.source, s.from, s.to, s.ws = t, x.from, x.to, t.words(x.from, x.to)
		s.versions, s.days = sync.OnceValue(s.findVersions), sync.OnceValue(s.findDays)
		s.brief = sync.OnceValue(func() bool { return longAgo.Match(t.fold[s.from:s.to]) || forNow(s) || byAccident(s) })
		s.fill(t, s.ws, quoted, last == nil)
		s.name = s.nameOf(t, s.ws, speaker)
		s.called = foldWord(s.name)
		if last != nil && s.owner == aThing && len(s.subject) == 0 || x.subject != "" && last != nil {
			s.owner, s.person, s.name, s.called = last.owner, last.person, last.name, last.called
			if s.subject = last.subject; x.subject != "" {
				s.words = append(slices.Clone(last.subject), s.words...)
			}
		}
		if last != nil && s.listed(last) {
			s.subject = nil
		}
		if last != nil && s.endsIt(last) {
			s.words = append(s.words, last.object()...)
		}
		out.parts = append(out.parts, s)
		out.texts = append(out.texts, x.words(t.quote(x.from, x.to)))
		last = s
	}
	return out
}

// listed reports whether a part without a verb is another object of the part before: "we have a dog, two cats".
func (s *Statement) listed(last *Statement) bool {
	if s.verbAt < len(s.ws) || len(s.ws) == 0 || !mine(last) || last.verb != "" && !loose[last.verb] {
		return false
	}
	f := s.source.folded(s.ws[0])
	return nominal[f] && !prepositional[f] || numberWords[f]
}

// endsIt reports whether a statement ends what the one before is about: "I had a scooter, I sold it".
func (s *Statement) endsIt(last *Statement) bool {
	it := func(w word) bool {
		f := s.source.folded(w)
		return objectPronouns[f] || strings.HasPrefix(f, "l'") && s.source.quotesFrench()
	}
	own := func(x term) bool { return !x.verb() && !cueStems()[x.stem] && !timeStems[x.stem] }
	if last.verbAt == len(last.ws) && len(s.ws) > 0 && s.changes().cueAt[0] == cueEnd && s.changes().says(cueEnd) {
		return true // "the Friday call, cancelled by the board"
	}
	return slices.ContainsFunc(s.ws, it) && !slices.ContainsFunc(s.words, own) && s.changes().says(cueEnd)
}

var objectPronouns = wordSet("it them ihn lo los las les")

// object returns the head of the first noun phrase behind the verb of a statement.
func (s *Statement) object() []term {
	t := s.source
	var phrase []term
	from := s.verbAt + 1
	if from > len(s.ws) {
		from = 0
	}
	for _, w := range s.ws[from:] {
		f := t.folded(w)
		x := term{stem(f), t.capital(w.from)}
		if isContent(f) && !isCue(f) && !x.verb() {
			phrase = append(phrase, x)
		} else if len(phrase) > 0 {
			break
		}
	}
	if len(phrase) > 0 && !t.quotesFrench() && !t.quotesSpanish() {
		phrase = phrase[len(phrase)-1:]
	}
	return phrase[:min(len(phrase), 1)]
}

// changes returns what a statement changes. It is read when it is needed first.
func (s *Statement) changes() *change {
	s.once.Do(func() { s.read = readChange(s.source, s.from, s.to, s.order) })
	return &s.read
}

// fill fills the parts of a statement from its words.
func (s *Statement) fill(t *text, ws []word, quoted, first bool) {
	s.owner = aThing
	if quoted {
		s.owner = theUser
	}
	verbAt := s.findVerb(t, ws)
	s.verbAt = verbAt
	s.owner, s.person = ownerOf(t, ws, verbAt, quoted)
	if s.owner == aThing && verbAt == 0 && first && !s.order && pastVerb(t.folded(ws[0])) {
		s.owner = theUser // "Cancelled Netflix"
	}
	for i, w := range ws {
		f := t.folded(w)
		if topic, ok := topicWords[f]; ok && !(moves[f] && toThing(t, ws, i)) {
			s.topics[topic] = true
		}
		s.denies = s.denies || denials[f] || strings.HasSuffix(f, "n't")
		switch {
		case numberWords[f]:
			s.kinds[aNumber] = true
		case f[0] >= '0' && f[0] <= '9':
			s.kinds[aNumber] = true
			if looksLikeTime(t, ws, i) {
				s.kinds[aTime] = true
			}
		case dayWords[f]:
			s.kinds[aTime] = true
		}
		if !isContent(f) {
			continue
		}
		x := term{stem(f), t.capital(w.from) && (i > 0 || !verbForm(f)) || f[0] >= '0' && f[0] <= '9'}
		x.proper = x.proper || s.small && i > verbAt && t.namePlace(ws, i)
		s.words = append(s.words, x)
		if i < verbAt {
			s.subject = append(s.subject, x)
		} else if i > verbAt && x.proper {
			s.kinds[aName] = true
		}
	}
	s.readTopics()
}

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
func (s *Statement) findVerb(t *text, ws []word) int {
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

var verbSubjects = wordSet("i we he she ich wir je nous on il elle yo")

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

// denials are the words that negate a statement.
var denials = wordSet("not no never none without nicht kein keine keinen keinem keiner nie niemals ohne pas jamais " +
	"sans aucun nunca jamas sin dont doesnt didnt isnt arent wasnt werent havent hasnt")

// ownerOf returns whose attribute a statement gives, from the words up to its verb.
func ownerOf(t *text, ws []word, verbAt int, quoted bool) (owner, string) {
	who := aThing
	if quoted && verbAt <= 1 {
		who = theUser
	}
	near := min(len(ws), verbAt+3)
	for i := verbAt + 1; i < near; i++ { // "inzwischen wohne ich", unless a relative precedes
		if f := t.folded(ws[i]); inverted[f] != aThing && verbAt < 4 &&
			!slices.ContainsFunc(ws[:verbAt], func(w word) bool { return kin[t.folded(w)] }) {
			return inverted[f], ""
		}
	}
	for i, w := range ws[:near] {
		f := t.folded(w)
		var next string
		if i+1 < len(ws) {
			next = t.folded(ws[i+1])
		}
		switch {
		case i <= verbAt && (f == "user's" || ownWord[f]) && kin[next]:
			if t.andUser(ws[i:min(len(ws), i+6)]) {
				return theTeam, ""
			}
			return aPerson, stem(next)
		case i == 0 && verbAt == 0 && t.isPreterite(ws, 0):
			if strings.HasSuffix(f, "mos") {
				return theTeam, ""
			}
			return theUser, ""
		case i < verbAt && (f == "user's" || ownWord[f] || teamWords[f] && next != ""):
			return aThing, ""
		case f == "user" || firstSingular[f] || f == "he" && t.quotesSpanish():
			return theUser, ""
		case firstPlural[f] && (f != "on" || t.quotesFrench()):
			return theTeam, ""
		case thirdPerson[f] && i <= verbAt && !(f == "el" && t.orig(w.from, w.to) != "él" && t.orig(w.from, w.to) != "Él"):
			return aPerson, f
		case nextTo(t, ws, i, verbAt) && t.capital(w.from) && !function[f] && !isCue(f) && !dayWords[f] && (i > 0 || verbAt <= 2):
			return aPerson, stem(f)
		case i < verbAt && definite[f] && next != "user" && next != "user's":
			return aThing, ""
		}
	}
	return who, ""
}

// andUser reports whether the user is named beside a relative: "my sister and I".
func (t *text) andUser(ws []word) bool {
	for i := 1; i+1 < len(ws); i++ {
		if conjunctions[t.folded(ws[i])] && (userWords[t.folded(ws[i+1])] || i+2 < len(ws) && t.folded(ws[i+2]) == "user") {
			return true
		}
	}
	return false
}

var userWords = wordSet("i ich moi yo me")

// nextTo reports whether only adverbs stand between a word and the verb: "Kev also left".
func nextTo(t *text, ws []word, i, verbAt int) bool {
	return i < verbAt && verbAt < len(ws) && !slices.ContainsFunc(ws[i+1:verbAt], func(w word) bool { return !adverbs[t.folded(w)] })
}

func isCue(f string) bool { _, ok := cueWords[f]; return ok }

// inverted are the subjects that follow their verb.
var inverted = map[string]owner{"ich": theUser, "je": theUser, "yo": theUser, "wir": theTeam, "nous": theTeam, "nosotros": theTeam}

var (
	ownWord       = wordSet("my mein meine meinen meinem meiner mon ma mes mi mis")
	teamWords     = wordSet("our unser unsere unseren unserem unserer notre nos nuestro nuestra nuestros nuestras")
	firstSingular = wordSet(`i i'm im i've ive i'll i'd me ich mir mich bin je j'ai j'habite j'adore j'aime j'utilise moi yo me
		soy estoy tengo vivo trabajo uso voy hago llevo`)
	firstPlural = wordSet("we we're we've we'll us wir uns nous on nosotros somos usamos tenemos vivimos hemos")
	thirdPerson = wordSet("he she he's she's er il elle el ella")
	definite    = wordSet("the der die das den le la les l' los las el this that")
)

// isContent reports whether a folded word has content of its own.
func isContent(f string) bool {
	if len(f) > 1 && f[1] == '\'' && elided[f[0]] { // m'a, j'y, l'ecole
		f = f[2:]
	}
	if f == "" {
		return false
	}
	return kin[f] || (len(f) > 2 || f[0] >= '0' && f[0] <= '9' || f == "o2") && !stopWords[f] &&
		!(function[f] && !contentVerbs[f]) && !copulas[f]
}

// elided are the French words of one letter before a vowel, without their vowel.
var elided = map[byte]bool{'c': true, 'd': true, 'j': true, 'l': true, 'm': true, 'n': true, 's': true, 't': true}

// contentVerbs are function words that say something about an attribute.
var contentVerbs = wordSet("live lives lived work works worked love loves hate hates prefer prefers married allergic moved moving")

func verbForm(f string) bool { _, ok := verbs()[f]; return ok }

// endings of words that vary with number, gender and person, longest first.
var inflections = [...]string{
	"ungen", "iert", "ings", "amos", "emos", "imos", "ung", "ing", "ies", "ied", "ons", "ent", "ait", "ant", "ado", "ada", "ido", "ida",
	"es", "ed", "en", "er", "em", "et", "ez", "ar", "ir", "as", "os", "e", "s", "n", "a", "o", "t", "y",
}

// stem removes the inflection of a folded word. Unrelated words seldom share a stem.
func stem(f string) string {
	f = strings.TrimSuffix(f, "'s")
	if len(f) > 2 && f[1] == '\'' { // l'ecole, d'alcool
		f = f[2:]
	}
	if len(f) > 3 && strings.HasPrefix(f, "qu'") {
		f = f[3:]
	}
	if len(f) == 0 || f[0] >= '0' && f[0] <= '9' {
		return f
	}
	for _, x := range inflections {
		if len(f) >= len(x)+3+min(1, len(x)%2) && strings.HasSuffix(f, x) {
			return f[:len(f)-len(x)]
		}
	}
	return f
}

// dayWords name days, months and times of day.
var dayWords = wordSet(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
	saturdays sundays
	january february march april may june july august september october november december noon midnight
	montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags
	januar februar marz mai juni juli oktober dezember uhr
	lundi mardi mercredi jeudi vendredi samedi dimanche janvier fevrier mars avril juin juillet aout septembre octobre novembre decembre
	midi lunes martes miercoles jueves viernes sabado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre
	noviembre diciembre mediodia`)

var numberWords = wordSet(`two three four five six seven eight nine ten eleven twelve fifteen twenty thirty half weekly daily monthly
	zwei drei vier funf sechs sieben acht neun zehn elf zwolf zwanzig dreissig wochentlich taglich
	deux trois quatre cinq sept huit neuf dix onze douze vingt trente
	dos tres cuatro cinco seis siete ocho nueve diez once doce veinte treinta`)

var ordinal = regexp.MustCompile(`^\d{1,2}(?:st|nd|rd|th|h|am|pm|er)$`)

// looksLikeTime reports whether a number is a part of a day or of a time of day.
func looksLikeTime(t *text, ws []word, i int) bool {
	w := ws[i]
	if ordinal.MatchString(t.folded(w)) || w.to < len(t.fold) && t.fold[w.to] == ':' || w.from > 0 && t.fold[w.from-1] == ':' {
		return true
	}
	for j := max(0, i-3); j < min(len(ws), i+3); j++ {
		if dayWords[t.folded(ws[j])] {
			return true
		}
	}
	return i > 0 && (t.folded(ws[i-1]) == "at" || t.folded(ws[i-1]) == "um") && w.to-w.from <= 2
}

// has reports whether a statement has a word with the stem, or a related compound.
func (s *Statement) has(x term) bool {
	return slices.ContainsFunc(s.words, func(o term) bool { return sameStem(o.stem, x.stem) })
}

// sameStem reports whether two stems are equal, or long and alike: "abonn" and "abonnem".
func sameStem(a, b string) bool {
	if a == b {
		return true
	}
	n := min(len(a), len(b))
	if n == 3 && a[:3] == b[:3] && max(len(a), len(b)) == 4 && (verbForm(a) || verbForm(b)) && verbVowel(a, b) {
		return true // "fumo", "fumar"
	}
	if n == 4 && a[:4] == b[:4] && max(len(a), len(b)) == 5 && a[0] > '9' {
		return true
	}
	if len(a) == len(b) && n >= 4 && a[:n-1] == b[:n-1] && strings.IndexByte("aeo", a[n-1]) >= 0 && strings.IndexByte("aeo", b[n-1]) >= 0 {
		return true // "jefe", "jefa"
	}
	return n >= 5 && a[:n] == b[:n] && max(len(a), len(b))-n <= 4 && a[0] > '9'
}

// verbVowel reports whether the longer of two stems ends as a Spanish or French verb does.
func verbVowel(a, b string) bool {
	if len(b) > len(a) {
		a = b
	}
	return a[len(a)-1] == 'o' || a[len(a)-1] == 'e'
}

// HoldsNow adds to a content of one statement that it holds from now on.
func (s *Statements) HoldsNow() {
	if len(s.parts) == 1 {
		s.parts[0].changes().cues[cueNow] = true
	}
}

// passes reports whether a statement says nothing that holds from now on: a doubt, a memory of earlier times, an exception.
func (s *Statement) passes() bool {
	c := s.changes()
	return c.doubt || c.denied || c.says(cuePast) || s.brief()
}

// Changes reports whether a content may change an earlier one: it says so, or names a value of its own.
func (s *Statements) Changes() bool {
	return slices.ContainsFunc(s.parts, func(x *Statement) bool {
		c := x.changes()
		return !c.doubt && (c.says(changeCues[:]...) || len(x.subject) > 0 && len(x.kinds) > 0 || len(x.topics) > 0)
	})
}

// Keys returns the beginnings of the content words of a text, and its topics, in order. Texts that share no key do not
// change each other. It takes a tenth of the time of [ReadStatements].
func Keys(content string) []string {
	var out []string
	var before string
	add := func(f []byte, capital bool) {
		w := strings.Trim(string(f), "'")
		if w != "" && isContent(w) {
			out = append(out, key(stem(w)))
		}
		if topic := topicOf(before, w); topic != "" {
			out = append(out, "#"+topic)
		}
		if topic, ok := topicWords[w]; ok {
			out = append(out, "#"+topic)
		} else if capital && employing[before] || w == "started" || trained[w] || len(w) > 5 && hasAnySuffix(w, tradeEndings...) {
			out = append(out, "#work")
		} else if homeNouns[w] {
			out = append(out, "#home")
		}
		before = w
	}
	var word []byte
	capital := false
	for _, r := range content {
		c := fold(r)
		if !inWord(c) {
			if len(word) > 0 {
				add(word, capital)
			}
			word = word[:0]
			continue
		}
		if len(word) == 0 {
			capital = unicode.IsUpper(r)
		}
		word = append(word, c)
	}
	if len(word) > 0 {
		add(word, capital)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// key returns the beginning of a stem.
func key(stem string) string { return stem[:min(len(stem), 5)] }

// Common returns a function that reports whether more than one of some texts with the given keys has a word.
func Common(keys iter.Seq[[]string]) func(stem string) bool {
	count := map[string]int{}
	for ks := range keys {
		for _, k := range ks {
			count[k]++
		}
	}
	return func(stem string) bool { return count[key(stem)] > 1 }
}
