package timeexpr

import (
	"slices"
	"strings"
	"time"
)

// Reading is the time that a question names: either a range of time or sessions.
type Reading struct {
	// From and To bound the named time in now's location; To is exclusive. A zero time is open on
	// that side. Both are zero when sessions are named.
	From, To time.Time
	// PartFrom and PartTo narrow the range to a part of the day; PartTo is exclusive. They are zero
	// when none is named.
	PartFrom, PartTo time.Time
	// Day is set when a single day is named, Weekday when its weekday names it. Such a day may move
	// to a recorded one, see [Reading.Window]. Exact days never move: today, yesterday and dates.
	Day, Weekday, Exact bool
	// Earlier excludes the current session or period ("earlier today"). To is then not after now.
	Earlier bool
	// Sessions holds the first and last session named: 1 is the first recorded session, -1 the
	// last. Both are 0 when no session is named.
	Sessions [2]int
	// Current is set when the question names the session it is asked in.
	Current bool
	// Only is set when the other words of the question are generic ("what did we talk about"): then
	// the time is the only search criterion.
	Only bool
	// Rest is the question without the time words. Of two spaces that would meet, one is dropped.
	Rest string
	// Start and End are the byte offsets of the time words in the question.
	Start, End int
}

// Read returns the time that question names, relative to now, and whether it names one. It accepts
// any text and takes time linear in its length.
func Read(question string, now time.Time) (Reading, bool) {
	var room [48]token
	toks, timely := tokenize(room[:0], question)
	if !timely {
		return Reading{}, false
	}
	p := parser{text: question, now: now, toks: slices.Clone(toks)} // room stays on the stack
	y, m, d := now.Date()
	p.today = date(y, int(m), d)
	f, ok := p.find()
	if !ok {
		return Reading{}, false
	}
	return p.reading(f), true
}

// NeedsTimeline reports whether [Reading.Window] depends on the recorded timeline.
func (r Reading) NeedsTimeline() bool {
	return r.named() || r.Day || r.Earlier || !r.PartTo.IsZero()
}

// named reports whether sessions are named.
func (r Reading) named() bool { return r.Current || r.Sessions != [2]int{} }

// find returns the strongest time in the question; among equals the first wins.
func (p *parser) find() (found, bool) {
	var best found
	for i := 0; i < len(p.toks); {
		if !p.canBegin(i) {
			i++
			continue
		}
		f, ok := p.phrase(i)
		if !ok || f.next <= i || !f.inBounds() {
			i++
			continue
		}
		if f.strength() > best.strength() {
			best = f
		}
		i = f.next
	}
	return best, best.kind != none
}

// reading converts days into times and removes the time words from the question.
func (p *parser) reading(f found) Reading {
	r := Reading{
		Day: f.kind == aDay, Weekday: f.weekday, Exact: f.kind == aDay && !f.weekday && (f.absolute || p.today-f.from <= day(1)),
		Sessions: f.sess, Current: f.current, Earlier: f.earlier,
		Start: int(p.toks[f.start].start), End: int(p.toks[f.next-1].end), Only: p.generic(f),
	}
	r.From, r.To = p.midnight(f.from), p.midnight(f.to)
	if f.partTo > f.partFrom {
		from, to := p.clock(f.from, f.partFrom), p.clock(f.from, f.partTo)
		if from.Before(to) { // false where a clock change skips the part
			r.PartFrom, r.PartTo = from, to
		}
	}
	if r.Earlier && r.To.After(p.now) {
		r.To = p.now
	}
	r.Rest = without(p.text, r.Start, r.End)
	return r
}

// without returns s without s[from:to]; of two spaces that meet, one is dropped.
func without(s string, from, to int) string {
	before, after := s[:from], s[to:]
	if before == "" || strings.HasSuffix(before, " ") {
		after = strings.TrimPrefix(after, " ")
	}
	return before + after
}

// midnight returns the start of d, or the zero time for an open end.
func (p *parser) midnight(d day) time.Time {
	if d == openEnd {
		return time.Time{}
	}
	return p.clock(d, 0)
}

// clock returns the wall-clock time the given number of minutes into d.
func (p *parser) clock(d day, minutes int) time.Time {
	return time.Date(1970, 1, 1+int(d), 0, minutes, 0, 0, p.now.Location())
}

// generic reports whether all words outside f are generic.
func (p *parser) generic(f found) bool {
	for i := range p.toks {
		if i >= f.start && i < f.next {
			continue
		}
		if e := p.toks[i].entry; e == nil || e.roles&generics == 0 {
			return false
		}
	}
	return true
}
