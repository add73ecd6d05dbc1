package timeexpr

// named returns the sessions from first to last.
func named(first, last, next int) (found, bool) {
	if first > last && (first > 0) == (last > 0) {
		first, last = last, first
	}
	return found{kind: sessions, sess: [2]int{first, last}, from: openEnd, to: openEnd, next: next}, true
}

// noun reports whether token i names a recorded conversation. Ambiguous nouns need "our" before the
// phrase, which begins at start.
func (p *parser) noun(i, start int) bool {
	if i >= len(p.toks) || i > start && !p.near(i) {
		return false
	}
	if !p.is(i, session) && !(p.is(i, weakly) && (p.is(start-1, our) || p.is(start, our))) {
		return false
	}
	return !p.next(i+1, computing) && !p.ofSomething(i+1)
}

// ofSomething reports whether the session belongs to an event: "the first session of the congress".
func (p *parser) ofSomething(i int) bool {
	return p.near(i) && p.at(i).word == "of" && !p.is(i+1, our|calendar) && p.at(i+1).cardinal == 0 && p.near(i+1) &&
		p.tok(i+1).digits == 0
}

// sessions reads sessions named by number.
func (p *parser) sessions(i int, _ role) (found, bool) {
	for _, rule := range [...]func(*parser, int) (found, bool){
		(*parser).numberedSession, (*parser).ordinalSession, (*parser).sessionsAgo, (*parser).lastSessions, (*parser).occasion,
	} {
		if f, ok := rule(p, i); ok {
			return f, true
		}
	}
	return found{}, false
}

// numberedSession reads a noun followed by its number: "session 3", "sessions three to five", "sesión
// número 3", "sesión anterior", "the session before last".
func (p *parser) numberedSession(i int) (found, bool) {
	if !p.noun(i, i) {
		return found{}, false
	}
	switch {
	case p.next(i+1, before) && p.next(i+2, last):
		return named(-2, -2, i+3)
	case p.next(i+1, penult) && p.agree(i, i+1):
		return named(-2, -2, i+2)
	case p.next(i+1, passed) && p.agree(i, i+1):
		return named(-1, -1, i+2)
	}
	if i > 0 && p.near(i) && p.at(i-1) == &nothing {
		return found{}, false // "tmux session 3"
	}
	n, next := p.sessionNumber(i, i+1)
	if next == i+1 {
		return found{}, false
	}
	if m, end := p.rangeEnd(i, next, true); end > next {
		return named(n, m, end)
	}
	return named(n, n, next)
}

// sessionNumber reads a session number at token j, after the noun at i. It returns the index after
// the number, or j if none is found.
func (p *parser) sessionNumber(i, j int) (n, next int) {
	k := j
	if p.next(k, numero) {
		k++
	}
	if !p.within(k, space|hyphen|hash|dot) || p.tok(k).digits == 0 && !p.agree(i, k) {
		return 0, j
	}
	if k == j && p.tok(k).gap&dot != 0 {
		return 0, j // the next sentence
	}
	n, ordinal, next := p.numeral(k)
	switch {
	case next == k || n == 0 || n >= 1000 || ordinal && p.tok(k).digits > 0:
		return 0, j
	case p.at(k).cardinal == 1 && p.is(k, generic): // "a", "un", "an"
		return 0, j
	case p.at(next).unit != 0 && p.near(next), p.at(next).month != 0 && p.near(next), p.partOfNumber(k, next):
		return 0, j // "the session 3 days ago", "on 3 May", "1.10.2"
	case ordinal && p.at(k).languages&(spanish|french) == 0:
		return 0, j
	}
	return n, next
}

// partOfNumber reports whether tokens k to next belong to a longer number: 1.10, 10:30, 2023-07-03.
func (p *parser) partOfNumber(k, next int) bool {
	return p.continuesNumber(next) || p.continuesNumber(k)
}

// continuesNumber reports whether token j continues the number before it.
func (p *parser) continuesNumber(j int) bool {
	if j < 1 || j >= len(p.toks) || p.tok(j).digits == 0 || p.tok(j-1).digits == 0 {
		return false
	}
	g := p.tok(j).gap
	return g&(dot|comma|colon|slash) != 0 && g&(space|hyphen|dash|other) == 0
}

