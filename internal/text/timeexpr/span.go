package timeexpr

// openRange reads ranges that are open on one side: "since May", "before the 3rd of July", "until
// yesterday", "after session 5".
func (p *parser) openRange(i int) (found, bool) {
	op, j := p.at(i).roles&(since|after|before|until|deadline), i+1
	if _, ok := p.dayWord(i); ok || p.penultimate(i) > i { // antes de ayer, avant-dernière
		return found{}, false
	}
	if p.at(i).word == "a" && p.at(j).word == "partir" && p.near(j) {
		op, j = since, j+1
	}
	if p.at(i).word == "up" && p.at(j).word == "to" && p.near(j) {
		op, j = until, j+1
	}
	if op == 0 || !p.near(j) {
		return p.onward(i)
	}
	if p.is(i, lasting) {
		if q, k := p.quantity(j); k > j && p.near(k) {
			if u, end := p.unit(k); u != 0 {
				return p.rolling(q, u, end)
			}
		}
	}
	for p.next(j, to) && p.is(i, until|before) && j < i+3 { // jusqu'au, prior to
		j++
	}
	f, ok := p.afterPrepositions(j, leadIn|opening&^between)
	if !ok || op == deadline && !(f.absolute && f.kind == aDay) {
		return found{}, false
	}
	if op&since != 0 && p.is(f.next, to) {
		if r, ok := p.extend(i, f); ok { // desde el 2 hasta el 5
			return r, true
		}
	}
	return f.bounded(op)
}

// onward reads "from May on".
func (p *parser) onward(i int) (found, bool) {
	if !p.is(i, from) || !p.near(i+1) {
		return found{}, false
	}
	f, ok := p.afterPrepositions(i+1, leadIn|opening)
	if !ok || !p.next(f.next, onward) || p.next(f.next+1, lead) {
		return found{}, false
	}
	f.next++
	return f.bounded(since)
}

// bounded returns the range since, after, before or until f.
func (f found) bounded(op role) (found, bool) {
	if f.kind == sessions {
		return f.boundedSessions(op)
	}
	if f.from == openEnd || f.to == openEnd {
		return found{}, false
	}
	b := found{kind: aSpan, from: openEnd, to: openEnd, absolute: f.absolute, next: f.next}
	switch {
	case op&since != 0:
		b.from = f.from
	case op&after != 0:
		b.from = f.to
	case op&before != 0:
		b.to = f.from
	default:
		b.to = f.to
	}
	return b, true
}

func (f found) boundedSessions(op role) (found, bool) {
	first, last := f.sess[0], f.sess[1]
	switch {
	case f.current:
		return found{}, false
	case op&since != 0:
		last = -1
	case op&after != 0:
		first, last = last+1, -1
	case op&before != 0:
		first, last = 1, first-1
	default:
		first = 1
	}
	f.sess = [2]int{first, last}
	return f, first != 0 && last != 0
}

// extend reads the second end of a range whose first end is f, at token i: "between f and ...", "f
// to ...", "f - ...".
func (p *parser) extend(i int, f found) (found, bool) {
	if f.kind != sessions && (f.from == openEnd || f.to == openEnd) || f.current || f.partTo > 0 {
		return f, false
	}
	opened := false
	for j := i; j < f.start; j++ {
		opened = opened || p.is(j, between|from)
	}
	k, joint := f.next, false
	near := space | hyphen
	if f.kind == dayOfMonth {
		near |= dot
	}
	if opened {
		near |= comma
	}
	switch {
	case p.dashBefore(k):
	case p.is(k, to) && p.within(k, near):
		for k++; p.next(k, to) && k < f.next+3; k++ { // up to, jusqu'au
		}
	case p.is(k, and) && p.within(k, near):
		k, joint = k+1, true
	default:
		return f, false
	}
	g, ok := p.afterPrepositions(k, leadIn|opening)
	if !ok {
		g, ok = p.bareDay(k)
	}
	switch {
	case !ok || g.kind != sessions && (g.from == openEnd || g.to == openEnd) || g.current || g.partTo > 0:
		return f, false
	case joint && !opened && f.kind != dayOfMonth && !(g.kind == dayOfMonth && g.absolute) &&
		(f.kind != g.kind || f.absolute != g.absolute):
		return f, false
	}
	return p.join(f, g)
}

// bareDay reads a day of the month whose month is named by the other end of a range.
func (p *parser) bareDay(i int) (found, bool) {
	start := p.skipPrepositions(i)
	d, ordinal, next := p.numeral(start)
	if next == start || d == 0 || d > 31 || start > i && !p.near(start) || p.partOfNumber(start, next) {
		return found{}, false
	}
	if !ordinal && p.tok(start).digits == 0 || p.near(next) && p.at(next).unit != 0 || p.is(next, session) {
		return found{}, false
	}
	f := found{kind: dayOfMonth, from: day(d), absolute: ordinal, start: start, next: next}
	if next < len(p.toks) && p.within(next, space|comma) && p.calendarYear(next, lastYear) {
		f.to, f.next = day(p.tok(next).number), next+1
	}
	return f, true
}

// join returns the range from a to b, both inclusive.
func (p *parser) join(a, b found) (found, bool) {
	r := found{kind: aSpan, start: a.start, next: b.next}
	switch {
	case a.kind == sessions && b.kind == sessions:
		f, _ := named(a.sess[0], b.sess[1], b.next)
		f.start = a.start
		return f, true
	case a.kind == sessions || b.kind == sessions || a.kind == dayOfMonth && b.kind == dayOfMonth:
		return a, false
	case b.kind == dayOfMonth:
		return p.joinBare(r, a, b, false)
	case a.kind == dayOfMonth:
		return p.joinBare(r, b, a, true)
	}
	a, b = agreeOnYears(a, b)
	if a.from > b.from && a.weekday {
		a.from, a.to = a.from-7, a.to-7
	}
	if a.from > b.from {
		a, b = b, a
	}
	r.from, r.to, r.absolute = a.from, b.to, a.absolute || b.absolute
	return r, true
}

// agreeOnYears picks years for a and b, where none is stated, such that a is not after b.
func agreeOnYears(a, b found) (found, found) {
	moved := func(f found, y int) found {
		if g, ok := f.inYear(y); ok {
			return g
		}
		return f
	}
	switch {
	case a.yearless && !b.yearless && b.absolute:
		if a = moved(a, b.year()); a.from > b.from {
			a = moved(a, b.year()-1)
		}
	case b.yearless && !a.yearless && a.absolute:
		if b = moved(b, a.year()); b.from < a.from {
			b = moved(b, a.year()+1)
		}
	case a.yearless && a.from > b.from:
		a = moved(a, a.year()-1)
	}
	return a, b
}

// joinBare returns the range between date f and a bare day of the same month or of an adjacent one
// that fits. first reports whether the bare day is the beginning.
func (p *parser) joinBare(r, f, bare found, first bool) (found, bool) {
	if f.kind != aDay || !f.absolute {
		return r, false
	}
	if year := int(bare.to); year != 0 {
		if !f.yearless {
			return r, false
		}
		f, _ = f.inYear(year)
	}
	y, m, d := f.from.civil()
	n := int(bare.from)
	switch {
	case first && n > d:
		m--
	case !first && n < d:
		m++
	}
	other := min(date(y, m, n), date(y, m+1, 1)-1)
	r.from, r.to, r.absolute = min(f.from, other), max(f.from, other)+1, true
	return r, true
}
