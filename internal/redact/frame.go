package redact

import "strings"

// valueAt returns the words at the start of toks that can be a value of the class by their form. A word of a
// password only has to be no word that talks about one.
func (p *phrase) valueAt(toks []proseWord) (first, end int) {
	switch {
	case len(toks) == 0:
	case p.c == pin || p.c == code:
		return p.figures(toks)
	case !chosen[p.c]:
		if p.generated(toks[0]) {
			return 0, 1
		}
	case numerals[toks[0].w] || digitsOnly(toks[0].w, 1, 12):
		return p.figures(toks)
	case p.plausible(toks[0]) && !compounds[toks[0].w] && !interjections[toks[0].w] && !adverbs[toks[0].w]:
		return 0, 1
	}
	return 0, 0
}

// generated reports whether t looks like a generated key.
func (p *phrase) generated(t proseWord) bool {
	v := p.s[t.start:t.end]
	return believable(p.c, assigned, v, t.quoted, "", false) || p.c != secret && countDigits(v) > 2 && len(v) >= 12 && p.plausible(t)
}

// give redacts the value at the start of toks if it ends its clause or is followed by what satisfies next.
func (p *phrase) give(toks []proseWord, next func(w string) bool) bool {
	first, end := p.valueAt(toks)
	if end <= first {
		return false
	}
	last := toks[end-1]
	if chosen[p.c] && p.c != pin && p.c != code && !last.quoted && !p.strong(last) && !last.closes() && end < len(toks) &&
		!next(toks[end].w) {
		return false
	}
	return p.mask(toks[first].start, last.end)
}

// valueBefore returns the first of the words that are a value and end toks, or len(toks).
func (p *phrase) valueBefore(toks []proseWord) int {
	n := len(toks) - 1
	if n < 0 {
		return 0
	}
	if p.c == pin || p.c == code || numerals[toks[n].w] || digitsOnly(toks[n].w, 1, 12) {
		for n > 0 && !toks[n-1].closes() && (numerals[toks[n-1].w] || codeFillers[toks[n-1].w] ||
			codeGroup(p.s[toks[n-1].start:toks[n-1].end])) {
			n--
		}
	}
	if first, end := p.valueAt(toks[n:]); end > first && n+end == len(toks) {
		return n + first
	}
	return len(toks)
}

// continuing reports whether a clause continues with w after a value.
func continuing(w string) bool {
	return conjunctions[w] || prepositions[w] || copulas[w] || stops[w] || failing[w] || adverbs[w] || predicates[w]
}

// failing are verbs that follow a value: "my password … was rejected".
var failing = wordSet(`was is does doesn't did didn't works worked fails failed gets got has
	ist wurde wird geht ging klappt funktioniert stimmt komme kommt a ne marche fonctionne fue no funciona`)

// complement returns the number of words after the word for a secret that say what it is for: "for the wiki".
func (p *phrase) complement() int {
	if p.mark == 0 && len(p.after) > 1 && !p.english && owners[p.word(0)] && p.after[0].mark == 0 {
		return 1
	}
	if p.mark != 0 || len(p.after) == 0 || !purposes[p.word(0)] {
		return 0
	}
	n := 1
	for n < len(p.after) && (articles[p.word(n)] || each[p.word(n)]) && p.after[n-1].mark == 0 {
		n++
	}
	if n >= len(p.after) || p.after[n-1].mark != 0 || p.after[n].quoted {
		return 0
	}
	return n + 1
}

// each holds words before one of several things.
var each = wordSet(`each every all any both jede jeden jedes alle chaque cada todos`)

// purposes are prepositions between a secret and what it opens.
var purposes = wordSet(`for of to für fürs vom von der des zum zur de du del d' pour`)

// framed redacts a value that the clauses around the word point at.
func (p *phrase) framed() bool {
	return p.fromTo() || p.renamed() || p.onRequest() || p.beside()
}

// fromTo redacts both values of "from … to …".
func (p *phrase) fromTo() bool {
	n := p.complement()
	if w := p.word(0); w == "from" || (w == "von" || w == "de") && p.changed(0) && len(p.after) > 2 && becomes[p.word(2)] ||
		w == "von" && len(p.after) > 4 && digitsOnly(p.word(1), 1, 12) {
		n = 0
	}
	if w := p.word(n); w != "from" && w != "von" && w != "de" || !p.changed(n) {
		return false
	}
	old := p.after[n+1:]
	for m := 1; m < len(old) && m < 8; m++ {
		if !becomes[old[m].w] || old[m].quoted || old[m-1].mark != 0 {
			continue
		}
		first, end := p.valueAt(old[:m])
		from, to := p.valueAt(old[m+1:])
		if end != m || to <= from {
			continue
		}
		a := p.mask(old[first].start, old[end-1].end)
		return p.mask(old[m+1+from].start, old[m+to].end) || a
	}
	return false
}

