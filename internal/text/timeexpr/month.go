package timeexpr

import "slices"

// calendarMonth returns month m of year y.
func calendarMonth(y, m int) found {
	return found{kind: aMonth, from: date(y, m, 1), to: date(y, m+1, 1)}
}

// monthly reads months, quarters and parts of ranges longer than a day.
func (p *parser) monthly(i int, roles role) (found, bool) {
	if p.is(i, early|mid|late) {
		if f, ok := p.partOfPeriod(i); ok {
			return f, true
		}
	}
	return p.monthOrQuarter(i, roles)
}

// monthOrQuarter reads months and quarters.
func (p *parser) monthOrQuarter(i int, roles role) (found, bool) {
	switch e := p.at(i); {
	case e.unit == month && p.next(i+1, of) && p.at(i+2).month != 0: // the month of May
		return p.month(i+2, roles|leadIn)
	case e.unit == month && e.languages == german && p.near(i+1) && p.at(i+1).month != 0 && p.agree(i, i+1): // im Monat Mai
		return p.month(i+1, roles|leadIn)
	case e.quarter != 0:
		return p.quarter(int(e.quarter), i+1, roles)
	case e.month != 0:
		return p.month(i, roles)
	}
	if p.is(i, last|this) && p.near(i+1) && p.at(i+1).month != 0 && p.agree(i, i+1) && p.proper(i+1) {
		y, m, _ := p.today.civil()
		n := int(p.at(i + 1).month)
		if n > m || n == m && !p.is(i, this) {
			y--
		}
		f := calendarMonth(y, n)
		f.next = i + 2
		return f, true
	}
	if n, ordinal, j := p.numeral(i); ordinal && n <= 4 && p.near(j) && p.at(j).unit == quarter && p.agree(j-1, j) {
		return p.quarter(n, j+1, 0) // a quarter without a year may be one of a game
	}
	return found{}, false
}

// month reads the month at token i: "May 2023", "mayo pasado", and after a
// preposition "May".
func (p *parser) month(i int, roles role) (found, bool) {
	m := int(p.at(i).month)
	if y, next := p.yearAt(i + 1); next > i+1 {
		if !p.proper(i) && roles&(leadIn|opening) == 0 && !p.tok(i).capital {
			return found{}, false
		}
		f := calendarMonth(y, m)
		f.absolute, f.next = true, next
		return f, true
	}
	y, now, _ := p.today.civil()
	if p.next(i+1, passed) && p.agree(i, i+1) { // mayo pasado
		if m >= now {
			y--
		}
		f := calendarMonth(y, m)
		f.next = i + 2
		return f, true
	}
	if p.within(i+1, space|dot|hyphen) && p.tok(i+1).digits > 0 { // "February 30th"
		return found{}, false
	}
	if p.at(i-1).word == "the" { // "in the march"
		return found{}, false
	}
	if roles&leadIn == 0 && (roles&opening == 0 || !p.proper(i) && !p.paired(i, roles)) || p.is(i-1, coming) || p.next(i+1, coming) {
		return found{}, false
	}
	if m > now {
		y--
	}
	f := calendarMonth(y, m)
	f.absolute, f.yearless, f.next = true, true, i+1
	return f, true
}

// paired reports whether the month at token i is one of a pair: "entre mars et mai".
func (p *parser) paired(i int, roles role) bool {
	return roles&between != 0 && p.is(i+1, and) && p.at(i+2).month != 0 || p.is(i-1, and) && p.at(i-2).month != 0
}

// quarter returns quarter n of the year named at token j, or of the most recent one.
func (p *parser) quarter(n, j int, roles role) (found, bool) {
	y, next := p.yearAt(j)
	if next == j {
		if roles&(leadIn|opening) == 0 {
			return found{}, false
		}
		y, _, _ = p.today.civil()
		if date(y, 3*n-2, 1) > p.today {
			y--
		}
	}
	return found{kind: aSpan, from: date(y, 3*n-2, 1), to: date(y, 3*n+1, 1), absolute: true, next: next}, true
}

