//nolint:misspell // some words are Spanish and French
package facts

import (
	"bytes"
	"strings"
)

// Gate is the least confidence of a fact worth storing from a short message. Long messages, and units with an
// objection, need [sure].
const Gate = 0.7

// Words before a statement: fillers, requests to remember, and doubts.
var (
	fillers = wordSet(`hi hey hello ok okay oh ah well so yeah yes yep no nope sure thanks btw fyi also and but
		plus actually honestly basically
		anyway anyways note update ps tbh sadly unfortunately luckily fortunately wait look listen sorry
		correction hmm lol haha ugh man dude
		because since cause cuz although though then still now right cool great nice awesome perfect alright wow yay oops sup meanwhile
		und aber also ja nein hallo danke okay ubrigens ach naja jedenfalls denn leider zum
		please pls plz bitte porfa y pero hola gracias bueno pues ademas porque por si
		et mais bonjour salut merci alors donc bon ben car oui non coucou`)
	leadIn = pattern(`^(?:por favor|actualmente|actuellement|en ce moment|momentan|s'il te plait|s'il ` +
		`vous plait|thank you(?: so much| very much)?|good (?:morning|afternoon|evening|news)|by the way|just so ` +
		`you know|for the record|for context|for reference|just fyi|` +
		`quick (?:note|update|question|intro|heads up)|as i said|as i mentioned|to be (?:honest|clear|fair|` +
		`precise)|as you know|in fact|one more thing|turns out|it turns out|turned out|it turned out|in our ` +
		`(?:house|home|family|team|office|company|codebase|repo|project)|in this (?:codebase|repo|project)|` +
		`in my (?:family|house|team|job|spare time|free time)|at (?:home|work|my job|our company|the ` +
		`office)|on weekends|these days|guess what|the thing is|` +
		`some (?:context|background)|a bit of (?:context|background)|(?:my )?(?:context|background)|` +
		`first(?:ly)?(?: of all)?|second(?:ly)?|finally|lastly|long story short|in case (?:it matters|it helps|you need it)|` +
		`to (?:give you )?(?:some )?context|heads up|about me|a little about me|little update|small update|` +
		`no worries|in general|speaking of which|of course|you know what|` +
		`not that it matters|random|p\.s\.?|ps|on a side note|side note|before i forget|for what it's worth|fwiw|` +
		`imo|imho|in my opinion|since you asked|to answer your question|last thing|great news|big news|bad news|` +
		`the good news is|the bad news is|` +
		`zur info|nur zur info|zum kontext|guten (?:morgen|tag|abend)|nebenbei|nur damit du(?: es)? (?:weisst|` +
		`weist)|damit du bescheid weis+t|was ich noch sagen wollte|ehrlich gesagt|kurze info|info|kleine info|` +
		`por cierto|buenos dias|buenas tardes|buenas noches|buenas|para que (?:lo )?sepas|a proposito|en realidad|` +
		`la verdad|de hecho|una cosa mas|ah si|` +
		`au fait|pour info|pour information|d'ailleurs|en fait|a propos|a vrai dire|pour (?:le )?contexte|petite ` +
		`info|juste pour info|sinon|du coup|en passant|bonsoir)(?: that| dass| que|,| -|:)*\s+`)
	remember = pattern(`^(?:(?:please|pls|plz|and|also|can you|could you|just|i(?:'d| would) like you ` +
		`to|i want you to|bitte|por favor|peux-tu|kannst du|stp|s'il te plait)[, ]+)*` +
		`(?:remember|keep in mind|bear in mind|(?:please )?note|make a note|take note|don'?t forget|do not forget|` +
		`never forget|be aware|memori[sz]e|save this|save|for (?:your|future) (?:reference|memory)|note to ` +
		`self|for the record|fyi|(?:quick |small |friendly )?reminder(?: for later)?|for later|` +
		`merk[e]? dir|dir (?:bitte )?(?:merken|notieren)|denk dran|denk daran|behalte?(?: im hinterkopf| bitte)?|` +
		`vergiss nicht|notier[e]? dir|beachte|` +
		`zur erinnerung|speicher[e]?(?: dir)?|` +
		`recuerda|ten en cuenta|no olvides|apunta|anota|acuerdate(?: de)?|toma nota|guarda|` +
		`souviens-toi|retiens|n'oublie pas|note bien|note|garde en tete|rappelle-toi|sache|garde a l'esprit)` +
		`(?: bitte| mal| dir| in your memory| this| das| esto| ca| por favor| stp| bien|` +
		` de)*(?:\s*[,:-]+)?(?:\s*(?:that|dass|das|de que|que|qu'))?(?:\s*[:,]\s*|\s+|')`)
	hedge = pattern(`^(?:i (?:think|guess|believe|suppose|suspect|reckon|feel like)|maybe|perhaps|` +
		`probably|possibly|might be that|not sure but|i'?m not sure but|iirc|if i remember correctly|i (?:might|may|could) be wrong but|` +
		`as far as i know|afaik|apparently|supposedly|ich (?:glaube|denke|vermute)|vielleicht|wahrscheinlich|` +
		`moglicherweise|eventuell|soweit ich weis+|creo|pienso|quiza|quizas|tal vez|a lo mejor|probablemente|supongo|` +
		`je (?:crois|pense|suppose)|peut-etre|probablement|sans doute)(?:,|\s+that|\s+dass|\s+que|\s+qu')?(?:\s+|')`)
	condition = pattern(`^(?:if|unless|whether|suppose|supposing|assuming|assume|let'?s say|say i|` +
		`imagine|what if|hypothetically|in case|as if|as though|wish|i wish|when i was asked|were i|had i|for example|for instance|e\.g|` +
		`wenn|falls|sofern|angenommen|nehmen wir an|ob|mal angenommen|zum beispiel|hatte ich|ware ich|konnte ich|` +
		`si|ojala|supon|supongamos|imagina|imaginemos|en caso|por ejemplo|` +
		`s'il|s'ils|suppose|supposons|admettons|imagine|imaginons|au cas|par exemple|disons)\b`)
	joking = pattern(`(?:^(?:oh yes|haha yes|yeah sure|na klar|si claro|ja klar|bien sur), ?|\s/s\b|` +
		`\bjust kidding\b|\bjk\b|\bkidding\b|\byeah right\b|\bsarcas|\boh sure\b|\bas if\b|\bsaid no one\b|\bnot! ` +
		`*$|\bironi|\bscherz\b|\bspass\b|\bes broma\b|\bbromeo\b|\bje plaisante\b|\bje rigole\b)`)
	story = pattern(`\b(?:in (?:my|the|this|his|her) (?:novel|story|book|game|script|screenplay|` +
		`dream)|my (?:character|protagonist)|the (?:protagonist|narrator|hero)|persona|in einem roman|en mi novela|` +
		`dans mon roman|dreamt|dreamed that)\b`)
	oneTask = pattern(`\b(?:this time|for this (?:one|task|email|message|file|question|answer|function|` +
		`script|post|essay|report|response|reply|commit|pr|test|bug|case|time)|in this (?:email|file|function|` +
		`script|case|post|essay|report|response|reply|message|answer|text|letter)|just (?:this )?once|for now|` +
		`only today|just today|for today|right now|` +
		`this one (?:in|as|for|on)|just this|no [a-z]+ this time|for once|tonight|` +
		`diesmal|dieses (?:eine )?mal|ausnahmsweise|nur heute|im moment|gerade|fur diese|in dieser|` +
		`esta vez|por ahora|solo hoy|por una vez|excepcionalmente|` +
		`cette fois|pour une fois|exceptionnellement|ce soir|` +
		`pour l'instant|juste aujourd'hui|pour cette|pour ce)\b`)
	secret = pattern(`\b(?:password|passwort|passwd|passphrase|passcode|contrasena|mot de passe|api[ ` +
		`-]?key|apikey|access[ -]?key|secret(?:s|o|os|a|as|e)?\b|token|private key|credit card|card number|` +
		`cvv|cvc|iban|ssn|social security|pins?\b|pincode|kreditkarte|tarjeta de credito|carte (?:de credit|bancaire)|otp|recovery ` +
		`(?:code|phrase)|seed phrase|sk-[a-z0-9]|ghp_|akia[a-z0-9])`)
	reported = pattern(`^(?:people|they|some|everyone|everybody|most people|studies|experts|scientists|` +
		`man|la gente|les gens|on) (?:say|says|think|believe|claim|sagt|dice|dicen|disent|dit)\b`)
)

