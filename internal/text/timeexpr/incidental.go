package timeexpr

import (
	"slices"
	"strings"
)

// incidental reports whether the words from token i to the end of f, which could name a time, mean
// something else here.
func (p *parser) incidental(i int, f found) bool {
	if f.kind == sessions {
		return false
	}
	end := f.next - 1
	return p.inName(end) || p.address(end, f) || p.anyDay(i, end, f) || p.everyDay(end, f) ||
		p.personName(end, f) || p.springProduct(i, end) || p.lastIsVerb(i) || f.kind == aYear && p.at(i).word == "al"
}

// inName reports whether token i continues a name: "Monday.com", "march.txt".
func (p *parser) inName(i int) bool {
	next := p.tok(i + 1)
	return i+1 < len(p.toks) && next.gap == dot && next.digits == 0 && next.start == p.tok(i).end+1
}

// address reports whether a day is part of a street name: "8 May Street".
func (p *parser) address(end int, f found) bool {
	next := p.tok(end + 1)
	return f.kind == aDay && f.absolute && end+1 < len(p.toks) && next.capital && p.near(end+1) &&
		slices.Contains([]string{"street", "road", "avenue", "lane", "drive", "square"}, strings.ToLower(p.text[next.start:next.end]))
}

// anyDay reports whether an indefinite day is meant: "on a Friday", "an einem Freitag".
func (p *parser) anyDay(i, end int, f found) bool {
	if !f.weekday || p.at(end).weekday == 0 {
		return false
	}
	for j := max(0, i-1); j < end; j++ {
		if slices.Contains([]string{"a", "an", "ein", "einem", "einen", "un", "une"}, p.at(j).word) {
			return true
		}
	}
	return false
}

// everyDay reports whether a French article turns a weekday into a habit: "le lundi", "le rôti du
// dimanche". "lundi" without an article is the most recent Monday.
func (p *parser) everyDay(end int, f found) bool {
	return f.weekday && p.at(end).weekday != 0 && p.at(end).languages == french &&
		slices.Contains([]string{"le", "du"}, p.at(end-1).word)
}

// personName reports whether a month's name is a person's name: "la hermana de Abril". Spanish and
// French capitalize names, but not months. The month of a full date counts in either spelling.
func (p *parser) personName(end int, f found) bool {
	return f.kind == aMonth && f.yearless && p.tok(end).capital && p.at(end).languages&english == 0 &&
		slices.Contains([]string{"de", "del", "d"}, p.at(end-1).word) && p.at(end-2).unit != month
}

// springProduct reports whether a season is a product name: "in Spring". "en Spring" mixes languages and
// is one, too.
func (p *parser) springProduct(i, end int) bool {
	e := p.at(end)
	if e.season == 0 || end == i {
		return false
	}
	return !p.agree(i, end) || e.word == "spring" && p.tok(end).capital && p.is(end-1, leadIn)
}

// lastIsVerb reports whether "last" is a verb: "Does it last three months?"
func (p *parser) lastIsVerb(i int) bool {
	if p.at(i).word != "last" || p.at(i+1).cardinal == 0 && p.tok(i+1).digits == 0 {
		return false
	}
	if before := p.at(i - 1); before != &nothing && !slices.Contains([]string{"it", "they", "that", "this", "these"}, before.word) {
		return false
	}
	for j := range i {
		t := p.tok(j)
		if slices.Contains([]string{"does", "will", "can", "could", "would", "should", "must"}, strings.ToLower(p.text[t.start:t.end])) {
			return true
		}
	}
	return false
}
