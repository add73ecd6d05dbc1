package redact

import (
	"slices"
	"strings"
)

// phrase is the sentence around a word for a secret.
type phrase struct {
	*scanner
	c             class
	before, after []proseWord // the sentence before the word, and the text after it
	mark          byte        // the sign directly after the word
	noun          string      // the word for a secret
	end           int         // of that word
	english       bool
}

// prose redacts the value that a sentence binds to the word for a secret text[i:j]: "the password for the
// printer is …", "use … as the password". ahead is whether the value may follow the word.
func (p *scanner) prose(c class, i, j int, ahead bool) {
	if !wordEndsAt(p.s, j) {
		return
	}
	word := strings.ToLower(p.s[i:j])
	for i > 1 && p.s[i-1] == '-' && p.s[i-2] > ' ' { // WLAN-Passwort
		at := i - 1
		for at > 0 && i-at < maxNoun && (wordByte[p.s[at-1]] || p.s[at-1] >= 0x80) {
			at--
		}
		if at == i-1 {
			break
		}
		i = at
	}
	if word == "passe" {
		i -= len("mot de ")
	}
	ph := phrase{
		scanner: p, c: c, noun: word, end: j, english: englishNouns[word],
		before: p.proseWords(p.sentenceStart(i), i), after: p.proseWords(j, j+maxAfter),
	}
	if at := blanks(p.s, j); j < len(p.s) && p.s[j] != 'n' && marksClause[p.s[j]] {
		ph.mark = p.s[j]
	} else if at < len(p.s) && (p.s[at] == '?' || p.s[at] == '!') {
		ph.mark = p.s[at]
	}
	for n := range ph.before { // the end of the window is not the end of a line
		if ph.before[n].mark == 'n' {
			ph.before[n].mark = 0
		}
	}
	if n := len(ph.after); n == 0 && ph.mark == '?' || n > 0 && ph.after[n-1].mark == '?' { // the answer is on the next line
		end := j
		if n > 0 {
			end = ph.after[n-1].end
		}
		if next := strings.IndexByte(p.s[end:min(len(p.s), end+8)], '\n'); next >= 0 {
			ph.after = append(ph.after, p.proseWords(end+next+1, j+maxAfter)...)
		}
	}
	if ph.mark == 0 && compounds[ph.word(0)] || word == "pass" && !ph.passNoun() {
		return // "password reset" is not a password
	}
	if ph.called() || ph.framed() || !ahead {
		return
	}
	if w, ok := hasPrefixFold(p.s, j, "'s ", "’s "); ok {
		ph.after = p.proseWords(j+len(w), j+maxAfter)
		ph.takeAll(0)
	} else if !ph.adjacent() {
		before := len(p.found)
		if ph.bound(); len(p.found) == before {
			ph.afterColon()
		}
	}
}

// passNoun reports whether "pass" is short for a password: "the ski pass" is not.
func (p *phrase) passNoun() bool {
	if len(p.before) == 0 {
		return true
	}
	t := p.before[len(p.before)-1]
	return t.mark != 0 || t.w == "my" || owners[t.w] || with[t.w] || p.hasAccount()
}

// hasAccount reports whether a user name stands before the word: "user ada and password".
func (p *phrase) hasAccount() bool {
	for n, t := range p.before {
		if strings.Contains(t.w, "@") {
			return true
		}
		if !accounts[t.w] {
			continue
		}
		for n++; n < len(p.before) && (with[p.before[n].w] || p.before[n].w == "in" || p.before[n].w == "into" ||
			articles[p.before[n].w] || copulas[p.before[n].w] || p.before[n].w == "dich"); n++ {
		}
		if n < len(p.before) && !p.isWord(p.before[n].w) && !namesSecret(p.before[n].w) {
			return true
		}
	}
	return false
}

// word returns the nth word after the word for a secret, or "".
func (p *phrase) word(n int) string {
	if n < 0 || n >= len(p.after) || p.after[n].quoted {
		return ""
	}
	return p.after[n].w
}

// maxPhrase is the largest number of words between a word for a secret and its value: "the password
// for the guest network of the office is".
const maxPhrase = 12

