package facts

import (
	"bytes"
	"strings"
)

// unit is a scored part of a sentence: its statement or its request.
type unit struct {
	from, to        int
	sentence        *sentenceSpan
	asked, supposed bool
	first, last     bool // the first or last unit of its sentence
	facts           []Fact
	times           []moment
}

// longUnit is the length in code points from which a unit ends at the next clause. maxUnit is the
// longest unit kept.
const (
	longUnit = 240
	maxUnit  = 480
)

// units splits the sentences of the message into units. Their clauses are known.
func (e *extractor) units() []unit {
	var out []unit
	for i := range e.sentences {
		s := &e.sentences[i]
		at := s.from
		for k, c := range s.clauses {
			end := s.to
			if k+1 < len(s.clauses) {
				next := s.clauses[k+1].from
				if (c.from >= s.asked) == (next >= s.asked) && next-at < longUnit {
					continue
				}
				end = next
			}
			u := unit{
				from: at, to: end, sentence: s, asked: c.from >= s.asked, supposed: c.supposed,
				first: at == s.from, last: end == s.to,
			}
			at = end
			if e.t.trim(&u); u.from < u.to {
				out = append(out, u)
			}
		}
	}
	e.assign(out)
	return out
}

// assign assigns the rules' facts and the named times to the units.
func (e *extractor) assign(us []unit) {
	i := 0
	for k := range us {
		u := &us[k]
		for i < len(e.times) && e.times[i].from < u.from {
			i++
		}
		from := i
		for i < len(e.times) && e.times[i].to <= u.to {
			i++
		}
		u.times = e.times[from:i]
	}
	i = 0
	for _, f := range e.facts {
		for i < len(us) && us[i].to <= f.Span.Start {
			i++
		}
		for k := i; k < len(us) && us[k].from < f.matchedEnd(); k++ {
			us[k].facts = append(us[k].facts, f)
		}
	}
}

// marks surround a statement and do not belong to it.
const marks = " ,:-\t\r"

// trim removes marks around a unit, and a connector at its end.
func (t *text) trim(u *unit) {
	t.trimEnd(u)
	for u.from < u.to && strings.IndexByte(marks+")", t.fold[u.from]) >= 0 {
		u.from++
	}
	if u.last {
		return
	}
	if i := bytes.LastIndexByte(t.fold[u.from:u.to], ' '); i > 0 && connectors[string(t.fold[u.from+i+1:u.to])] {
		u.to = u.from + i
		t.trimEnd(u)
	}
}

func (t *text) trimEnd(u *unit) {
	for u.to > u.from && strings.IndexByte(marks+`("`, t.fold[u.to-1]) >= 0 {
		u.to--
	}
}

// quote returns the text between two positions with single spaces.
func (t *text) quote(from, to int) string {
	return strings.Join(strings.Fields(t.orig(from, to)), " ")
}
