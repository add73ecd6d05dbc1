package timeexpr

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Errors of [Dates.Parse].
var (
	ErrNoTime    = errors.New("is not a readable time; write it as 2026-01-31T15:04:05Z")
	ErrAmbiguous = errors.New("is ambiguous: day and month could be swapped; write it as 2026-01-31")
)

// maxStamp is the length in bytes of the longest text that is parsed.
const maxStamp = 128

// Dates parses the timestamps of one collection of records, in the formats that programs and people
// use. In 3/4/2023 it takes the order of day and month from the collection's unambiguous dates. The
// zero value knows no order.
type Dates struct{ dayFirst, monthFirst bool }

// Note learns the order of day and month from a timestamp of the collection.
func (d *Dates) Note(s string) {
	if _, order, err := (Dates{}).read(s); err == nil {
		d.dayFirst = d.dayFirst || order == dayFirst
		d.monthFirst = d.monthFirst || order == monthFirst
	}
}

// Parse reads a date that states its year, with or without a time of day: ISO 8601, RFC 1123 and
// 822, 31.1.2026, 31/1/2026, 1/31/2026, 2026/01/31 (Sat), month names in English, German, Spanish
// and French ("1:56 pm on 8 May, 2023", "le 8 mai 2023 à 13h56"), and Unix time in seconds,
// milliseconds, microseconds or nanoseconds, depending on its length. Without a zone the time is
// UTC. The error is [ErrNoTime] or [ErrAmbiguous].
func (d Dates) Parse(s string) (time.Time, error) {
	t, _, err := d.read(s)
	return t, err
}

// order is the order of the numbers of a date.
type order uint8

const (
	anyOrder order = iota
	dayFirst
	monthFirst
)

var (
	clock = regexp.MustCompile(`(?i)(?:^|[\s,T])(\d{1,2})(?:[:h](\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?` +
		`(?:\s?([ap])\.?\s?m\b\.?)?|\s?([ap])\.?\s?m\b\.?)`)
	basicDay  = regexp.MustCompile(`(?i)^(\d{8})T(\d{2})(\d{2})`) // the basic format of ISO 8601
	basicTime = regexp.MustCompile(`^(\d{8} \d{2}:\d{2})(\d{2})`)
	zone      = regexp.MustCompile(`(?i)^\s?(?:([a-z]{1,4})\b)?([+-]\d{2}:?(?:\d{2})?)?(?:\s*\[[\w/+-]+\])?`)
	aside     = regexp.MustCompile(`\([\pL\s.]*\)`) // a weekday or the name of a zone
	part      = regexp.MustCompile(`[\pL\pM]+|\d+|[^\s]`)
	unix      = regexp.MustCompile(`^(\d{9,19})(?:\.(\d{1,9})\d*)?$`)
)

// zones maps the zone names of RFC 822 and of Central Europe to minutes east of Greenwich.
var zones = map[string]int{
	"z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "cet": 60, "mez": 60, "cest": 120, "mesz": 120, "bst": 60,
	"est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360, "pst": -480, "pdt": -420,
}

// fillers holds words without meaning in a timestamp, and short names of weekdays that no sentence
// contains.
var fillers = wordSet("on at the of um uhr den der am vom le la las los el de del du a h hrs " +
	"mo di mi do fr sa so lu ma me je ve ju vi lun mer mie jeu jue ven vie sam sab dim dom st nd rd th er t")

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

func (d Dates) read(s string) (time.Time, order, error) {
	s = plainStamp(s)
	if len(s) > maxStamp {
		return time.Time{}, anyOrder, ErrNoTime
	}
	if t, ok := unixTime(s); ok {
		return t, anyOrder, nil
	}
	s = basicTime.ReplaceAllString(basicDay.ReplaceAllString(s, "$1 $2:$3"), "$1:$2")
	at, in, rest, ok := timeOfDay(s)
	if !ok {
		return time.Time{}, anyOrder, ErrNoTime
	}
	y, m, dom, order, err := d.day(rest)
	if err != nil {
		return time.Time{}, anyOrder, err
	}
	return time.Date(y, time.Month(m), dom, 0, 0, 0, 0, in).Add(at), order, nil
}

// plainStamp returns s with plain spaces, without direction marks and surrounding brackets.
func plainStamp(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.Is(unicode.Cf, r): // WhatsApp writes direction marks
			return -1
		}
		return r
	}, s)
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(s, "]") {
		s = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	return s
}

