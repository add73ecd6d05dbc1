package timeexpr

// sinceWeekday returns how many days ago the most recent such weekday was; never 0.
func (p *parser) sinceWeekday(weekday int) int {
	return (p.today.weekday()-weekday+6)%7 + 1
}

// dayOfWeek reads "last Friday", "am Freitag", "vendredi dernier", "Monday of
// last week".
func (p *parser) dayOfWeek(i int, roles role) (found, bool) {
	j, sure := i, false
	if p.is(i, this) && p.next(i+1, last) {
		j++
	}
	if p.is(j, last|this) && p.near(j+1) && p.at(j+1).weekday != 0 && p.agree(j, j+1) {
		j, sure = j+1, true
	}
	w := int(p.at(j).weekday)
	if w == 0 || j != i && !sure || p.is(j, plural) || p.is(j, doubtful) && !p.tok(j).capital {
		return found{}, false
	}
	if p.is(j-1, coming) && p.near(j) || p.next(j+1, coming) {
		return found{}, false
	}
	f, _ := p.dayAgo(p.sinceWeekday(w), j+1)
	f.weekday = true
	if part := p.at(j).part; part != 0 { // Freitagabend
		f, sure = f.inPart(part), true
	}
	switch end := j + 1; {
	case p.next(end, passed) && p.agree(j, end):
		f.next++
		return f, true
	case p.next(end, before) && p.next(end+1, last):
		f.from, f.to, f.next = f.from-7, f.to-7, end+2
		return f, true
	case sure:
		return f, true
	}
	if g, ok := p.ofWeek(f, w); ok {
		return g, true
	}
	if i > 0 && p.near(i) && p.tok(i-1).capital && p.at(i-1) == &nothing {
		return found{}, false // Bloody Sunday
	}
	part, _ := p.part(j + 1)
	return f, roles&(leadOn|opening) != 0 || !p.near(j+1) || part != 0
}

// ofWeek moves a weekday into the week named after it.
func (p *parser) ofWeek(f found, weekday int) (found, bool) {
	k := f.next
	for p.next(k, of|lead|leadOn|leadIn) && k < f.next+3 {
		k++
	}
	if !p.near(k) {
		return f, false
	}
	g, ok := p.relative(k, 0)
	if !ok || g.kind != aWeek {
		return f, false
	}
	f = g.onWeekday(weekday)
	return f, true
}

// onWeekday narrows seven days to the given weekday.
func (f found) onWeekday(weekday int) found {
	f.from += day((weekday - f.from.weekday() + 7) % 7)
	f.to, f.kind, f.weekday = f.from+1, aDay, false
	return f
}

// part returns the part of the day at token i and the index after it.
func (p *parser) part(i int) (part uint8, next int) {
	if p.at(i).word == "apres" && p.at(i+1).word == "midi" && p.near(i) && p.near(i+1) {
		return afternoon, i + 2
	}
	if !p.near(i) {
		return 0, i
	}
	return p.at(i).part, i + 1
}

// dayPart reads "the morning of July 3rd", "la mañana del 3 de julio".
func (p *parser) dayPart(i int, _ role) (found, bool) {
	part, k := p.at(i).part, i+1
	for p.next(k, of|leadOn|lead) && k < i+4 {
		k++
	}
	if part == 0 || k == i+1 || !p.near(k) {
		return found{}, false
	}
	f, ok := p.date(k, leadOn)
	if !ok {
		f, ok = p.dayOfWeek(k, leadOn)
	}
	return f.inPart(part), ok
}

// dayNumber reads "on the 5th" and "am 5.", and at the end of a question "el 5" and "le 5".
func (p *parser) dayNumber(i int, roles role) (found, bool) {
	if roles&leadOn == 0 || roles&between != 0 || p.tok(i).digits == 0 || p.tok(i).number < 1 || p.tok(i).number > 31 {
		return found{}, false
	}
	if p.is(i+1, and|to) || p.dashBefore(i+1) {
		return found{}, false // the beginning of a range
	}
	end := i+1 >= len(p.toks) || p.tok(i+1).gap&other != 0
	dotted := p.at(i-1).languages&german != 0 && p.within(i+1, space|dot) && p.tok(i+1).gap&dot != 0
	romance := p.at(i-1).languages&(spanish|french) != 0
	if !p.tok(i).ordinal && !dotted && !(end && romance) || !end && p.at(i+1).roles&generic == 0 || p.at(i+1).unit != 0 {
		return found{}, false
	}
	y, m, d := p.today.civil()
	n := int(p.tok(i).number)
	for n > d || !valid(y, m, n) {
		y, m, d = date(y, m, 0).civil()
	}
	from := date(y, m, n)
	return found{kind: aDay, from: from, to: from + 1, absolute: true, next: i + 1}, true
}

// refine adds the words that may follow a time: a part of the day, a day of the week, "earlier".
func (p *parser) refine(f found) found {
	k := f.next
	for p.next(k, lead|leadIn|leadOn) && k < f.next+3 {
		k++
	}
	switch {
	case f.kind == aDay && f.partTo == 0:
		part, end := p.part(k)
		if part != 0 && p.agree(f.next-1, k) {
			f = f.inPart(part)
			f.next = end
		}
		if end, ok := p.earlierAfter(f); ok {
			f.earlier, f.next = true, end
		}
	case f.kind == aWeek:
		if w := int(p.at(k).weekday); w != 0 && p.near(k) && !p.is(k, plural) {
			f = f.onWeekday(w)
			f.next = k + 1
		}
	}
	return f
}

// earlierAfter reads "earlier" after today.
func (p *parser) earlierAfter(f found) (next int, ok bool) {
	k := f.next
	if p.next(k, more) {
		k++
	}
	return k + 1, f.from == p.today && !f.absolute && p.next(k, earlier)
}