// bound redacts the value after a copula or another binding that follows the word.
func (p *phrase) bound() {
	if p.mark == '?' || p.mark == '.' || p.mark == '!' || p.mark == ';' {
		p.reply(0, p.mark == '?' && p.isFragment())
		return
	}
	subject := p.mark != ','                 // a copula can belong to the word
	if !subject && conjunctions[p.word(0)] { // the password, if you need it, is …
		for n := 1; n+2 < min(len(p.after), maxPhrase); n++ {
			if p.after[n].mark == ',' && copulas[p.word(n+1)] {
				p.takeAll(n + 2)
				return
			}
		}
	}
	for n := 0; n < min(len(p.after), maxPhrase); n++ {
		t := p.after[n]
		starts := n > 0 && p.after[n-1].closes() || n == 0 && p.mark == ','
		size := p.pronounCopula(n)
		switch {
		case size > 0 && (starts || !p.english || t.w[0] == 'c'):
			p.take(n+size, true)
			return
		case n > 0 && entered[t.w] && chosen[p.c] && p.enter(p.after[n+1:]):
			return
		case subject && t.w == "used" && p.word(n+1) == "to" && p.word(n+2) == "be":
			p.takeAll(n + 3)
			return
		case subject && copulas[t.w] && (t.w != "son" || p.word(n-1) != "de"):
			if n+1 == len(p.after) {
				p.ownLine(t.end)
			} else {
				p.takeAll(n + 1)
			}
			return
		case subject && becomes[t.w] && (!p.english || t.w == "to" || t.w == "auf" || p.c == pin || p.c == code) && p.changed(n) &&
			n+1 < len(p.after) && !articles[p.word(n+1)]:
			p.take(n+1, true)
			return
		case (t.mark == ':' || t.mark == '=') && (subject || p.mark == ','):
			p.take(n+1, false)
			return
		case t.ends() || t.mark == ';':
			p.reply(n+1, t.mark == '?' && p.isFragment())
			return
		case n == 0 && subject && !t.quoted:
			subject = prepositions[t.w] || using[p.word(1)] || adverbs[t.w] || !p.english && (copulas[p.word(1)] ||
				p.pronounCopula(1) > 0)
		}
		subject = subject && !conjunctions[t.w]
	}
}

// afterColon redacts a word alone at the end of a sentence about the secret: "my password is too simple: …".
func (p *phrase) afterColon() {
	if p.c != password {
		return
	}
	for n := 0; n+1 < len(p.after); n++ {
		t := p.after[n+1]
		if p.after[n].ends() || p.after[n].mark == ';' {
			return
		}
		if p.after[n].mark == ':' {
			if first, end := p.valueAt(p.after[n+1:]); n > 1 && end == first+1 && t.ends() && (p.strong(t) || len(t.w) > 7) {
				p.maskWord(t)
			}
			return
		}
	}
}

// ownLine redacts a value alone on the line after the verb that ends at i.
func (p *phrase) ownLine(i int) {
	for i < len(p.s) && (p.s[i] == ':' || p.s[i] == ' ') {
		i++
	}
	if i >= len(p.s) || p.s[i] != '\n' && p.s[i] != '\r' {
		return
	}
	for range 3 {
		for i < len(p.s) && (p.s[i] == '\n' || p.s[i] == '\r') {
			i++
		}
		i = blanks(p.s, i)
	}
	if strings.HasPrefix(p.s[i:], "```") {
		_, i = onItsOwnLine(p.s, i-1)
	}
	if i < len(p.s) && strings.IndexByte("-#>{[", p.s[i]) < 0 {
		p.after = p.proseWords(i, i+maxAfter)
		p.take(0, true)
	}
}

// takeAll redacts the value at the nth word after the word, and one that followed it: "was …, and now it is …".
func (p *phrase) takeAll(n int) {
	if n > 0 && p.after[n-1].mark == ',' { // is, I believe, …
		for m := n; m < min(len(p.after), n+4); m++ {
			if p.after[m].mark == ',' && pronouns[p.after[n].w] {
				n = m + 1
				break
			}
		}
	}
	if p.word(n) == "out" {
		n++
	}
	if n+1 < len(p.after) && (p.word(n) == "to" && p.word(n+1) == "be" || becomes[p.word(n)] && p.changed(n)) {
		n++
	}
	p.take(n, false)
	for end := min(len(p.after), n+maxPhrase); n < end; n++ {
		if !newly[p.word(n)] {
			continue
		}
		at := n + 1
		for at < end && (copulas[p.word(at)] || pronouns[p.word(at)] || p.word(at) == "one" || p.pronounCopula(at) > 0) {
			at++
		}
		if n > 0 && (copulas[p.word(n-1)] || at > n+1 || p.after[n-1].closes() && at < end && p.after[at].closes() && p.c != passphrase) {
			p.take(at, true)
		}
	}
}