// setting describes the words before and around a statement.
type setting struct {
	remember, hedge bool
	cue             string   // the words that ask to remember
	why             []string // objections
	less            float64
}

// doubt lowers the confidence for a reason.
func (s *setting) doubt(by float64, why string) {
	s.less += by
	s.why = append(s.why, why)
}

// judge records the objections to clause k of a sentence as a statement.
func (t *text) judge(s *sentenceSpan, k int, set *setting) {
	c := s.clauses[k]
	switch {
	case c.from >= s.asked && !set.remember:
		set.doubt(.6, "a question")
	case c.supposed:
		set.doubt(.5, "a condition")
	case k+1 < len(s.clauses) && dependent[t.first(s.clauses[k+1].from, s.to)]:
		set.doubt(.3, "depends on a condition")
	}
	switch {
	case s.joke:
		set.doubt(.5, "a joke")
	case s.story:
		set.doubt(.5, "told in a story")
	case reported().Match(t.fold[c.from:min(s.to, c.from+window)]):
		set.doubt(.4, "hearsay")
	}
	if s.secret {
		set.doubt(1, "about a secret")
	}
}

// dependent holds the words that begin a condition after its main clause.
var dependent = wordSet("if unless falls si")

// survey looks once at a sentence for reasons why its clauses are no statements.
func (t *text) survey(s *sentenceSpan) {
	all := t.fold[s.from:s.to]
	may := t.hints(s)
	s.joke = may[aJoke] && joking().Match(all)
	s.story = may[aStory] && story().Match(all)
	s.secret = may[aSecret] && secret().Match(harmless().ReplaceAll(all, nil))
	s.task = may[aTask] && oneTask().Match(all) && !beyondOne().Match(all)
	s.asked = s.to + 1
	if at, ok := t.asks(s); ok {
		s.asked = at
	}
	supposed := false
	for i := range s.clauses {
		supposed = supposed || condition().Match(t.fold[s.clauses[i].from:min(s.to, s.clauses[i].from+window)])
		s.clauses[i].supposed = supposed
	}
}

