package timeexpr

import (
	"math"
	"time"
)

// day counts days since 1 January 1970.
type day int

// openEnd marks the open end of a range of days.
const openEnd day = math.MinInt

// secondsPerDay is the length of a day of the civil calendar in UTC.
const secondsPerDay = 24 * 60 * 60

// date returns the day of a date. Months and days beyond their range carry over.
func date(y, m, d int) day {
	return day(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay)
}

func (d day) civil() (y, m, dom int) {
	y, month, dom := time.Unix(int64(d)*secondsPerDay, 0).UTC().Date()
	return y, int(month), dom
}

// weekday returns 1 for Monday to 7 for Sunday.
func (d day) weekday() int { return ((int(d)+3)%7+7)%7 + 1 }

// monday returns the first day of d's week.
func (d day) monday() day { return d - day(d.weekday()-1) }

// months adds n months to d. A day that the target month lacks becomes its last day.
func (d day) months(n int) day {
	y, m, dom := d.civil()
	return min(date(y, m+n, dom), date(y, m+n+1, 0))
}

// valid reports whether the date exists.
func valid(y, m, d int) bool {
	if m < 1 || m > 12 || d < 1 {
		return false
	}
	_, _, last := date(y, m+1, 0).civil()
	return d <= last
}

// latest returns the year of the most recent day d of month m that is not after today. It returns
// false if there is no such day.
func (p *parser) latest(m, d int) (year int, ok bool) {
	y, _, _ := p.today.civil()
	for back := range 9 { // leap days are up to eight years apart
		if valid(y-back, m, d) && date(y-back, m, d) <= p.today {
			return y - back, true
		}
	}
	return 0, false
}

// kind classifies a found range and decides what the grammar may add to it.
type kind uint8

const (
	none kind = iota
	aDay
	aWeek // any seven days
	aMonth
	aYear
	aSpan // any other range
	sessions
	dayOfMonth // a bare number that takes its month from another date
)

// found is a range of time or of sessions, together with the tokens that name it.
type found struct {
	kind        kind
	start, next int // its tokens are p.toks[start:next]
	from, to    day // to is exclusive
	sess        [2]int
	current     bool
	absolute    bool // an explicit date
	yearless    bool // a date or month without a year
	weekday     bool // named by its weekday
	earlier     bool
	// partFrom and partTo are minutes after the start of from; equal values mean the whole range.
	partFrom, partTo int
}

// strength ranks the times found in one question.
func (f *found) strength() int {
	switch {
	case f.kind == none:
		return 0
	case f.kind == sessions:
		return 3
	case f.absolute:
		return 2
	default:
		return 1
	}
}

// inBounds reports whether f lies within the years that can be written and stored.
func (f *found) inBounds() bool {
	first, last := date(1, 1, 2), date(9999, 12, 30)
	in := func(d day) bool { return d == openEnd || d >= first && d <= last }
	return f.kind != dayOfMonth && in(f.from) && in(f.to) && (f.from == openEnd || f.to == openEnd || f.from <= f.to)
}

// inYear moves a date or month without a year to year y.
func (f found) inYear(y int) (found, bool) {
	_, m, d := f.from.civil()
	switch {
	case f.kind == aDay && valid(y, m, d):
		f.from, f.to = date(y, m, d), date(y, m, d)+1
	case f.kind == aMonth:
		f.from, f.to = date(y, m, 1), date(y, m+1, 1)
	default:
		return f, false
	}
	return f, true
}

func (f *found) year() int { y, _, _ := f.from.civil(); return y }

// third narrows f to its nth third, n being 1 to 3.
func (f found) third(n int) found {
	length := f.to - f.from
	begin := f.from
	if n > 1 {
		f.from = begin + length*day(n-1)/3
	}
	if n < 3 {
		f.to = begin + length*day(n)/3
	}
	f.kind, f.yearless = aSpan, false
	return f
}
