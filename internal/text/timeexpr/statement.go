package timeexpr

import (
	"strings"
	"time"
)

// Mention is a time that a statement names.
type Mention struct {
	// Start and End are the byte offsets of the words in the text.
	Start, End int
	// From and To bound the time in now's location; To is exclusive. One of them is zero where the
	// words leave it open ("since May").
	From, To time.Time
	// AheadFrom and AheadTo bound the same words read as a future time. They differ from From and
	// To only if the words are ambiguous: "on Friday", "in May", "on the 3rd of July".
	AheadFrom, AheadTo time.Time
	// Day is set for a single day, Weekday if its weekday names it.
	Day, Weekday bool
}

// Find returns the past and future times that a statement names, in the order of the text. A
// question asks only about the past, but a statement may also announce: "tomorrow", "next Tuesday",
// "in three weeks". Sessions are not times here. Find accepts any text and takes time linear in its
// length.
func Find(text string, now time.Time) []Mention {
	toks, _ := tokenize(nil, text)
	p := parser{text: text, now: now, toks: toks}
	y, m, d := now.Date()
	p.today = date(y, int(m), d)
	var out []Mention
	for i := 0; i < len(p.toks); {
		f, to, ok := p.statement(i)
		if !ok || f.next <= i {
			i++
			continue
		}
		i = f.next
		if f.inBounds() && to.inBounds() {
			out = append(out, p.mention(f, to))
		}
	}
	return out
}

// statement returns the time that begins at token i, read as a past and as a future one.
func (p *parser) statement(i int) (f, ahead found, ok bool) {
	if f, ok = p.ahead(i); ok {
		f.start = i
		return f, f, true
	}
	if f, ok = p.by(i); ok {
		return f, p.futureMeaning(f), true
	}
	if f, ok = p.namedDay(i); ok {
		f.start = i
		return f, p.futureMeaning(f), true
	}
	if !p.canBegin(i) {
		return found{}, found{}, false
	}
	if f, ok = p.phrase(i); !ok || f.kind == sessions {
		return found{}, found{}, false
	}
	return f, p.futureMeaning(f), true
}

func (p *parser) mention(f, ahead found) Mention {
	return Mention{
		Start: int(p.toks[f.start].start), End: int(p.toks[f.next-1].end),
		From: p.midnight(f.from), To: p.midnight(f.to),
		AheadFrom: p.midnight(ahead.from), AheadTo: p.midnight(ahead.to),
		Day: f.kind == aDay, Weekday: f.weekday,
	}
}

// futureMeaning returns the future meaning of f, or f if the words can only mean the past.
func (p *parser) futureMeaning(f found) found {
	for i := f.start; i < f.next; i++ {
		if p.is(i, last&^of) && !p.is(i, this) {
			return f
		}
	}
	switch {
	case f.weekday && f.to <= p.today:
		f.from, f.to = f.from+7, f.to+7
	case f.kind == aSpan && f.absolute && f.to <= p.today && f.to-f.from < 100 && !p.yearSaid(f):
		f.from, f.to = f.from.months(12), f.to.months(12)
	case f.yearless && f.to <= p.today:
		for next := f.year() + 1; next < f.year()+9; next++ {
			if g, ok := f.inYear(next); ok {
				return g
			}
		}
	}
	return f
}

// yearSaid reports whether the words of f contain a year.
func (p *parser) yearSaid(f found) bool {
	for i := f.start; i < f.next; i++ {
		if p.tok(i).digits == 4 || p.at(i).unit == year {
			return true
		}
	}
	return false
}

// tomorrows maps the words for future days, including common misspellings, to their distance in
// days.
//
//nolint:misspell // on purpose
var tomorrows = map[string]int{
	"tomorrow": 1, "tmrw": 1, "tmr": 1, "tomorow": 1, "tommorow": 1, "tommorrow": 1, "uebermorgen": 2, "übermorgen": 2,
	"demain": 1,
}

// ahead reads times that can only lie in the future.
func (p *parser) ahead(i int) (found, bool) {
	for _, rule := range [...]func(*parser, int) (found, bool){
		(*parser).tomorrow, (*parser).comingUnit, (*parser).unitsAhead, (*parser).farYear,
	} {
		if f, ok := rule(p, i); ok {
			return f, true
		}
	}
	return found{}, false
}

// lower returns token i in lower case.
func (p *parser) lower(i int) string {
	if uint(i) >= uint(len(p.toks)) {
		return ""
	}
	t := p.tok(i)
	return strings.ToLower(p.text[t.start:t.end])
}