// rangeEnd reads the end of a range of sessions at token j: "through 5", "and session 5", "bis 5",
// "-5".
func (p *parser) rangeEnd(noun, j int, joint bool) (n, next int) {
	k, want := j, to
	if joint {
		want |= and
	}
	joined := false
	if p.next(k, want) {
		k, joined = k+1, true
		for p.next(k, lead|leadOn|to|session) && k < j+4 {
			k++
		}
	} else if p.dashBefore(k) {
		joined = true
		if p.is(k, session) {
			k++
		}
	}
	if !joined {
		return 0, j
	}
	if p.dashBefore(k) && k == j { // "3-5"
		m, ordinal, end := p.numeral(k)
		if end == k || ordinal || m == 0 || m >= 1000 || p.partOfNumber(k, end) {
			return 0, j
		}
		return m, end
	}
	n, end := p.sessionNumber(noun, k)
	if end == k {
		return 0, j
	}
	return n, end
}

// dashBefore reports whether a dash separates token i from the previous one.
func (p *parser) dashBefore(i int) bool {
	return p.within(i, space|hyphen|dash|dot) && p.tok(i).gap&(hyphen|dash) != 0
}

// ordinalSession reads ordinals before a noun: "third session", "third to fifth
// session", "first three sessions", "tres primeras sesiones", "second to last".
func (p *parser) ordinalSession(i int) (found, bool) {
	n, ordinal, j := p.numeral(i)
	if j == i || n == 0 {
		return found{}, false
	}
	if !ordinal {
		if p.at(j).ordinal == 1 && p.near(j) && p.noun(j+1, i) {
			return named(1, n, j+2) // tres primeras sesiones
		}
		return p.germanOrdinalSession(i, n, j)
	}
	if p.noun(j, i) && p.agree(j-1, j) {
		return named(n, n, j+1)
	}
	if k := p.fromEnd(j); k > j && p.noun(k, i) {
		return named(-n, -n, k+1)
	}
	if q, k := p.quantity(j); n == 1 && k > j && p.near(j) && p.noun(k, i) {
		return named(1, q.n, k+1)
	}
	if p.next(j, to|and) {
		k := j + 1
		for p.next(k, lead|to) && k < j+3 {
			k++
		}
		if m, ordinal, end := p.numeral(k); ordinal && m > 0 && p.near(k) && p.noun(end, i) {
			return named(n, m, end+1)
		}
	}
	return found{}, false
}

// germanOrdinalSession reads the German "3. Sitzung".
func (p *parser) germanOrdinalSession(i, n, j int) (found, bool) {
	if p.tok(i).digits > 0 && n < 1000 && p.within(j, space|dot) && p.tok(j).gap&dot != 0 && p.noun(j, j) &&
		p.at(j).languages&german != 0 {
		return named(n, n, j+1)
	}
	return found{}, false
}

// fromEnd returns the index after "to last", "from last" or "last" at token j, or j if they do not
// stand there.
func (p *parser) fromEnd(j int) int {
	k := j
	if p.next(k, to|from) {
		k++
		if p.next(k, lead) {
			k++
		}
	}
	if p.next(k, last) && (k > j || p.at(k).word == "last") {
		return k + 1
	}
	return j
}

// sessionsAgo reads "3 sessions ago", "vor drei Sitzungen", "il y a trois séances".
func (p *parser) sessionsAgo(i int) (found, bool) {
	j := p.agoFirst(i)
	q, k := p.quantity(j)
	if k == j || !p.noun(k, i) || !p.agree(k-1, k) {
		return found{}, false
	}
	if j > i {
		return named(-q.n, -q.n, k+1)
	}
	if end := p.ago(k + 1); end > k+1 {
		return named(-q.n, -q.n, end)
	}
	if p.next(k+1, before) && p.at(k+1).word == "before" && !p.near(k+2) {
		return named(-q.n, -q.n, k+2)
	}
	return found{}, false
}

