package timeexpr

import (
	"slices"
	"strings"
	"time"
)

// Reading is what a question says about time. It names either a stretch of time
// or sessions.
type Reading struct {
	// From and To bound the time named, To excluded, in now's location. A zero
	// time is open on that side; both are zero when sessions are named.
	From, To time.Time
	// PartFrom and PartTo narrow From and To to a part of the day, To excluded.
	// They are zero when none is named.
	PartFrom, PartTo time.Time
	// Day says that one single day is named, and Weekday that it was by its
	// weekday. Such days give way to recorded ones, see [Reading.Window], but for
	// those that Exact says nobody errs about: today, yesterday, a date.
	Day, Weekday, Exact bool
	// Earlier says that the words point away from what is going on at the time
	// of asking: "earlier today". To is then not after now.
	Earlier bool
	// Sessions are the first and the last session named: 1 is the first that is
	// recorded, -1 the last. Both are 0 when none is named.
	Sessions [2]int
	// Current says that the session is named in which the question is asked.
	Current bool
	// Only says that the rest of the question is generic words: "what did we
	// talk about". Then the time is all there is to search by.
	Only bool
	// Rest is the question without the words that name the time. Of two spaces
	// that would meet there, one is left.
	Rest string
	// Start and End are where those words stand in the question, in bytes.
	Start, End int
}

// Read returns what question says about time, as seen from now, and whether it
// says anything. It takes any text, in time linear in its length.
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

// NeedsTimeline reports whether [Reading.Window] depends on what is recorded.
func (r Reading) NeedsTimeline() bool {
	return r.named() || r.Day || r.Earlier || !r.PartTo.IsZero()
}

// named reports whether sessions are named.
func (r Reading) named() bool { return r.Current || r.Sessions != [2]int{} }

// find returns the strongest of what the question names, the first among equals.
func (p *parser) find() (found, bool) {
	var best found
	for i := 0; i < len(p.toks); {
		if !p.opens(i) {
			i++
			continue
		}
		f, ok := p.phrase(i)
		if !ok || f.next <= i || !f.sane() {
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

// reading turns days into times and cuts the words out of the question.
func (p *parser) reading(f found) Reading {
	r := Reading{
		Day: f.kind == aDay, Weekday: f.weekday, Exact: f.kind == aDay && !f.weekday && (f.absolute || p.today-f.from <= day(1)),
		Sessions: f.sess, Current: f.current, Earlier: f.earlier,
		Start: int(p.toks[f.start].start), End: int(p.toks[f.next-1].end), Only: p.generic(f),
	}
	r.From, r.To = p.midnight(f.from), p.midnight(f.to)
	if f.partTo > f.partFrom {
		from, to := p.clock(f.from, f.partFrom), p.clock(f.from, f.partTo)
		if from.Before(to) { // not where the clock was put forward over it
			r.PartFrom, r.PartTo = from, to
		}
	}
	if r.Earlier && r.To.After(p.now) {
		r.To = p.now
	}
	r.Rest = without(p.text, r.Start, r.End)
	return r
}

// without returns s without s[from:to]; of two spaces that meet, one is left.
func without(s string, from, to int) string {
	before, after := s[:from], s[to:]
	if before == "" || strings.HasSuffix(before, " ") {
		after = strings.TrimPrefix(after, " ")
	}
	return before + after
}

// midnight returns when d begins, the zero time for an open end.
func (p *parser) midnight(d day) time.Time {
	if d == open {
		return time.Time{}
	}
	return p.clock(d, 0)
}

// clock returns the time so many minutes into d, counted on the clock.
func (p *parser) clock(d day, minutes int) time.Time {
	return time.Date(1970, 1, 1+int(d), 0, minutes, 0, 0, p.now.Location())
}

// generic reports whether all words but those of f are generic.
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