// tomorrow reads "tomorrow", "day after tomorrow", "morgen", "pasado mañana".
func (p *parser) tomorrow(i int) (found, bool) {
	w := p.lower(i)
	switch {
	case p.at(i).unit == dayUnit && p.lower(i+1) == "after" && tomorrows[p.lower(i+2)] == 1:
		return p.dayAgo(-2, i+3)
	case w == "pasado" && p.at(i+1).word == "manana" && p.near(i+1):
		return p.dayAgo(-2, i+2)
	case p.at(i).word == "apres" && p.lower(i+1) == "demain" && p.near(i+1):
		return p.dayAgo(-2, i+2)
	case tomorrows[w] > 0:
		return p.dayAgo(-tomorrows[w], i+1)
	case w == "morgen" || w == "mañana":
		// "in the morning" and "every morning" do not mean tomorrow.
		if i > 0 && p.near(i) && (p.is(i-1, lead|leadOn|leadIn|today|yesterday|this|coming) || p.at(i-1).weekday != 0 ||
			p.lower(i-1) == "guten" || p.lower(i-1) == "jeden") {
			return found{}, false
		}
		return p.dayAgo(-1, i+1)
	}
	return found{}, false
}

// nexts holds the words that select the coming one of several.
var nexts = map[string]bool{
	"next": true, "coming": true, "upcoming": true, "nächste": true, "nächsten": true, "nächster": true, "nächstes": true,
	"naechste": true, "naechsten": true, "naechster": true, "naechstes": true, "nachste": true, "nachsten": true,
	"nachstes": true, "kommende": true, "kommenden": true, "kommender": true, "kommendes": true, "próximo": true,
	"próxima": true, "proximo": true, "proxima": true, "prochain": true, "prochaine": true,
}

// comingUnit reads "next week", "next Tuesday", "nächsten Monat", "lundi
// prochain", "la semana que viene".
func (p *parser) comingUnit(i int) (found, bool) {
	j := i
	if p.is(j, this) && p.near(j+1) {
		j++
	}
	if nexts[p.lower(j)] && p.near(j+1) {
		if k := j + 1; p.lower(k) == "few" || p.lower(k) == "couple" {
			return found{}, false
		}
		return p.upcoming(j+1, j+1)
	}
	if j != i {
		return found{}, false
	}
	u, end := p.unit(i)
	if u == 0 && p.at(i).weekday == 0 && p.at(i).month == 0 {
		return found{}, false
	}
	switch {
	case nexts[p.lower(end)] && p.near(end):
		f, ok := p.upcoming(i, end)
		f.next = max(f.next, end+1)
		return f, ok
	case p.lower(end) == "que" && p.lower(end+1) == "viene":
		f, ok := p.upcoming(i, end)
		f.next = end + 2
		return f, ok
	}
	return found{}, false
}

// upcoming returns the next weekday, month or unit named at token i. The phrase ends at end or
// later.
func (p *parser) upcoming(i, end int) (found, bool) {
	if w := int(p.at(i).weekday); w != 0 {
		f, _ := p.dayAgo(p.sinceWeekday(w)-7, i+1)
		if f.from == p.today {
			f.from, f.to = f.from+7, f.to+7
		}
		f.weekday = true
		return f, true
	}
	y, m, _ := p.today.civil()
	if n := int(p.at(i).month); n != 0 {
		if n <= m {
			y++
		}
		f := calendarMonth(y, n)
		f.next = i + 1
		return f, true
	}
	u, next := p.unit(i)
	f := found{kind: aSpan, next: max(next, end)}
	switch u {
	case dayUnit:
		return p.dayAgo(-1, f.next)
	case week, fortnight:
		f.from = p.today.monday() + 7
		f.to, f.kind = f.from+7, aWeek
	case weekend:
		f.from = p.today.monday() + 5
		if f.from <= p.today {
			f.from += 7
		}
		f.to = f.from + 2
	case month:
		g := calendarMonth(y, m+1)
		g.next = f.next
		return g, true
	case quarter:
		q := (m-1)/3*3 + 4
		f.from, f.to = date(y, q, 1), date(y, q+3, 1)
	case year:
		f.from, f.to, f.kind = date(y+1, 1, 1), date(y+2, 1, 1), aYear
	default:
		if s := int(p.at(i).season); s != 0 {
			return p.nextSeason(s, i+1)
		}
		return found{}, false
	}
	return f, true
}