// pronounCopula returns the number of words of "it's" or "es ist" at the nth word after the word, or 0.
func (p *phrase) pronounCopula(n int) int {
	w := strings.ReplaceAll(p.word(n), "’", "'")
	switch {
	case w == "it's" || w == "that's" || w == "c'est" || w == "ist's" || w == "its":
		return 1
	case (pronouns[w] && copulas[p.word(n+1)]) || copulas[w] && pronouns[p.word(n+1)]:
		return 2
	}
	return 0
}

// changed reports whether a verb of change stands before the nth word after the word.
func (p *phrase) changed(n int) bool {
	is := func(t proseWord) bool { return changing[t.w] }
	return slices.ContainsFunc(p.before, is) || slices.ContainsFunc(p.after[:n], is) ||
		slices.ContainsFunc(p.after[n:min(len(p.after), n+maxPhrase)], is)
}

// isFragment reports whether the sentence only asks for the secret: "And the wifi password?"
func (p *phrase) isFragment() bool {
	return len(p.before) < 6 && !slices.ContainsFunc(p.before, func(t proseWord) bool {
		return !asksOnly(t.w) && t.start != p.before[len(p.before)-1].start && !(t.w == "quoi")
	})
}

// asksOnly reports whether a word adds nothing to a question for a secret: an article, a filler, "what".
func asksOnly(w string) bool {
	return articles[w] || fillers[w] || owners[w] || conjunctions[w] || copulas[w] || asking[w]
}

// reply redacts the value in the sentence after the one that has the word, which begins at the nth word:
// "The password? It's …". Without a verb, it must be the answer to a bare question.
func (p *phrase) reply(n int, bare bool) {
	for n < len(p.after) && (fillers[p.word(n)] || interjections[p.word(n)]) {
		n++
	}
	if pronouns[p.word(n)] && entered[p.word(n+1)] {
		p.enter(p.after[n+2:])
	} else if size := p.pronounCopula(n); size > 0 {
		p.take(n+size, true)
	} else if !p.english && copulas[p.word(n)] {
		p.take(n+1, true)
	} else if bare {
		p.take(n, true)
	}
}

// enter redacts a value that is entered: "it asks for a password, so I typed …".
func (p *phrase) enter(toks []proseWord) bool {
	if len(toks) == 0 || !p.plausible(toks[0]) {
		return false
	}
	if t := toks[0]; t.quoted || p.strong(t) || t.closes() || len(toks) > 1 && (conjunctions[toks[1].w] || prepositions[toks[1].w]) {
		p.maskWord(t)
		return true
	}
	return false
}

// adjacent redacts a value directly after the word: "user ada and password …", "PIN 4711".
func (p *phrase) adjacent() bool {
	if p.c == password && p.mark == ',' && len(p.after) > 0 && p.after[0].mark == ',' && len(p.before) > 0 &&
		articles[p.before[len(p.before)-1].w] {
		return p.plausible(p.after[0]) && !compounds[p.after[0].w] && p.maskWord(p.after[0]) // "my password, …, was refused"
	}
	if p.mark != 0 || len(p.after) == 0 {
		return false
	}
	n := 0
	after := len(p.before) > 0 && with[p.before[len(p.before)-1].w] // "als Passwort nehmen wir …"
	for n+1 < len(p.after) && (fillers[p.word(n)] || after && (using[p.word(n)] || pronouns[p.word(n)])) && p.after[n].mark == 0 {
		n++
	}
	t := p.after[n]
	switch {
	case !chosen[p.c]:
		return n == 0 && (t.end-t.start >= 20 && p.c != secret && p.random(t) || p.c == cardCodeWord && p.random(t) ||
			p.c == secret && p.hasAccount() && p.expectsValue(t) && p.plausible(t) && p.maskWord(t))
	case p.c == pin || p.c == code:
		return p.numeric(p.after[n:])
	}
	if from := p.word(0); (from == "from" || from == "von" || from == "de") && p.changed(0) && becomes[p.word(2)] && len(p.after) > 3 &&
		p.plausible(p.after[1]) && p.plausible(p.after[3]) {
		p.maskWord(p.after[1])
		p.maskWord(p.after[3])
		return true
	}
	if !p.plausible(t) || compounds[t.w] {
		return false
	}
	if t.quoted && n == 0 || p.strong(t) && t.end-t.start >= 6 && !strings.Contains(p.s[t.start:t.end], "=") || p.expectsValue(t) &&
		!copulas[t.w] && !copulas[p.word(n+1)] {
		p.maskWord(t)
		return true
	}
	return false
}

