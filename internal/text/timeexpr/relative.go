package timeexpr

import "slices"

// relative reads times relative to now.
func (p *parser) relative(i int, _ role) (found, bool) {
	for _, rule := range [...]func(*parser, int) (found, bool){
		(*parser).dayWord, (*parser).earlierThan, (*parser).unitsAgo, (*parser).lastUnits, (*parser).thisUnit,
		(*parser).offset,
	} {
		if f, ok := rule(p, i); ok {
			return f, true
		}
	}
	return found{}, false
}

// dayAgo returns the day n days ago.
func (p *parser) dayAgo(n, next int) (found, bool) {
	d := p.today - day(n)
	return found{kind: aDay, from: d, to: d + 1, next: next}, true
}

// dayWord reads "today", "yesterday", "the day before yesterday", "tonight".
func (p *parser) dayWord(i int) (found, bool) {
	e := p.at(i)
	switch {
	case e.word == "antes" && p.at(i+1).word == "de" && p.at(i+2).word == "ayer":
		return p.dayAgo(2, i+3)
	case e.word == "avant" && p.at(i+1).word == "hier" && p.near(i+1):
		return p.dayAgo(2, i+2)
	case e.word == "aujourd":
		if p.at(i+1).word == "hui" {
			return p.dayAgo(0, i+2)
		}
	case e.roles&today != 0:
		return p.dayAgo(0, i+1)
	case e.roles&yesterday != 0:
		if e.word == "hier" && (p.only(french) == 0 || p.only(german) > 0) {
			return found{}, false
		}
		return p.dayAgo(1, i+1)
	case e.roles&twoAgo != 0 && e.word != "antes":
		return p.dayAgo(2, i+1)
	case e.roles&tonight != 0:
		f, _ := p.dayAgo(0, i+1)
		return f.inPart(night), true
	case e.roles&lastNight != 0:
		f, _ := p.dayAgo(1, i+1)
		return f.inPart(night), true
	case e.unit == dayUnit && p.next(i+1, before) && p.at(i+2).word == "yesterday":
		return p.dayAgo(2, i+3)
	}
	return found{}, false
}

// inPart narrows a day to one of its parts, with generous limits.
func (f found) inPart(part uint8) found {
	hours := [...][2]int{{}, {0, 12}, {11, 14}, {12, 19}, {17, 24}, {17, 30}}[part]
	f.partFrom, f.partTo = hours[0]*60, hours[1]*60
	return f
}

// unit returns the unit at token i and the index after it.
func (p *parser) unit(i int) (u uint8, next int) {
	switch {
	case p.at(i).word == "fin" && p.at(i+1).word == "de" && p.at(i+2).word == "semana":
		return weekend, i + 3
	case p.at(i).word == "week" && p.at(i+1).word == "end" && p.near(i+1):
		return weekend, i + 2
	}
	return p.at(i).unit, i + 1
}

// unitsAgo reads "three days ago", "vor drei Tagen", "il y a trois jours", "two
// Fridays ago".
func (p *parser) unitsAgo(i int) (found, bool) {
	first := p.agoFirst(i)
	j := first
	for first > i && p.at(j).word == "the" {
		j++
	}
	q, k := p.quantity(j)
	if k == j {
		if p.is(i, someDay) && p.at(i+1).unit == dayUnit && p.near(i+1) && p.agree(i, i+1) { // the other day
			return found{kind: aSpan, from: p.today - 7, to: p.today, next: i + 2}, true
		}
		return found{}, false
	}
	if !p.near(k) || !p.agree(k-1, k) {
		return found{}, false
	}
	u, end := p.unit(k)
	weekday := int(p.at(k).weekday)
	if u == 0 && weekday == 0 {
		return found{}, false
	}
	after := end
	if first == i {
		if after = p.ago(end); after == end {
			return found{}, false
		}
	}
	if u == 0 {
		f, _ := p.dayAgo(p.sinceWeekday(weekday)+7*(q.n-1), after)
		f.weekday = true
		return f, true
	}
	return p.before(q, u, after)
}

