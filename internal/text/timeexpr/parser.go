package timeexpr

import (
	"math/bits"
	"time"
)

// parser holds one question. Its rules take the place of a token and return
// what is found from there on; none looks further than a bounded number of
// tokens.
type parser struct {
	text  string
	toks  []token
	now   time.Time
	today day
	// evidence counts the words that belong to one language only, by its bit.
	evidence *[french + 1]int
}

// nothing is the entry of words that no table has.
var nothing entry

// outside stands for the tokens before the first and after the last.
var outside = token{number: -1, gap: other}

// tok returns token i; there may be none.
func (p *parser) tok(i int) *token {
	if uint(i) >= uint(len(p.toks)) {
		return &outside
	}
	return &p.toks[i]
}

// at returns the entry of token i, which may be that of no word.
func (p *parser) at(i int) *entry {
	if e := p.tok(i).entry; e != nil {
		return e
	}
	return &nothing
}

// is reports whether token i has one of the roles.
func (p *parser) is(i int, r role) bool { return p.at(i).roles&r != 0 }

// near reports whether only spaces and hyphens part token i from the one before.
func (p *parser) near(i int) bool { return p.within(i, space|hyphen|apostrophe) }

// within reports whether nothing but the given parts token i from the one before.
func (p *parser) within(i int, allowed gap) bool {
	return p.tok(i).gap&^allowed == 0
}

// next reports whether token i has one of the roles and is near the one before.
func (p *parser) next(i int, r role) bool { return p.is(i, r) && p.near(i) }

// agree reports whether tokens i and j are words of a common language. A number
// in digits is of any.
func (p *parser) agree(i, j int) bool {
	return p.tok(i).digits > 0 || p.tok(j).digits > 0 || p.at(i).languages&p.at(j).languages != 0
}

// only returns how many words belong to that language and to no other.
func (p *parser) only(l language) int {
	if p.evidence == nil {
		p.evidence = new([french + 1]int)
		for i := range p.toks {
			if of := p.at(i).languages; bits.OnesCount8(uint8(of)) == 1 {
				p.evidence[of]++
			}
		}
	}
	return p.evidence[l]
}

// proper reports whether token i is not one of the names that are also other
// words, or is written as a name.
func (p *parser) proper(i int) bool {
	return !p.is(i, doubtful) || p.tok(i).capital && i > 0 && p.tok(i).gap&(dot|other) == 0
}

// leads returns where the prepositions and articles from i on end.
func (p *parser) leads(i int) (end int) {
	for end = i; end < i+4 && p.is(end, leadIn|leadOn|lead|between|from) && (end == i || p.near(end)); end++ {
	}
	return end
}

// opens reports whether a time can begin with token i.
func (p *parser) opens(i int) bool {
	e := p.at(i)
	return p.tok(i).number >= 0 || e.roles&^(generic|their|computing|plural|joining) != 0 || e.cardinal|e.ordinal != 0
}

// phrase returns the time that begins at token i, with all that belongs to it.
func (p *parser) phrase(i int) (found, bool) {
	f, ok := p.bound(i)
	if !ok {
		f, ok = p.ranged(i)
	}
	if !ok || p.others(i, f) || p.incidental(i, f) {
		return found{}, false
	}
	f.start = i
	if p.within(f.next, apostrophe) && p.at(f.next).word == "s" { // yesterday's
		f.next++
	}
	return f, true
}

// ranged returns the time or the range of times that begins at token i.
func (p *parser) ranged(i int) (found, bool) {
	f, ok := p.led(i, 0)
	if ok {
		if r, ok := p.extend(i, f); ok {
			f = r
		}
		return f, true
	}
	if f, ok = p.bareDay(i); ok { // "3-10 July", "between the 3rd and 10th of July"
		return p.extend(i, f)
	}
	return found{}, false
}

// others reports whether somebody else's session is named.
func (p *parser) others(i int, f found) bool {
	return f.kind == sessions && i > 0 && p.within(i, space|apostrophe) && p.is(i-1, their)
}

// led returns the time after any prepositions and articles from i on. More
// roles may be taken for granted.
func (p *parser) led(i int, roles role) (found, bool) {
	end := p.leads(i)
	for j := i; j <= end; j++ {
		if j > i && !p.near(j) {
			break
		}
		if f, ok := p.point(j, roles); ok {
			return p.refine(f), true
		}
		roles |= p.at(j).roles
	}
	return found{}, false
}

// point returns the time that begins with token i itself; roles are those of
// what leads to it.
func (p *parser) point(i int, roles role) (found, bool) {
	for _, rule := range [...]func(*parser, int, role) (found, bool){
		(*parser).sessions, (*parser).date, (*parser).dayPart, (*parser).weekOf, (*parser).relative, (*parser).monthly,
		(*parser).seasonal, (*parser).dayOfWeek, (*parser).annual, (*parser).dayNumber,
	} {
		if f, ok := rule(p, i, roles); ok {
			f.start = i
			return f, true
		}
	}
	return found{}, false
}