// Suspicions about a sentence, raised by the beginnings of its words.
const (
	aJoke = iota
	aStory
	aSecret
	aTask
	numHints
)

// hintsOf maps beginnings of words, up to three letters, to the patterns that can match them. It
// spares most sentences the patterns.
var hintsOf = func() map[string][numHints]bool {
	out := map[string][numHints]bool{}
	for i, list := range [numHints]string{
		aJoke:   "s jk kid yea sar sur if sai not iro sch spa bro pla rig oh hah na si ja bie",
		aStory:  "nov sto boo gam scr dre cha pro nar her per rom",
		aSecret: "pas con mot api acc sec tok pri cre car cvv cvc iba ssn soc pin kre tar otp rec see sk ghp aki",
		aTask:   "thi now onc tod rig die nur mom ger est aho hoy cet l'i auj pou",
	} {
		for w := range strings.FieldsSeq(list) {
			h := out[w]
			h[i] = true
			out[w] = h
		}
	}
	return out
}()

// hints returns the suspicions about a sentence.
func (t *text) hints(s *sentenceSpan) (may [numHints]bool) {
	for _, w := range t.words(s.from, s.to) {
		for i, yes := range hintsOf[string(t.fold[w.from:min(w.to, w.from+3)])] {
			may[i] = may[i] || yes
		}
	}
	return may
}

// asks returns the start of a question or request in a sentence.
func (t *text) asks(s *sentenceSpan) (int, bool) {
	at, found := s.to, false
	for _, c := range s.clauses {
		if askers[t.first(t.skipLead(c.from, s.to), s.to)] && !t.commands(c.from, s) {
			at, found = c.from, true
			if !s.question {
				break
			}
		}
	}
	if s.question && !found {
		return s.from, true
	}
	return at, found
}

// commands reports whether a question word belongs to a standing order or a name.
func (t *text) commands(from int, s *sentenceSpan) bool {
	words := t.fold[from:s.to]
	return bytes.HasPrefix(words, []byte("am ")) && !bytes.HasPrefix(words, []byte("am i ")) ||
		lastingRequest().Match(t.fold[from:min(s.to, from+window)]) || bytes.HasPrefix(words, []byte("may ")) ||
		bytes.HasPrefix(words, []byte("que ")) || bytes.HasPrefix(words, []byte("ou ")) ||
		bytes.HasPrefix(words, []byte("why ")) && !s.question
}

// lastingRequest matches a request that holds for more than one answer.
var lastingRequest = pattern(`^(?:bitte )?(?:schreib|schreibe|zeig|zeige|gib|mach|give|show|write|list|escribe|` +
	`da|dame|ecris|donne|montre)(?:-moi)?(?: [a-z]+){0,3} (?:immer|stets|always|siempre|toujours)\b`)

// harmless matches words about secrets that reveal none.
var harmless = pattern(`\b(?:password manager|passwortmanager|passwordless|token (?:limit|budget)|` +
	`secret santa|secret (?:ingredient|recipe))\b`)

// first returns the first word between two positions.
func (t *text) first(from, to int) string {
	for from < to && !inWord(t.fold[from]) {
		from++
	}
	end := from
	for end < to && inWord(t.fold[end]) {
		end++
	}
	return strings.TrimRight(string(t.fold[from:end]), "'")
}

// window is the number of code points of a sentence that a rule sees.
const window = 400

// afterNoMore follow the French "plus" that denies.
var afterNoMore = wordSet("besoin de d'aucun la jamais aucun aucune rien")

// skipLead returns the end of the introductory words.
func (t *text) skipLead(from, to int) int {
	for range 6 {
		for from < to && !inWord(t.fold[from]) {
			from++
		}
		rest := t.fold[from:min(to, from+window)]
		if m := leadIn().FindIndex(rest); m != nil {
			from += m[1]
			continue
		}
		w := t.first(from, to)
		if !fillers[w] || from+len(w) >= to || w == "note" || w == "por" || w == "zum" || w == "no" || w == "now" ||
			w == "right" || w == "so" && t.first(from+2, to) == "far" || w == "plus" && afterNoMore[t.first(from+4, to)] {
			return from
		}
		from += len(w)
	}
	return from
}
