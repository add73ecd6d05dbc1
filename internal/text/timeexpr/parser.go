package timeexpr

import (
	"math/bits"
	"time"
)

// parser holds one question. Each rule takes a token index and returns the time found there. Every
// rule looks ahead a bounded number of tokens.
type parser struct {
	text  string
	toks  []token
	now   time.Time
	today day
	// evidence counts the words that belong to exactly one language, indexed by its bit.
	evidence *[french + 1]int
}

// nothing is the entry of unknown words.
var nothing entry

// outside stands in for tokens before the first and after the last.
var outside = token{number: -1, gap: other}

// tok returns token i, or outside if the index is out of range.
func (p *parser) tok(i int) *token {
	if uint(i) >= uint(len(p.toks)) {
		return &outside
	}
	return &p.toks[i]
}

// at returns the entry of token i, or nothing for an unknown word.
func (p *parser) at(i int) *entry {
	if e := p.tok(i).entry; e != nil {
		return e
	}
	return &nothing
}

// is reports whether token i has one of the roles.
func (p *parser) is(i int, r role) bool { return p.at(i).roles&r != 0 }

// near reports whether only spaces, hyphens or apostrophes separate token i from the previous one.
func (p *parser) near(i int) bool { return p.within(i, space|hyphen|apostrophe) }

// within reports whether only the allowed separators stand between token i and the previous one.
func (p *parser) within(i int, allowed gap) bool {
	return p.tok(i).gap&^allowed == 0
}

// next reports whether token i has one of the roles and is near the previous one.
func (p *parser) next(i int, r role) bool { return p.is(i, r) && p.near(i) }

// agree reports whether tokens i and j share a language. Digits belong to every language.
func (p *parser) agree(i, j int) bool {
	return p.tok(i).digits > 0 || p.tok(j).digits > 0 || p.at(i).languages&p.at(j).languages != 0
}

// only returns the number of words that belong to language l alone.
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

// proper reports whether token i is an unambiguous name of a time, or is capitalized like one.
func (p *parser) proper(i int) bool {
	return !p.is(i, doubtful) || p.tok(i).capital && i > 0 && p.tok(i).gap&(dot|other) == 0
}

// skipPrepositions returns the index after the prepositions and articles that start at i.
func (p *parser) skipPrepositions(i int) (end int) {
	for end = i; end < i+4 && p.is(end, leadIn|leadOn|lead|between|from) && (end == i || p.near(end)); end++ {
	}
	return end
}

// canBegin reports whether a time can begin at token i.
func (p *parser) canBegin(i int) bool {
	e := p.at(i)
	return p.tok(i).number >= 0 || e.roles&^(generic|their|computing|plural|joining) != 0 || e.cardinal|e.ordinal != 0
}

// phrase returns the complete time phrase that begins at token i.
func (p *parser) phrase(i int) (found, bool) {
	f, ok := p.openRange(i)
	if !ok {
		f, ok = p.timeOrRange(i)
	}
	if !ok || p.ofOthers(i, f) || p.incidental(i, f) {
		return found{}, false
	}
	f.start = i
	if p.within(f.next, apostrophe) && p.at(f.next).word == "s" { // yesterday's
		f.next++
	}
	return f, true
}

// timeOrRange returns the time or range that begins at token i.
func (p *parser) timeOrRange(i int) (found, bool) {
	f, ok := p.afterPrepositions(i, 0)
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

// ofOthers reports whether the named session belongs to other people.
func (p *parser) ofOthers(i int, f found) bool {
	return f.kind == sessions && i > 0 && p.within(i, space|apostrophe) && p.is(i-1, their)
}

// afterPrepositions returns the time after any prepositions and articles at i. roles are assumed in addition to
// theirs.
func (p *parser) afterPrepositions(i int, roles role) (found, bool) {
	end := p.skipPrepositions(i)
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

// point returns the time that begins exactly at token i; roles are the roles of the words before
// it.
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