// before returns the time the given number of units ago.
func (p *parser) before(q quantity, u uint8, next int) (found, bool) {
	f := found{kind: aSpan, next: next}
	y, m, _ := p.today.civil()
	switch u {
	case minute, hour:
		return p.clockAgo(q, u, next)
	case dayUnit:
		if f.from, f.to = p.today-day(q.most), p.today-day(q.least)+1; q.least == q.most {
			f.kind = aDay
		}
	case week, fortnight:
		length := 7
		if u == fortnight {
			length = 14
		}
		f.from, f.to = p.today-day(length*q.most)-3, p.today-day(length*q.least)+4
		if q.least == q.most {
			f.kind = aWeek
		}
	case weekend:
		f.from = p.today.monday() - day(7*q.n) + 5
		f.to = f.from + 2
	case month:
		if f.from, f.to = date(y, m-q.most, 1), date(y, m-q.least+1, 1); q.least == q.most {
			f.kind = aMonth
		}
	case quarter:
		m = (m-1)/3*3 + 1
		f.from, f.to = date(y, m-3*q.most, 1), date(y, m-3*q.least+3, 1)
	case year:
		if f.from, f.to = date(y-q.most, 1, 1), date(y-q.least+1, 1, 1); q.least == q.most {
			f.kind = aYear
		}
	}
	return f, true
}

// minutesPerDay is the length of a day on the clock.
const minutesPerDay = 24 * 60

// clockAgo returns the time the given number of minutes or hours ago, widened by half a unit on
// either side.
func (p *parser) clockAgo(q quantity, u uint8, next int) (found, bool) {
	length := 10 // "twenty minutes ago" is an estimate
	n := 1
	if u == hour {
		length, n = 60, 60
	}
	now := p.now.Hour()*60 + p.now.Minute()
	return p.minutes(now-q.most*n-length/2, now-q.least*n+length/2, next)
}

// minutes returns a range of minutes, counted from the last midnight.
func (p *parser) minutes(from, to, next int) (found, bool) {
	first, last := floor(from, minutesPerDay), floor(to, minutesPerDay)
	return found{
		kind: aSpan, from: p.today + day(first), to: p.today + day(last) + 1, next: next,
		partFrom: from - first*minutesPerDay, partTo: to - first*minutesPerDay,
	}, true
}

