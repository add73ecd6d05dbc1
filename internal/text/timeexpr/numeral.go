package timeexpr

// numeral reads the number at token i, in digits or words, and returns the index after it, or i if
// none is found.
func (p *parser) numeral(i int) (n int, ordinal bool, next int) {
	if i >= len(p.toks) {
		return 0, false, i
	}
	if t := p.tok(i); t.number >= 0 {
		if t.gap&dot != 0 && p.continuesNumber(i) {
			return 0, false, i // the second part of 3.5
		}
		return int(t.number), t.ordinal, i + 1
	}
	return p.numberWord(i)
}

// numberWord reads a number in words below 200.
func (p *parser) numberWord(i int) (n int, ordinal bool, next int) {
	e := p.at(i)
	switch {
	case e.ordinal > 0:
		n, next = int(e.ordinal), i+1
		if one := p.at(next); n >= 10 && n%10 == 0 && n < 100 && one.ordinal > 0 && one.ordinal < 10 &&
			p.near(next) && p.agree(i, next) && e.languages&spanish != 0 { // vigésima primera
			return n + int(one.ordinal), true, next + 1
		}
		return n, true, next
	case e.cardinal == 0:
		return 0, false, i
	}
	n, next = int(e.cardinal), i+1
	switch {
	case n < 10 && p.next(next, hundred):
		n, next = n*100, next+1
		return n, false, next
	case n == 4 && e.languages&french != 0 && p.at(next).cardinal == 20 && p.near(next): // quatre-vingt
		n, next = 80, next+1
	case n == 4 && e.languages&french != 0 && p.at(next).ordinal == 20 && p.near(next):
		return 80, true, next + 1
	}
	return p.ones(i, n, next)
}

// ones adds the ones after the tens at token i: "twenty-one", "treinta y dos", "soixante et onze",
// "dix-sept".
func (p *parser) ones(i, n, next int) (int, bool, int) {
	limit := 9
	switch {
	case n == 10 && p.at(i).languages&french != 0:
	case n < 20 || n > 90 || n%10 != 0:
		return n, false, next
	case (n == 60 || n == 80) && p.at(i).languages&french != 0:
		limit = 19
	}
	j := next
	if p.next(j, tens) {
		j++
	}
	if !p.near(j) || p.tok(j).digits > 0 || !p.agree(i, j) {
		return n, false, next
	}
	more, ordinal := int(max(p.at(j).cardinal, p.at(j).ordinal)), p.at(j).ordinal > 0
	if more == 0 || more > limit {
		return n, false, next
	}
	if last := int(max(p.at(j+1).cardinal, p.at(j+1).ordinal)); more == 10 && last >= 7 && last <= 9 && p.near(j+1) && p.agree(i, j+1) {
		return n + more + last, p.at(j+1).ordinal > 0, j + 2 // soixante-dix-sept
	}
	return n + more, ordinal, j + 1
}

// quantity is a number of units: n, between least and most.
type quantity struct{ n, least, most int }

// quantity reads a quantity at token i: a number, "a couple of", "ein paar", "quelques". It returns
// the index after it, or i if none is found.
func (p *parser) quantity(i int) (quantity, int) {
	j := i
	if p.at(i).cardinal == 1 && p.next(i+1, couple|few|several) {
		j++ // a couple
	}
	var q quantity
	switch {
	case p.is(j, couple):
		q = quantity{2, 2, 2}
	case p.is(j, few):
		q = quantity{3, 2, 5}
	case p.is(j, several):
		q = quantity{4, 3, 7}
	default:
		n, ordinal, next := p.numeral(i)
		if ordinal || n == 0 {
			return q, i
		}
		return quantity{n, n, n}, next
	}
	j++
	if p.next(j, of) && p.agree(j-1, j) {
		j++
	}
	return q, j
}