// agoFirst returns the index after "vor", "hace" or "il y a" at token i, or i.
func (p *parser) agoFirst(i int) int {
	switch {
	case p.is(i, agoFirst):
		return i + 1
	case p.at(i).word == "il" && p.at(i+1).word == "y" && p.at(i+2).word == "a":
		return i + 3
	case p.at(i).word == "y" && p.at(i+1).word == "a" && p.near(i+1):
		return i + 2
	}
	return i
}

// ago returns the index after "ago" or "plus tôt" at token i, or i.
func (p *parser) ago(i int) int {
	j := i
	if p.next(j, more) {
		j++
	}
	if p.next(j, ago) {
		return j + 1
	}
	return i
}

// lastSessions reads "last session", "last three sessions", "trois dernières
// séances", "this conversation", "vorletzte Sitzung".
func (p *parser) lastSessions(i int) (found, bool) {
	if p.is(i, this) && p.noun(i+1, i) && p.agree(i, i+1) && !p.is(i+1, plural) {
		return found{kind: sessions, current: true, from: openEnd, to: openEnd, next: i + 2}, true
	}
	if j := p.penultimate(i); j > i && p.noun(j, i) && p.agree(j-1, j) {
		return named(-2, -2, j+1)
	}
	if q, j := p.quantity(i); j > i && p.near(j) {
		if k := p.skipMost(j); p.is(k, last) && p.noun(k+1, i) {
			return named(-q.n, -1, k+2)
		}
	}
	j := p.skipMost(i)
	if !p.is(j, last) {
		return found{}, false
	}
	if q, k := p.quantity(j + 1); k > j+1 && p.near(j+1) && p.noun(k, i) {
		return named(-q.n, -1, k+1)
	}
	if !p.noun(j+1, i) || !p.agree(j, j+1) {
		return found{}, false
	}
	if p.is(j+1, plural) { // our last sessions
		return named(-3, -1, j+2)
	}
	return named(-1, -1, j+2)
}

// skipMost returns the index after an optional "most" at token i.
func (p *parser) skipMost(i int) int {
	if p.at(i).word == "most" && p.near(i+1) {
		return i + 1
	}
	return i
}

// penultimate returns the index after "penultimate", "vorletzte" or "avant-dernière" at token i,
// or i.
func (p *parser) penultimate(i int) int {
	switch {
	case p.is(i, penult):
		return i + 1
	case p.at(i).word == "avant" && p.next(i+1, last):
		return i + 2
	case p.at(i).word == "next" && p.next(i+1, to) && p.next(i+2, last):
		return i + 3
	}
	return i
}

// occasion reads "last time we talked", and "last time" at the end of the question.
func (p *parser) occasion(i int) (found, bool) {
	e := p.at(i)
	if e.roles&last == 0 && e.ordinal != 1 || !p.next(i+1, occasion) || !p.agree(i, i+1) {
		return found{}, false
	}
	n, j := -1, i+2
	switch {
	case e.ordinal == 1 && e.roles&last == 0:
		n = 1
	case p.next(j, before) && p.next(j+1, last):
		n, j = -2, j+2
	}
	if j == len(p.toks) {
		return named(n, n, j)
	}
	if k := p.weTalked(j); k > j {
		return named(n, n, k)
	}
	return found{}, false
}

// weTalked returns the index after "we talked" at token j, or j.
func (p *parser) weTalked(j int) int {
	k := j
	if w := p.at(k).word; w == "that" || w == "when" || w == "que" || w == "qu" {
		k++
	}
	switch p.at(k).word {
	case "we", "wir", "nous", "on":
		k++
	}
	for range 2 {
		switch p.at(k).word {
		case "had", "have", "uns", "nous", "avons", "a", "miteinander":
			k++
		}
	}
	switch p.at(k).word {
	case "talked", "spoke", "chatted", "spoken", "gesprochen", "sprachen", "unterhalten", "geredet", "hablamos",
		"charlamos", "conversamos", "parle", "discute":
		return k + 1
	}
	return j
}
