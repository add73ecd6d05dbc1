package facts

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// statement is the content of a fact, prepared for the comparison with others.
type statement struct {
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
	last           *statement         // before it in its content, or nil
	whole          *Statements        // its content
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
	forms    func() map[string][]string
	// forOnce reports whether a wish is about one answer or one text, aboutOthers whether the subject is
	// another person or thing.
	forOnce, aboutOthers func() bool
	// sparesWishes and asking are for [statement.sparesWish], normal and eating for [thaws] and [eatsAgain].
	sparesWishes, asking, normal, eating func() bool
	wishOnce                             sync.Once
	wish                                 wish
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
var quotation = pattern(`^(?:the user says|der nutzer sagt|l'utilisateur dit|el usuario dice) ?: "? ?`)

// Statements are the content of a fact, divided into what it states.
type Statements struct {
	parts  []*statement
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
	if m := quotation().Find(t.fold); m != nil {
		from, quoted = len(m), true
	}
	for to > from && bytes.IndexByte([]byte(` ".!`), t.fold[to-1]) >= 0 {
		to--
	}
	out := &Statements{before: t.orig(0, from), after: t.orig(to, len(t.fold)), speaker: speaker}
	var last *statement
	small := t.small(from, to)
	for _, x := range t.pieces(from, to, true, instruction) {
		s := &statement{
			topics: map[string]bool{}, kinds: map[valueKind]bool{}, order: instruction, quoted: quoted, small: small,
			bySpeaker: speaker != "", last: last, whole: out,
		}
		s.source, s.from, s.to, s.ws = t, x.from, x.to, t.words(x.from, x.to)
		s.versions, s.days = sync.OnceValue(s.findVersions), sync.OnceValue(s.findDays)
		s.forms = sync.OnceValue(s.findForms)
		s.brief = sync.OnceValue(func() bool { return longAgo().Match(t.fold[s.from:s.to]) || forNow(s) || byAccident(s) })
		s.forOnce, s.aboutOthers = sync.OnceValue(s.isForOnce), sync.OnceValue(s.isAboutOthers)
		s.sparesWishes, s.asking = sync.OnceValue(s.mentionsWishOnly), sync.OnceValue(s.hasAskingWords)
		s.normal, s.eating = sync.OnceValue(s.returnsToNormal), sync.OnceValue(s.allowsFood)
		s.fill(t, s.ws, quoted, last == nil)
		s.name = s.nameOf(t, s.ws, speaker)
		s.called = foldWord(s.name)
		s.order = s.order && !s.habit()
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

// habit reports whether the sentence of an order is about a deed of the user: "we drive a Touran".
func (s *statement) habit() bool {
	return mine(s) && s.verbAt < len(s.ws) && !wanting[s.source.folded(s.ws[s.verbAt])] && !s.denies &&
		!ofAnswers().Match(s.source.fold[s.from:s.to]) && len(readWish(s.source, s.from, s.to).values) == 0 && pronounBefore(s)
}

// pronounBefore reports whether a pronoun of the user stands next to the verb of a statement.
func pronounBefore(s *statement) bool {
	return slices.ContainsFunc(s.ws[max(0, s.verbAt-1):min(len(s.ws), s.verbAt+2)], func(w word) bool {
		f := s.source.folded(w)
		return f == "user" || firstSingular[f] || firstPlural[f]
	})
}

// listed reports whether a part without a verb is another object of the part before: "we have a dog, two cats".
func (s *statement) listed(last *statement) bool {
	if s.verbAt < len(s.ws) || len(s.ws) == 0 || !mine(last) || last.verb != "" && !loose[last.verb] {
		return false
	}
	f := s.source.folded(s.ws[0])
	return nominal[f] && !prepositional[f] || numberWords[f]
}

// endsIt reports whether a statement ends what the one before is about: "I had a scooter, I sold it".
func (s *statement) endsIt(last *statement) bool {
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
func (s *statement) object() []term {
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

// changes returns the change of a statement. It is read when it is needed first.
func (s *statement) changes() *change {
	s.once.Do(func() { s.read = readChange(s.source, s.from, s.to, s.order) })
	return &s.read
}

// fill fills the parts of a statement from its words.
func (s *statement) fill(t *text, ws []word, quoted, first bool) {
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
	tokens, number := t.tokens(ws), 0 // the index behind the last number
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
		if !isContent(f) || i < number {
			continue
		}
		x := term{stem(f), t.capital(w.from) && (i > 0 || !verbForm(f)) || f[0] >= '0' && f[0] <= '9'}
		if f[0] <= '9' {
			x.stem, number = wholeNumber(tokens, i)
		}
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

// has reports whether a statement has a word with the stem, or a related compound.
func (s *statement) has(x term) bool {
	return slices.ContainsFunc(s.words, func(o term) bool { return sameStem(o.stem, x.stem) })
}

// HoldsNow adds to a content of one statement that it holds from now on.
func (s *Statements) HoldsNow() {
	if len(s.parts) == 1 {
		s.parts[0].changes().cues[cueNow] = true
	}
}

// passes reports whether a statement says nothing that holds from now on: a doubt, a memory of earlier times, an exception.
func (s *statement) passes() bool {
	c := s.changes()
	return c.doubt || c.denied || c.says(cuePast) || s.brief()
}

// Changes reports whether a content may change an earlier one: it says so, or names a value of its own.
func (s *Statements) Changes() bool {
	return slices.ContainsFunc(s.parts, func(x *statement) bool {
		c := x.changes()
		return !c.doubt && (c.says(changeCues[:]...) || x.order && x.asWish().withdraws ||
			len(x.subject) > 0 && len(x.kinds) > 0 || len(x.topics) > 0)
	})
}