// expectsValue reports whether the words before the word lead to the value t after it: "with the password",
// "user ada and password", "they gave me the password".
func (p *phrase) expectsValue(t proseWord) bool {
	if n := slices.IndexFunc(p.after, func(u proseWord) bool { return u.start == t.start }); n >= 0 && subjects[p.word(n+1)] &&
		t.mark == 0 {
		return false // "mit dem Passwort komme ich nicht rein"
	}
	if ending(t.w, "tion", "sion", "ment", "ance", "ness", "ity") || strings.ContainsAny(t.w, "'’") {
		return false
	}
	n := len(p.before)
	for n > 0 && (articles[p.before[n-1].w] || adjectives[p.before[n-1].w] || owners[p.before[n-1].w]) && p.before[n-1].mark == 0 {
		n--
	}
	if n == 0 {
		return false
	}
	last := p.before[n-1]
	if p.hasAccount() && (last.mark == ',' || last.mark == ';' || last.mark == 0 && (with[last.w] || conjunctions[last.w]) ||
		n == len(p.before) && n > 1 && accounts[p.before[n-2].w]) {
		return true
	}
	if n > 1 && recipients[last.w] {
		last = p.before[n-2]
	}
	return p.c == password && last.mark == 0 && (with[last.w] && (n < len(p.before) || t.closes() || !p.english ||
		participle(p.word(1))) ||
		giving[last.w] && (t.closes() || prepositions[p.word(1)] || conjunctions[p.word(1)] || predicates[p.word(1)]))
}

// called redacts a value before the word: "use … as the password", "… is my password".
func (p *phrase) called() bool {
	if p.c != password && p.c != passphrase {
		return false
	}
	if p.modifies() {
		return false
	}
	n := len(p.before) - 1
	for least := n - 4; n > 0 && n > least && !linking[p.before[n].w] && p.before[n].mark == 0; n-- {
		if !articles[p.before[n].w] && !owners[p.before[n].w] && !predicate(p.before[n].w) {
			break
		}
	}
	switch {
	case n < 0:
		return false
	case p.isA():
		return true
	case n > 0 && linking[p.before[n].w]:
		return p.calledAs(n)
	case n > 0 && p.before[n-1].w == "usual" && p.plausible(p.before[n]):
		return p.maskWord(p.before[n])
	case n == 1 && p.before[n].w == "c'est" && p.plausible(p.before[0]):
		return p.maskWord(p.before[0])
	case n >= 0 && (p.before[n].w == "it's" || p.before[n].w == "that's" || p.before[n].w == "c'est"):
		return p.antecedent()
	}
	return false
}

// calledAs redacts the value before the linking word at n.
func (p *phrase) calledAs(n int) bool {
	link := p.before[n].w
	at := n - 1
	for at > 0 && p.before[at].mark == 0 && passwordAdjectives[p.before[at].w] {
		at--
	}
	t := p.before[at]
	verb := slices.IndexFunc(p.before[:n], func(t proseWord) bool { return using[t.w] || entering[t.w] })
	if copulas[link] {
		if pronouns[t.w] {
			return p.antecedent()
		}
		if t.mark != 0 || !p.plausible(t) || at > 0 && !p.before[at-1].closes() && !conjunctions[p.before[at-1].w] && !t.quoted &&
			!p.strong(t) {
			return false
		}
		p.maskWord(t)
		return true
	}
	alone := link != "de" && link != "en" && link != "for" && (at == 0 || proposing[p.before[at-1].w])
	if p.plausible(t) && t.mark == 0 && (t.quoted || p.strong(t) || alone || verb >= 0 && (link != "de" && link != "for" || verb ==
		at-1)) && verb != at {
		p.maskWord(t)
		return true
	}
	if verb >= 0 && verb+1 < n && p.plausible(p.before[verb+1]) {
		p.maskWord(p.before[verb+1])
		return true
	}
	return false
}

// isA redacts the value of "is … a good password?".
func (p *phrase) isA() bool {
	if len(p.before) < 3 || p.mark != '?' || !copulas[p.before[0].w] && !supposing[p.before[0].w] || !p.plausible(p.before[1]) {
		return false
	}
	p.maskWord(p.before[1])
	return true
}

// antecedent redacts the last quotation, or what must be a password, in the sentence before: "Is "…" strong?
// It's my password."
func (p *phrase) antecedent() bool {
	if len(p.before) == 0 {
		return false
	}
	end := p.before[0].start
	for _, t := range slices.Backward(p.proseWords(p.sentenceStart(end-1-min(1, end-1)), end)) {
		if p.plausible(t) && (t.quoted || p.strong(t)) && t.end < end {
			p.maskWord(t)
			return true
		}
	}
	return false
}
