package timeexpr

import "strings"

// opening holds the roles of words that are likely to precede only a time.
const opening = leadOn | between | from | since | after | before | until

// date reads a single calendar date.
func (p *parser) date(i int, roles role) (found, bool) {
	if p.at(i).weekday != 0 { // Monday, July 3rd
		j := i + 1
		if p.within(j, space|comma|dot) && p.is(j, lead|leadOn) {
			j++
		}
		if !p.within(j, space|comma|dot|hyphen) {
			return found{}, false
		}
		return p.plainDate(j, roles|leadOn)
	}
	return p.plainDate(i, roles)
}

// plainDate reads a date without its weekday.
func (p *parser) plainDate(i int, roles role) (found, bool) {
	if i >= len(p.toks) {
		return found{}, false
	}
	if p.tok(i).digits > 0 {
		if f, ok := p.digitDate(i, roles); ok {
			return f, true
		}
	}
	if p.at(i).month != 0 {
		return p.monthDay(i, roles)
	}
	return p.dayMonth(i, roles)
}

// monthDay reads "July 3rd, 2023".
func (p *parser) monthDay(i int, roles role) (found, bool) {
	j := i + 1
	if p.at(j).word == "the" && p.near(j) {
		j++
	}
	if !p.within(j, space|dot|hyphen) {
		return found{}, false
	}
	d, ordinal, next := p.numeral(j)
	if next == j || d == 0 || d > 31 || !ordinal && p.tok(j).digits == 0 || p.partOfNumber(j, next) {
		return found{}, false
	}
	if p.near(next) && (p.at(next).unit != 0 || p.is(next, session)) {
		return found{}, false
	}
	f, yearSaid := p.dateWithYear(d, int(p.at(i).month), next)
	if !yearSaid && !p.proper(i) && !ordinal && roles&opening == 0 {
		return found{}, false // "may 3 people join"
	}
	return f, f.kind == aDay
}

// dayMonth reads "3rd of July 2023", "3. Juli", "3 de julio de 2023".
func (p *parser) dayMonth(i int, roles role) (found, bool) {
	d, ordinal, j := p.numeral(i)
	if j == i || d == 0 || d > 31 || !ordinal && p.tok(i).digits == 0 && p.at(i).languages&(spanish|french) == 0 {
		return found{}, false
	}
	k, joined := j, false
	if p.is(k, of) && p.near(k) {
		k, joined = k+1, true
	}
	if p.at(k).unit == month && p.next(k+1, of) { // del mes de mayo
		k += 2
	}
	if joined && p.near(k) && p.is(k, last|this) && ordinal { // the 15th of last month
		return p.ofMonth(d, k)
	}
	if p.at(k).month == 0 || !p.within(k, space|dot|hyphen|apostrophe) || !p.agree(j-1, k) || p.partOfNumber(i, j) {
		return found{}, false
	}
	f, yearSaid := p.dateWithYear(d, int(p.at(k).month), k+1)
	if !yearSaid && !joined && !p.proper(k) && roles&opening == 0 {
		return found{}, false
	}
	return f, f.kind == aDay
}

// ofMonth returns day d of the relative month at token k ("last month").
func (p *parser) ofMonth(d, k int) (found, bool) {
	f, ok := p.relative(k, 0)
	y, m, _ := f.from.civil()
	if !ok || f.kind != aMonth || !valid(y, m, d) {
		return found{}, false
	}
	f.kind, f.from = aDay, f.from+day(d-1)
	f.to, f.absolute = f.from+1, true
	return f, true
}

// dateWithYear returns day d of month m and reports whether a year follows at token j. Without one it
// takes the most recent year that fits.
func (p *parser) dateWithYear(d, m, j int) (found, bool) {
	y, next := p.yearAt(j)
	yearSaid := next > j
	if !yearSaid {
		var ok bool
		if y, ok = p.latest(m, d); !ok {
			return found{}, false
		}
	}
	if !valid(y, m, d) {
		return found{}, yearSaid
	}
	from := date(y, m, d)
	return found{kind: aDay, from: from, to: from + 1, absolute: true, yearless: !yearSaid, next: next}, yearSaid
}

// yearAgo reads a relative year at token k ("last year") and returns the index after it, or j if
// none is found.
func (p *parser) yearAgo(k, j int) (y, next int) {
	for _, rule := range [...]func(*parser, int) (found, bool){(*parser).unitsAgo, (*parser).lastUnits, (*parser).thisUnit} {
		if f, ok := rule(p, k); ok && f.kind == aYear {
			return f.year(), f.next
		}
	}
	return 0, j
}

// Bounds of the numbers that are read as a year.
const (
	firstYear = 1900
	lastYear  = 2100
)