// determined returns the start of the words that belong to the word for a secret: its article and adjectives.
func (p *phrase) determined() int {
	n := len(p.before)
	for least := n - 4; n > 0 && n > least; n-- {
		t := p.before[n-1]
		if t.closes() || t.quoted || copulas[t.w] || linking[t.w] {
			break
		}
		if articles[t.w] {
			return n - 1
		}
	}
	n = len(p.before)
	if n > 1 && linking[p.before[n-2].w] && p.before[n-2].mark == 0 && p.before[n-1].mark == 0 && !linking[p.before[n-1].w] {
		return n - 1
	}
	for n > 0 && owners[p.before[n-1].w] && !p.before[n-1].closes() {
		n--
	}
	return n
}

// renamed redacts a value before the word that is said to be the secret: "… is the door code", "it's …, the PIN",
// "try …, that's the password", "use … for the token", "make … the password".
func (p *phrase) renamed() bool {
	d := p.determined()
	if d < 1 || p.modifies() {
		return false
	}
	toks := p.before[:d]
	last := toks[d-1]
	strict := chosen[p.c] && p.c != pin && p.c != code
	before := func(n int) bool { // the value before the nth word
		at := p.valueBefore(toks[:n])
		if at >= n {
			return false
		}
		if strict && !toks[at].quoted && !p.strong(toks[at]) && at > 0 && !toks[at-1].closes() && !p.leadsIn(toks[at-1].w) {
			return false
		}
		return p.mask(toks[at].start, toks[n-1].end)
	}
	switch {
	case last.mark == ',' && d > 1: // it's …, the password
		at := p.valueBefore(toks)
		return p.concludes() && at < d && at > 0 && isCopula(toks[:at]) && !toks[at-1].closes() && p.mask(toks[at].start, last.end)
	case isCopula(toks) && d > 1: // …, that's the password
		n := d - 1
		if pronouns[toks[n-1].w] && copulas[last.w] {
			n--
		}
		return n > 0 && toks[n-1].mark == ',' && before(n)
	case copulas[last.w] && last.mark == 0 && d > 1:
		if at := p.valueBefore(toks[:d-1]); strict && (at == 0 || at < d-1 && !p.leadsIn(toks[at-1].w)) {
			return at == 0 && strings.HasSuffix(last.w, "n't") && before(d-1)
		}
		return before(d - 1)
	case linking[last.w] && last.mark == 0 && d > 1:
		if d > 2 && serving[toks[d-2].w] {
			at := 0
			if supposing[toks[0].w] || toks[0].w == "does" {
				at = 1
			}
			_, end := p.valueAt(toks[at:])
			return end == 1 && d < at+5 && p.maskWord(toks[at])
		}
		return before(d - 1)
	case last.mark == 0 && p.c != code && p.c != pin && d > 1 && (toks[d-2].w == "make" || toks[d-2].w == "c'est"):
		return before(d)
	}
	return false
}

// serving are verbs of what is good for a purpose.
var serving = wordSet(`work works do does serve serves geht ginge taugt sirve vale marche va`)

// concludes reports whether the word and what it is for end the sentence.
func (p *phrase) concludes() bool {
	n := p.complement()
	return p.mark != 0 && p.mark != ',' || n == len(p.after) && (n == 0 || p.after[n-1].closes())
}

// modifies reports whether the word is only the first part of another one: "the password problem".
func (p *phrase) modifies() bool {
	return p.mark == 0 && len(p.after) > 0 && !p.after[0].quoted && p.after[0].closes() && !continuing(p.word(0)) && !predicate(p.word(0))
}

// leadsIn reports whether w stands before a value that is used.
func (p *phrase) leadsIn(w string) bool {
	return using[w] || entering[w] || proposing[w] || w == "says" || w == "said" || w == "c'est"
}

