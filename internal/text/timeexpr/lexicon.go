package timeexpr

import (
	"strings"
	"sync"
)

// language is a set of languages: many words belong to several.
type language uint8

const (
	english language = 1 << iota
	german
	spanish
	french
)

// role is a set of what a word can be in a phrase of time.
type role uint64

const (
	leadIn   role = 1 << iota // a preposition before months and years
	leadOn                    // one before days
	lead                      // an article or another word that may stand before a time
	between                   // begins a range
	from                      // the same, and may stand before a single time
	and                       // joins the ends of a range
	to                        // the same, and numbers may be joined by it
	since                     // open to the end, taking the day in
	after                     // open to the end, leaving the day out
	before                    // open to the beginning, leaving the day out
	until                     // open to the beginning, taking the day in
	onward                    // after a time: from then on
	lasting                   // before a quantity: that long until now (seit, depuis)
	last                      // before a noun: the one before this
	past                      // like last, but what ends today
	passed                    // after a noun: the one before this
	this                      // before a noun: the one that is going on
	ago                       // after a quantity
	agoFirst                  // before a quantity
	of                        // between a part and the whole
	earlier                   // not what is going on now
	more                      // may stand before earlier
	early                     // the first third of a month or year
	mid                       // the second third
	late                      // the last third
	penult                    // the one before the last
	couple                    // about two
	few                       // more than two
	several                   // more than a few
	session                   // a recorded conversation
	weakly                    // the same if "our" stands before it
	plural                    // with session or a weekday: several of them
	numero                    // between a noun and its number
	today                     // a day, and so the next four
	yesterday
	twoAgo
	tonight
	lastNight
	tens      // between tens and ones: "treinta y dos"
	hundred   // after a number
	coming    // before a noun: not in the past, or all of them
	our       // the asker is part of it
	their     // somebody else's
	occasion  // "time" in "last time"
	someDay   // "other" in "the other day"
	doubtful  // a month's name that is another word, too
	computing // after session: it is a thing of computing
	deadline  // by, in "by July 3rd"
	calendar  // a month, weekday, unit, part of the day, season or quarter
	opener    // begins a phrase of several words: "up to", "il y a"
	generic   // says nothing about the content
)

// triggers are the roles without which a question names no time.
const triggers = calendar | session | weakly | today | yesterday | twoAgo | tonight | lastNight | occasion

// generics are the roles of words that leave no content to search for.
const generics = generic | leadIn | leadOn | lead | and | to | of | session | our | plural

// joining are the roles of words that only stand inside a time.
const joining = and | to | onward | passed | tens | hundred | numero | coming

// Units of time, and the parts of the day.
const (
	minute = 1 + iota
	hour
	dayUnit
	week
	fortnight
	weekend
	month
	quarter
	year
)

const (
	morning = 1 + iota
	noon
	afternoon
	evening
	night
)

// entry says all that a word can be, in any language.
type entry struct {
	word      string
	roles     role
	languages language
	cardinal  int16 // 0 is none
	ordinal   int16
	month     uint8 // 1 is January
	weekday   uint8 // 1 is Monday
	unit      uint8
	part      uint8 // of the day
	season    uint8 // 1 is spring
	quarter   uint8 // "q1"
}

// table is the vocabulary of a language, folded: lower case, no marks. Words of
// one meaning are separated by spaces, meanings that count up by commas.
type table struct {
	language language
	months   string // January first
	weekdays string // Monday first
	units    string // in the order of the constants
	parts    string
	seasons  string // spring first
	// cardinals and ordinals count from 1; "-" skips a number.
	cardinals, ordinals string
	roles               []words
}

// words are words of one role.
type words struct {
	role role
	list string
}

// lexicon returns the entries of all languages by word.
var lexicon = sync.OnceValue(func() map[string]*entry {
	l := make(builder, 2048)
	for _, t := range []*table{&englishTable, &germanTable, &spanishTable, &frenchTable} {
		l.add(t)
	}
	l.spanishNumerals()
	l.germanNumerals()
	l.germanCompounds()
	return l
})

// builder is a lexicon that is being made.
type builder map[string]*entry

// entry returns the entry of a word, which is made if need be.
func (b builder) entry(word string, l language) *entry {
	e := b[word]
	if e == nil {
		e = &entry{word: word}
		b[word] = e
	}
	e.languages |= l
	return e
}

// add adds the words of a language.
func (b builder) add(t *table) {
	b.count(t, t.months, func(e *entry, n int) { e.month = uint8(n); e.roles |= calendar })
	b.count(t, t.weekdays, func(e *entry, n int) { e.weekday = uint8(n); e.roles |= calendar })
	b.count(t, t.units, func(e *entry, n int) { e.unit = uint8(n); e.roles |= calendar })
	b.count(t, t.parts, func(e *entry, n int) { e.part = uint8(n); e.roles |= calendar })
	b.count(t, t.seasons, func(e *entry, n int) { e.season = uint8(n); e.roles |= calendar })
	b.count(t, "q1, q2, q3, q4", func(e *entry, n int) { e.quarter = uint8(n); e.roles |= calendar })
	b.count(t, t.cardinals, func(e *entry, n int) { e.cardinal = scale(n) })
	b.count(t, t.ordinals, func(e *entry, n int) { e.ordinal = scale(n) })
	for _, w := range t.roles {
		for word := range strings.FieldsSeq(w.list) {
			b.entry(word, t.language).roles |= w.role
		}
	}
}

// scale returns the value of the nth number word of a table: 1 to 20, then the
// tens, then a hundred.
func scale(n int) int16 {
	if n > 20 {
		return int16(n-18) * 10
	}
	return int16(n)
}

// count calls set for each word of list with the number of its meaning.
func (b builder) count(t *table, list string, set func(*entry, int)) {
	n := 0
	for meaning := range strings.SplitSeq(list, ",") {
		n++
		for word := range strings.FieldsSeq(meaning) {
			if word != "-" {
				set(b.entry(word, t.language), n)
			}
		}
	}
}