// yearAt reads the year after a date or month that ends before token j: "2023", "of 2023", "'23",
// "last year". It returns the index after the year, or j if none is found.
func (p *parser) yearAt(j int) (y, next int) {
	k := j
	for p.next(k, of|lead) && k < j+2 {
		k++
	}
	if k >= len(p.toks) {
		return 0, j
	}
	switch t := p.tok(k); {
	case t.digits == 4 && !t.ordinal && p.within(k, space|comma|hyphen|dot|apostrophe) && p.calendarYear(k, lastYear):
		return int(t.number), k + 1
	case t.digits == 2 && !t.ordinal && t.number >= 0 && k == j && t.gap&apostrophe != 0:
		return 2000 + int(t.number), k + 1
	case !p.near(k):
		return 0, j
	}
	if p.is(k, last|this|agoFirst) || p.at(k).unit == year || p.at(k).cardinal > 0 || p.tok(k).digits > 0 {
		return p.yearAgo(k, j)
	}
	return 0, j
}

// calendarYear reports whether token k is a number that can be a year, up to most.
func (p *parser) calendarYear(k, most int) bool {
	t := p.tok(k)
	if t.digits != 4 || t.ordinal || int(t.number) < firstYear || int(t.number) > most || p.partOfNumber(k, k+1) {
		return false
	}
	return k+1 >= len(p.toks) || p.tok(k+1).gap != hyphen && (p.at(k+1).unit == 0 || !p.near(k+1)) // "2048-bit"
}

// digitDate reads 2023-07-03, 3.7.2023 and 7/3/2023. After words that precede a date it also reads
// them without the year.
func (p *parser) digitDate(i int, roles role) (found, bool) {
	n := 1
	sep := gap(0)
	for n < 3 && i+n < len(p.toks) {
		t := p.tok(i + n)
		if t.number < 0 || t.ordinal || n == 1 && t.gap != hyphen && t.gap != slash && t.gap != dot || n > 1 && t.gap != sep {
			break
		}
		sep = t.gap
		n++
	}
	if n == 1 || p.tok(i).number < 0 || p.tok(i).ordinal || !p.standalone(i, i+n-1) {
		return found{}, false
	}
	a, b := int(p.tok(i).number), int(p.tok(i+1).number)
	if n == 2 {
		return p.shortDate(i, roles)
	}
	c := int(p.tok(i + 2).number)
	switch {
	case p.tok(i).digits == 4 && p.tok(i+2).digits <= 2:
		return p.ymd(a, b, c, i+3)
	case p.tok(i).digits > 2 || p.tok(i+1).digits > 2:
		return found{}, false
	case p.tok(i+2).digits == 2 && (sep == slash || sep == dot && roles&opening != 0):
		c += 2000
	case p.tok(i+2).digits != 4:
		return found{}, false
	}
	m, d := p.order(a, b, c, sep)
	return p.ymd(c, m, d, i+3)
}

// ymd returns the date of the three numbers.
func (p *parser) ymd(y, m, d, next int) (found, bool) {
	if y < firstYear || y > lastYear || !valid(y, m, d) {
		return found{}, false
	}
	from := date(y, m, d)
	return found{kind: aDay, from: from, to: from + 1, absolute: true, next: next}, true
}

// order decides which of a and b is the month in a/b/y.
func (p *parser) order(a, b, y int, sep gap) (m, d int) {
	switch {
	case sep == dot || a > 12:
		return b, a
	case b > 12:
		return a, b
	}
	if p.only(german)+p.only(spanish)+p.only(french) > p.only(english) {
		return b, a
	}
	if date(y, a, b) > p.today && date(y, b, a) <= p.today {
		return b, a
	}
	return a, b
}

// shortDate reads "am 3.7." and "on 7/3".
func (p *parser) shortDate(i int, roles role) (found, bool) {
	a, b := int(p.tok(i).number), int(p.tok(i+1).number)
	sep, end := p.tok(i+1).gap, int(p.tok(i+1).end)
	y, _, _ := p.today.civil()
	m, d := p.order(a, b, y, sep)
	switch {
	case roles&opening == 0 || m > 12 || p.tok(i).digits > 2 || p.tok(i+1).digits > 2:
		return found{}, false
	case sep == dot && (p.only(german) == 0 || !strings.HasPrefix(p.text[end:], ".")): // 3.7 is a version
		return found{}, false
	case sep == hyphen:
		return found{}, false
	}
	y, ok := p.latest(m, d)
	if !ok {
		return found{}, false
	}
	f, ok := p.ymd(y, m, d, i+2)
	f.yearless = true
	return f, ok
}

// standalone reports whether tokens i to j stand alone, outside a longer name, path, address or number.
func (p *parser) standalone(i, j int) bool {
	if i > 0 {
		if g := p.tok(i).gap; g == hyphen || g == slash || g == dot || g == colon {
			return false
		}
		if p.text[p.tok(i).start-1] == '_' {
			return false
		}
	}
	if j+1 >= len(p.toks) {
		return true
	}
	g := p.tok(j + 1).gap
	return g != hyphen && g != slash && g != dot && g != comma && p.text[p.tok(j).end] != '_'
}