// nextSeason returns the next season n to begin; 1 is spring.
func (p *parser) nextSeason(n, next int) (found, bool) {
	y, _, _ := p.today.civil()
	from := date(y, 3*n, 1)
	if from <= p.today {
		y++
	}
	return found{kind: aSpan, from: date(y, 3*n, 1), to: date(y, 3*n+3, 1), next: next}, true
}

// unitsAhead reads "in three weeks", "in drei Wochen", "dentro de tres semanas",
// "dans trois semaines", "two weeks from now".
func (p *parser) unitsAhead(i int) (found, bool) {
	j, led := i, false
	switch p.lower(i) {
	case "in", "dans", "en":
		j, led = i+1, true
	case "dentro":
		if p.lower(i+1) == "de" {
			j, led = i+2, true
		}
	}
	q, k := p.quantity(j)
	if k == j || !p.near(k) || j > i && !p.near(j) {
		return found{}, false
	}
	u, end := p.unit(k)
	if u == 0 || u == minute || u == hour || !p.agree(k-1, k) {
		return found{}, false
	}
	if p.lower(end) == "time" && led { // in two weeks' time
		end++
	}
	if p.lower(end) == "from" && (p.lower(end+1) == "now" || p.lower(end+1) == "today") {
		led, end = true, end+2
	}
	if !led || p.is(end, ago) && p.near(end) {
		return found{}, false
	}
	return p.later(q, u, end)
}

// later returns the time the given number of units from today.
func (p *parser) later(q quantity, u uint8, next int) (found, bool) {
	f := found{kind: aSpan, next: next}
	switch u {
	case dayUnit:
		if f.from, f.to = p.today+day(q.least), p.today+day(q.most)+1; q.least == q.most {
			f.kind = aDay
		}
	case week:
		f.from, f.to = p.today+day(7*q.least), p.today+day(7*q.most)+1
	case fortnight:
		f.from, f.to = p.today+day(14*q.least), p.today+day(14*q.most)+1
	case month:
		f.from, f.to = p.today.months(q.least), p.today.months(q.most)+1
	case quarter:
		f.from, f.to = p.today.months(3*q.least), p.today.months(3*q.most)+1
	case year:
		f.from, f.to = p.today.months(12*q.least), p.today.months(12*q.most)+1
	default:
		return found{}, false
	}
	return f, true
}

// by reads a month or the end of a unit as a deadline: "by June", "by the end of the month".
func (p *parser) by(i int) (found, bool) {
	if !p.is(i, deadline) || !p.near(i+1) {
		return found{}, false
	}
	f, ok := p.afterPrepositions(i+1, leadIn|opening)
	f.start = i
	return f, ok && f.kind != sessions && f.kind != dayOfMonth
}

// farYear reads a future year: "in 2031", "en 2031".
func (p *parser) farYear(i int) (found, bool) {
	now, _, _ := p.today.civil()
	switch p.lower(i) {
	case "in", "en", "by", "until", "bis", "hasta":
	default:
		return found{}, false
	}
	if i+1 >= len(p.toks) || !p.near(i+1) || !p.calendarYear(i+1, lastYear) || int(p.tok(i+1).number) <= now {
		return found{}, false
	}
	y := int(p.tok(i + 1).number)
	return found{kind: aYear, from: date(y, 1, 1), to: date(y+1, 1, 1), absolute: true, next: i + 2}, true
}

// dayLeads holds the words that make a following weekday a specific day.
var dayLeads = map[string]bool{
	"on": true, "by": true, "until": true, "till": true, "this": true, "am": true, "bis": true, "diesen": true, "el": true,
	"este": true, "le": true, "ce": true, "before": true, "after": true, "since": true, "seit": true, "vor": true,
}

// namedDay reads a weekday where [parser.dayOfWeek] is too strict: "by friday we ship". The words
// before it are not part of it.
func (p *parser) namedDay(i int) (found, bool) {
	w := int(p.at(i).weekday)
	if w == 0 || p.is(i, plural) || i == 0 || !p.near(i) || !dayLeads[p.lower(i-1)] {
		return found{}, false
	}
	if k := i + 1; p.within(k, space|comma|dot|hyphen) && (p.at(k).month != 0 || p.tok(k).number > 0) {
		return found{}, false // Friday, 3 May: the date is more precise
	}
	f, _ := p.dayAgo(p.sinceWeekday(w), i+1)
	f.weekday = true
	if part, end := p.part(i + 1); part != 0 {
		f.next = end
	}
	return f, true
}