// unixTime reads seconds since 1970, with a fraction, or smaller units.
func unixTime(s string) (time.Time, bool) {
	if f, err := strconv.ParseFloat(s, 64); err == nil && strings.ContainsAny(s, "eE") { // JSON may use an exponent
		s = strconv.FormatFloat(f, 'f', -1, 64)
	}
	m := unix.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	switch digits := len(m[1]); {
	case digits <= 11:
		return time.Unix(n, nanoseconds(m[2])).UTC(), true
	case digits <= 14:
		return time.UnixMilli(n).UTC(), true
	case digits <= 17:
		return time.UnixMicro(n).UTC(), true
	}
	return time.Unix(0, n).UTC(), true
}

// nanoseconds reads up to nine digits of a fraction of a second.
func nanoseconds(fraction string) int64 {
	n, _ := strconv.ParseInt((fraction + "000000000")[:9], 10, 64) // always nine digits; none gives 0
	return n
}

// timeOfDay cuts the time of day and the zone out of a timestamp. Both may be missing.
func timeOfDay(s string) (at time.Duration, in *time.Location, rest string, ok bool) {
	in = time.UTC
	m := clock.FindStringSubmatchIndex(s)
	if m == nil {
		return 0, in, s, true
	}
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return s[m[2*i]:m[2*i+1]]
	}
	h, minute, second := number(group(1)), number(group(2)), number(group(3))
	switch half := strings.ToLower(group(5) + group(6)); { // after 12 o'clock, am is German
	case half == "p" && h < 12:
		h += 12
	case half == "a" && h == 12:
		h = 0
	}
	if h > 23 || minute > 59 || second > 59 {
		return 0, in, "", false
	}
	after := s[m[1]:]
	if z := zone.FindStringSubmatch(after); z != nil {
		if minutes, known := zoneOf(z[1], z[2]); known {
			in, after = time.FixedZone("", 60*minutes), after[len(z[0]):]
			if minutes == 0 {
				in = time.UTC
			}
		}
	}
	at = time.Duration(h)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return at + time.Duration(nanoseconds(group(4))), in, s[:m[0]] + " " + after, true
}

// zoneOf returns the minutes east of Greenwich of a zone given by name, offset or both.
func zoneOf(name, offset string) (minutes int, known bool) {
	minutes, known = zones[strings.ToLower(name)]
	if offset == "" || name != "" && !known {
		return minutes, known
	}
	digits := strings.ReplaceAll(offset[1:], ":", "")
	minutes = 60 * number(digits[:2])
	if len(digits) == 4 {
		minutes += number(digits[2:])
	}
	if offset[0] == '-' {
		minutes = -minutes
	}
	return minutes, minutes > -24*60 && minutes < 24*60
}

// number returns the value of a few digits, 0 for an empty string.
func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the caller passes few digits
	return n
}

// dateParts holds the numbers and words of a date.
type dateParts struct {
	numbers []string
	signs   string // one separator for each gap between two numbers; ' ' for none
	month   int    // 0 without a month name
	march   bool   // the month is "mar", which means Tuesday if another month follows
	weekday int
}

// day reads the date of a timestamp.
func (d Dates) day(s string) (y, m, dom int, o order, err error) {
	w, ok := partsOf(aside.ReplaceAllStringFunc(s, func(a string) string { return " " + strings.Trim(weekdayIn(a), "()") + " " }))
	switch {
	case !ok:
		return 0, 0, 0, anyOrder, ErrNoTime
	case w.month != 0:
		y, m, dom, ok = w.named()
	case len(w.numbers) == 1 && len(w.numbers[0]) == 8:
		n := w.numbers[0]
		y, m, dom, ok = number(n[:4]), number(n[4:6]), number(n[6:]), true
	case len(w.numbers) == 3 && w.signs[0] == w.signs[1] && w.signs[0] != ' ':
		return d.digits(w)
	default:
		ok = false
	}
	if !ok || y < 1 || !valid(y, m, dom) {
		return 0, 0, 0, anyOrder, ErrNoTime
	}
	return y, m, dom, anyOrder, nil
}

// weekdayIn returns a parenthesized weekday, or "" for anything else: the name of a zone adds
// nothing to its offset.
func weekdayIn(aside string) string {
	if e := lexicon()[folded(strings.Trim(aside, "(). "))]; e != nil && e.weekday != 0 {
		return aside
	}
	return ""
}