// floor returns a/b, rounded down.
func floor(a, b int) int {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

// lastUnits reads "last week", "last three days", "trois derniers jours",
// "semana pasada", "week before last".
func (p *parser) lastUnits(i int) (found, bool) {
	if q, j := p.quantity(i); j > i && p.next(j, last) && p.near(j+1) && p.agree(j, j+1) {
		if u, end := p.unit(j + 1); u != 0 {
			return p.rolling(q, u, end)
		}
	}
	if j := p.penultimate(i); j > i && p.near(j) && p.agree(j-1, j) {
		if u, end := p.unit(j); u != 0 {
			return p.calendarUnit(2, u, end)
		}
	}
	if u, end := p.unit(i); u != 0 {
		switch {
		case p.next(end, before) && p.next(end+1, last):
			return p.calendarUnit(2, u, end+2)
		case p.next(end, penult) && p.agree(end-1, end):
			return p.calendarUnit(2, u, end+1)
		case p.next(end, passed) && p.agree(end-1, end) && !p.is(i, plural):
			return p.calendarUnit(1, u, end+1)
		}
		return p.overWeekend(i, u, end)
	}
	if p.at(i).part == night && p.next(i+1, passed) && p.agree(i, i+1) { // la nuit dernière
		f, _ := p.dayAgo(1, i+2)
		return f.inPart(night), true
	}
	j := p.skipMost(i)
	this := p.is(i, this) && !p.is(i, last) && p.next(i+1, last)
	if this {
		j = i + 1
	}
	if !p.is(j, last) {
		return found{}, false
	}
	return p.lastOf(i, j, this)
}

// overWeekend reads "over the weekend" as the most recent weekend that has begun.
func (p *parser) overWeekend(i int, u uint8, next int) (found, bool) {
	if u != weekend || !p.is(i-1, lead|leadOn) || p.is(i, plural) || p.next(next, coming) {
		return found{}, false
	}
	return p.current(u, next)
}

// lastOf reads the words after "last" at token j of the phrase that begins at token i.
func (p *parser) lastOf(i, j int, this bool) (found, bool) {
	if !p.near(j+1) || !p.agree(j, j+1) {
		return found{}, false
	}
	if q, k := p.quantity(j + 1); k > j+1 && p.near(k) {
		if u, end := p.unit(k); u != 0 {
			return p.rolling(q, u, end)
		}
	}
	if p.at(j+1).part == night {
		f, _ := p.dayAgo(1, j+2)
		return f.inPart(night), true
	}
	u, end := p.unit(j + 1)
	switch {
	case u == 0:
		return found{}, false
	case p.is(j+1, plural) || p.at(j).word == "derniers": // the last days
		return p.rolling(quantity{3, 2, 5}, u, end)
	case u != dayUnit && slices.Contains([]string{"previous", "prior", "preceding"}, p.at(j).word):
		return p.calendarUnit(1, u, end)
	case p.is(j, past) || this || p.at(i-1).word == "the" || u == dayUnit:
		return p.rolling(quantity{1, 1, 1}, u, end)
	}
	return p.calendarUnit(1, u, end)
}

// calendarUnit returns the calendar unit n units back.
func (p *parser) calendarUnit(n int, u uint8, next int) (found, bool) {
	switch u {
	case week, fortnight:
		from := p.today.monday() - day(7*n)
		return found{kind: aWeek, from: from, to: from + 7, next: next}, true
	default:
		return p.before(quantity{n, n, n}, u, next)
	}
}

// rolling returns the given number of units up to now.
func (p *parser) rolling(q quantity, u uint8, next int) (found, bool) {
	f := found{kind: aSpan, to: p.today + 1, next: next}
	if p.near(next) && slices.Contains([]string{"of", "de", "del", "des"}, p.at(next).word) {
		return found{}, false // of a game, of May
	}
	switch n := q.most; u {
	case minute, hour:
		if u == hour {
			n *= 60
		}
		now := p.now.Hour()*60 + p.now.Minute()
		return p.minutes(now-n, now+1, next)
	case dayUnit:
		f.from = p.today - day(n)
	case week:
		f.from = p.today - day(7*n)
	case fortnight:
		f.from = p.today - day(14*n)
	case weekend:
		if n == 1 {
			return p.before(q, u, next)
		}
		f.from = p.today.monday() + 5 - day(7*n)
	case month:
		f.from = p.today.months(-n)
	case quarter:
		f.from = p.today.months(-3 * n)
	case year:
		f.from = p.today.months(-12 * n)
	}
	return f, true
}

// thisUnit reads "this week", "esta mañana", "cette année".
func (p *parser) thisUnit(i int) (found, bool) {
	if !p.is(i, this) || !p.near(i+1) || !p.agree(i, i+1) {
		return found{}, false
	}
	if part, end := p.part(i + 1); part != 0 {
		f, _ := p.dayAgo(0, end)
		return f.inPart(part), true
	}
	u, end := p.unit(i + 1)
	if u == 0 || p.is(i+1, plural) {
		return found{}, false
	}
	return p.current(u, end)
}

// current returns the current unit.
func (p *parser) current(u uint8, next int) (found, bool) {
	switch {
	case u == minute || u == hour:
		return found{}, false
	case u == weekend && p.today.weekday() < 6:
		return p.calendarUnit(1, u, next)
	}
	return p.calendarUnit(0, u, next)
}

// earlierThan reads "earlier today", "earlier this morning", "plus tôt cette
// semaine", "earlier in the day".
func (p *parser) earlierThan(i int) (found, bool) {
	j := i
	if p.is(j, more) {
		j++
	}
	if !p.is(j, earlier) || j > i && !p.near(j) {
		return found{}, false
	}
	k := j + 1
	for p.next(k, leadIn|lead) && k < j+4 {
		k++
	}
	if !p.near(k) {
		return found{}, false
	}
	f, ok := p.dayWord(k)
	if !ok {
		f, ok = p.thisUnit(k)
	}
	if u, end := p.unit(k); !ok && u != 0 && k > j+1 && !p.is(k, plural) {
		f, ok = p.current(u, end)
	}
	f.earlier = true
	return f, ok && f.from <= p.today && p.today < f.to
}

// offset reads "two days before July 3rd" and "the week after".
func (p *parser) offset(i int) (found, bool) {
	q, j := p.quantity(i)
	if j == i {
		q = quantity{1, 1, 1}
	}
	u, k := p.unit(j)
	if u != dayUnit && u != week || j > i && !p.near(j) || !p.next(k, before|after) {
		return found{}, false
	}
	end := p.skipPrepositions(k + 1)
	f, ok := p.date(end, leadOn)
	if !ok || !p.near(k+1) {
		return found{}, false
	}
	days, length := day(q.n), day(1)
	if u == week {
		days, length = 7*days, 7
	}
	if p.is(k, before) {
		days = -days
	}
	f.from += days
	if u == week {
		f.kind, f.from = aWeek, f.from-3
	}
	f.to, f.yearless = f.from+length, false
	return f, true
}