// isCopula reports whether toks end with "it's" or "es ist".
func isCopula(toks []proseWord) bool {
	ph := phrase{after: toks[max(0, len(toks)-2):]}
	return len(toks) > 0 && (ph.pronounCopula(len(ph.after)-1) == 1 || len(toks) > 1 && ph.pronounCopula(0) == 2) ||
		len(toks) > 0 && toks[len(toks)-1].w == "es" && (len(toks) == 1 || toks[len(toks)-2].closes())
}

// onRequest redacts what is entered where the secret is asked for: "enter … when it asks for the password", "for the
// password, type …".
func (p *phrase) onRequest() bool {
	for n := 1; n < len(p.before); n++ {
		if !asked[p.before[n].w] {
			continue
		}
		if at := p.valueBefore(p.before[:n]); at > 0 && at < n && (entering[p.before[at-1].w] || p.before[at-1].w == "gib") {
			return p.mask(p.before[at].start, p.before[n-1].end)
		}
		if n+1 < len(p.before) && p.before[n-1].w == "ein" {
			if at := p.valueBefore(p.before[:n-1]); at > 0 && at < n-1 && p.before[at-1].w == "gib" {
				return p.mask(p.before[at].start, p.before[n-2].end)
			}
		}
	}
	n := p.complement()
	if n == 0 && p.mark != ',' || n > 0 && p.after[n-1].mark != ',' || n >= len(p.after) {
		return false
	}
	if w := p.word(n); entering[w] || using[w] {
		return p.give(p.after[n+1:], conjunction)
	}
	return false
}

func conjunction(w string) bool { return conjunctions[w] }

// asked are words before the request for a secret.
var asked = wordSet(`and but und aber et mais y pero when if where once wenn sobald falls quand si lorsque cuando`)

// beside redacts a value in apposition: "my password … was rejected", "the token (…) expired".
func (p *phrase) beside() bool {
	n := p.complement()
	if p.mark != 0 || p.end < len(p.s) && p.s[p.end] > ' ' || n >= len(p.after) || n > 0 && p.after[n-1].mark != 0 {
		return false
	}
	toks := p.after[n:]
	first, end := p.valueAt(toks)
	if end <= first {
		return false
	}
	t, last := toks[first], toks[end-1]
	switch {
	case p.c == pin || p.c == code || !chosen[p.c] || p.noun == "passcode" && countDigits(p.s[t.start:last.end]) > 3:
		return (p.c != secret || p.hasArticle()) && (n == 0 || !chosen[p.c] || countDigits(p.s[t.start:last.end]) > 3) &&
			p.mask(t.start, last.end)
	case t.quoted, t.start > 0 && p.s[t.start-1] == '(' && t.mark == ')', p.strong(t) && len(p.s[t.start:t.end]) >= 6:
	case p.c == password && p.expectsValue(t) && !copulas[t.w] && !using[t.w]:
	case t.mark == '-' && n == 0 && dash(p.s[p.end:t.start]), n == 0 && t.closes() && len(p.before) > 0 &&
		announcing[p.before[0].w] && dash(p.s[p.end:t.start]):
	case n == 0 && p.c == password && t.closes() && t.mark != ':' && p.listed():
	case p.hasArticle() && !t.closes() && len(toks) > 1 && failing[toks[1].w]:
	default:
		return false
	}
	return p.mask(t.start, last.end)
}

// listed reports whether the word begins a clause after an order to keep it or after a name: "store this: password …".
func (p *phrase) listed() bool {
	d := p.determined()
	if d == 0 || p.before[d-1].mark != ':' && p.before[d-1].mark != ',' {
		return false
	}
	for n, t := range p.before[:d] {
		if keeping[t.w] || n+1 < d && accounts[t.w] || t.w == "name" {
			return true
		}
		if n+1 == d && n > 0 && (t.w == "root" || t.w == "admin") {
			return true
		}
	}
	return false
}

// keeping are verbs of orders to keep something.
var keeping = wordSet(`remind store save note remember keep merk merke notiere speichere retiens note recuerda guarda apunta`)

// announcing begin a sentence that hands a secret over.
var announcing = wordSet(`here here's hier voici aquí`)

// dash reports whether s is a dash between spaces.
func dash(s string) bool {
	s = strings.TrimSpace(s)
	return s == "-" || s == "–" || s == "—"
}

// hasArticle reports whether an article stands before the word.
func (p *phrase) hasArticle() bool {
	n := p.determined()
	return n < len(p.before) && articles[p.before[n].w]
}