// partsOf splits a date into its parts. It returns false if a part is unknown.
func partsOf(s string) (w dateParts, ok bool) {
	sign := byte(' ')
	for _, p := range part.FindAllString(s, -1) {
		switch r := []rune(p)[0]; {
		case '0' <= r && r <= '9':
			if len(p) > 8 {
				return w, false
			}
			if len(w.numbers) > 0 {
				w.signs += string(sign)
			}
			w.numbers, sign = append(w.numbers, p), ' '
		case unicode.IsLetter(r):
			if !w.word(folded(p)) {
				return w, false
			}
		case strings.ContainsRune("/-.", r):
			sign = p[0]
		case !strings.ContainsRune(",'’–º°", r):
			return w, false
		}
	}
	return w, true
}

// word adds a word and reports whether dates contain such a word.
func (w *dateParts) word(s string) bool {
	e := lexicon()[s]
	switch {
	case e != nil && e.month != 0 && (w.month == 0 || w.march):
		w.month, w.march = int(e.month), s == "mar"
	case s == "mar":
	case e != nil && e.weekday != 0:
		w.weekday = int(e.weekday)
	case !fillers[s]:
		return false
	}
	return true
}

// folded returns a word in lower case without diacritics.
func folded(s string) string {
	var b []byte
	for _, r := range s {
		if r < 0x80 {
			b = append(b, byte(unicode.ToLower(r)))
			continue
		}
		var ok bool
		if b, ok = appendFolded(b, r); !ok {
			return s
		}
	}
	return string(b)
}

// named returns a date with a month name: its other numbers are a day and a year.
func (w *dateParts) named() (y, m, d int, ok bool) {
	if len(w.numbers) != 2 {
		return 0, 0, 0, false
	}
	day, year := w.numbers[0], w.numbers[1]
	if len(day) > 2 {
		day, year = year, day
	}
	return yearOf(year), w.month, number(day), len(day) <= 2 && (len(year) == 4 || len(year) == 2)
}

// yearOf returns a year of four digits, or expands two digits to a year from 1969 on.
func yearOf(digits string) int {
	y := number(digits)
	switch {
	case len(digits) > 2:
		return y
	case y < 69:
		return 2000 + y
	}
	return 1900 + y
}

// digits returns a date given as three numbers.
func (d Dates) digits(w dateParts) (y, m, dom int, o order, err error) {
	n := w.numbers
	if len(n[0]) == 4 && len(n[1]) <= 2 && len(n[2]) <= 2 {
		if y, m, dom = number(n[0]), number(n[1]), number(n[2]); y < 1 || !valid(y, m, dom) {
			err = ErrNoTime
		}
		return y, m, dom, anyOrder, err
	}
	if len(n[0]) > 2 || len(n[1]) > 2 || len(n[2]) != 4 && len(n[2]) != 2 {
		return 0, 0, 0, anyOrder, ErrNoTime
	}
	a, b := number(n[0]), number(n[1])
	y = yearOf(n[2])
	asDay, asMonth := y > 0 && valid(y, b, a), y > 0 && valid(y, a, b)
	switch {
	case asDay && (!asMonth || a == b || w.signs[0] == '.'):
	case asMonth && !asDay:
		return y, a, b, w.collectionOrder(monthFirst), nil
	case !asDay:
		return 0, 0, 0, anyOrder, ErrNoTime
	default:
		return d.either(w, y, a, b)
	}
	if a == b || asMonth {
		return y, b, a, anyOrder, nil // unambiguous, or decided by the dots
	}
	return y, b, a, w.collectionOrder(dayFirst), nil
}

// collectionOrder returns the order that a numeric date implies for the other dates of its
// collection. A date with dots implies none: its order is fixed.
func (w dateParts) collectionOrder(o order) order {
	if w.signs[0] == '.' {
		return anyOrder
	}
	return o
}

// either decides which of a and b is the day in a/b/y, by the weekday or by the other dates.
func (d Dates) either(w dateParts, y, a, b int) (year, m, dom int, o order, err error) {
	asDay, asMonth := date(y, b, a).weekday() == w.weekday, date(y, a, b).weekday() == w.weekday
	switch {
	case asDay && !asMonth:
		return y, b, a, dayFirst, nil
	case asMonth && !asDay:
		return y, a, b, monthFirst, nil
	case d.dayFirst && !d.monthFirst:
		return y, b, a, anyOrder, nil
	case d.monthFirst && !d.dayFirst:
		return y, a, b, anyOrder, nil
	}
	return 0, 0, 0, anyOrder, ErrAmbiguous
}
