package timeexpr

import (
	"strings"
	"sync"
)

// language is a set of languages, because many words belong to several.
type language uint8

const (
	english language = 1 << iota
	german
	spanish
	french
)

// role is the set of functions that a word can have in a time phrase.
type role uint64

const (
	leadIn   role = 1 << iota // a preposition before months and years
	leadOn                    // a preposition before days
	lead                      // an article or another word that may precede a time
	between                   // begins a range
	from                      // begins a range, and may precede a single time
	and                       // joins the ends of a range
	to                        // joins the ends of a range, and may join numbers
	since                     // open to the end, including the day
	after                     // open to the end, excluding the day
	before                    // open to the beginning, excluding the day
	until                     // open to the beginning, including the day
	onward                    // after a time: from then on
	lasting                   // before a quantity: for that long until now (seit, depuis)
	last                      // before a noun: the previous one
	past                      // like last, but the range ends today
	passed                    // after a noun: the previous one
	this                      // before a noun: the current one
	ago                       // after a quantity
	agoFirst                  // before a quantity
	of                        // between a part and its whole
	earlier                   // excludes the current one
	more                      // may precede earlier
	early                     // the first third of a month or year
	mid                       // the second third
	late                      // the last third
	penult                    // the one before the last
	couple                    // about two
	few                       // more than two
	several                   // more than a few
	session                   // a recorded conversation
	weakly                    // a recorded conversation only after "our"
	plural                    // several sessions or weekdays
	numero                    // between a noun and its number
	today                     // today and the next four roles name a day
	yesterday
	twoAgo
	tonight
	lastNight
	tens      // between tens and ones: "treinta y dos"
	hundred   // after a number
	coming    // before a noun: a future one, or every one
	our       // includes the asker
	their     // belongs to other people
	occasion  // "time" in "last time"
	someDay   // "other" in "the other day"
	doubtful  // a month's name that is also another word
	computing // after session: a computing session
	deadline  // by, in "by July 3rd"
	calendar  // a month, weekday, unit, part of the day, season or quarter
	opener    // begins a phrase of several words: "up to", "il y a"
	generic   // carries no content
)

// triggers holds the roles that a question needs at least one of to name a time.
const triggers = calendar | session | weakly | today | yesterday | twoAgo | tonight | lastNight | occasion

// generics holds the roles of words that carry no content to search for.
const generics = generic | leadIn | leadOn | lead | and | to | of | session | our | plural

// joining holds the roles of words that occur only inside a time phrase.
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

// entry holds every meaning of a word, in all languages.
type entry struct {
	word      string
	roles     role
	languages language
	cardinal  int16 // 0 if it is no number
	ordinal   int16
	month     uint8 // 1 is January
	weekday   uint8 // 1 is Monday
	unit      uint8
	part      uint8 // of the day
	season    uint8 // 1 is spring
	quarter   uint8 // "q1"
}

// table is the vocabulary of one language, folded to lower case without diacritics. Spaces separate
// synonyms, commas separate meanings that count up.
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

// words lists the words of one role.
type words struct {
	role role
	list string
}

// lexicon returns the entries of all languages, keyed by word.
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

// builder is a lexicon under construction.
type builder map[string]*entry

// entry returns the entry of a word, creating it if needed.
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

// scale returns the value of the nth number word of a table: 1 to 20, then the tens, then a
// hundred.
func scale(n int) int16 {
	if n > 20 {
		return int16(n-18) * 10
	}
	return int16(n)
}

// count calls set for each word of list with the ordinal of its meaning.
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