// partOfPeriod reads "early May", "end of last month", "Anfang 2023", "mi-mai".
func (p *parser) partOfPeriod(i int) (found, bool) {
	j := i + 1
	for p.next(j, of|lead|leadOn) && j < i+4 {
		j++
	}
	if !p.near(j) {
		return found{}, false
	}
	n := 1
	switch {
	case p.is(i, mid):
		n = 2
	case p.is(i, late):
		n = 3
	}
	for _, rule := range [...]func(*parser, int, role) (found, bool){(*parser).relative, (*parser).monthOrQuarter, (*parser).annual} {
		if f, ok := rule(p, j, leadIn); ok && (f.kind == aMonth || f.kind == aYear || f.kind == aWeek) {
			return f.third(n), true
		}
	}
	return found{}, false
}

// weekOf reads "week of July 3rd", "first week of May" and "last week of May".
func (p *parser) weekOf(i int, _ role) (found, bool) {
	n, ordinal, j := p.numeral(i)
	switch {
	case ordinal && n <= 5 && p.near(j):
	case p.is(i, last) && p.near(i+1):
		n, j = 0, i+1
	default:
		n, j = -1, i
	}
	k := j + 1
	for p.next(k, of|lead|leadOn) && k < j+4 {
		k++
	}
	if p.at(j).unit != week || k == j+1 {
		return found{}, false
	}
	if n < 0 {
		f, ok := p.date(k, leadOn)
		f.kind, f.from, f.yearless = aWeek, f.from.monday(), false
		f.to = f.from + 7
		return f, ok
	}
	f, ok := p.monthOrQuarter(k, leadIn)
	if !ok || f.kind != aMonth {
		return found{}, false
	}
	from := f.to - 7
	if n > 0 {
		from = f.from + day(7*(n-1))
	}
	return found{kind: aWeek, from: from, to: from + 7, absolute: f.absolute, next: f.next}, true
}

// annual reads a year: "in 2023", "el año 2023".
func (p *parser) annual(i int, roles role) (found, bool) {
	now, _, _ := p.today.civil()
	if p.at(i).unit == year && p.near(i+1) {
		i, roles = i+1, leadIn
	}
	if i >= len(p.toks) || !p.calendarYear(i, now+1) || roles&(leadIn|opening) == 0 && !p.bareYear(i) {
		return found{}, false
	}
	y := int(p.tok(i).number)
	f := found{kind: aYear, from: date(y, 1, 1), to: date(y+1, 1, 1), absolute: true, next: i + 1}
	if y%10 == 0 && p.within(i+1, apostrophe) && p.at(i+1).word == "s" { // the 1980's
		f.kind, f.to, f.next = aSpan, date(y+10, 1, 1), i+2
	}
	return f, true
}

// bareYear reports whether token i is a German year without a preposition: between generic German
// words, or after a pronoun.
func (p *parser) bareYear(i int) bool {
	if p.near(i) && slices.Contains([]string{"ich", "wir", "du", "er", "ihr", "man"}, p.at(i-1).word) &&
		!(p.near(i+1) && p.tok(i+1).capital) {
		return true
	}
	return p.next(i-1, generic) && p.at(i-1).languages == german && p.near(i) && (p.next(i+1, generic) || !p.near(i+1))
}

// seasonal reads the seasons of the northern hemisphere, which begin in March, June, September and
// December. A winter belongs to the year of its January.
func (p *parser) seasonal(i int, roles role) (found, bool) {
	j := i
	if p.is(i, last|this) && p.near(i+1) {
		j++
	}
	n := int(p.at(j).season)
	if n == 0 || j > i && !p.agree(i, j) {
		return found{}, false
	}
	of := func(y int) found {
		m := 3 * n
		if n == 4 {
			m = 0 // December of the previous year
		}
		return found{kind: aSpan, from: date(y, m, 1), to: date(y, m+3, 1)}
	}
	if y, next := p.yearAt(j + 1); next > j+1 && (j > i || roles&(leadIn|opening|lead) != 0) {
		f := of(y)
		f.absolute, f.next = true, next
		return f, true
	}
	y, _, _ := p.today.civil()
	f := of(y + 1)
	over := p.is(i, last) && j > i || p.next(j+1, passed) && p.agree(j, j+1)
	for f.from > p.today || over && f.to > p.today {
		y--
		f = of(y + 1)
	}
	switch f.next = j + 1; {
	case p.next(j+1, passed):
		f.next++
	case j == i && (roles&leadIn == 0 || p.is(i, doubtful)):
		return found{}, false
	}
	return f, true
}
