package extract

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// formatParser parses a number format code.
type formatParser struct{ rest string }

// section parses up to the next semicolon.
func (p *formatParser) section() numSection {
	var s numSection
	for p.rest != "" {
		c := p.rest[0]
		if c == ';' {
			p.rest = p.rest[1:]
			break
		}
		p.piece(&s, c)
	}
	s.resolveMinutes()
	return s
}

// piece parses the next piece of a code.
func (p *formatParser) piece(s *numSection, c byte) {
	switch {
	case c == '"':
		text, after, _ := strings.Cut(p.rest[1:], `"`)
		s.literal(text)
		p.rest = after
	case c == '\\' && len(p.rest) > 1, c == '_' && len(p.rest) > 1, c == '*' && len(p.rest) > 1:
		_, n := utf8.DecodeRuneInString(p.rest[1:])
		switch c {
		case '\\':
			s.literal(p.rest[1 : 1+n])
		case '_':
			s.literal(" ")
		}
		p.rest = p.rest[1+n:]
	case c == '[':
		p.bracket(s)
	case strings.IndexByte("0#?.,", c) >= 0:
		p.rest = p.digits(s)
	case len(p.rest) >= 7 && strings.EqualFold(p.rest[:7], "general"):
		s.general = true
		p.rest = p.rest[7:]
	case len(p.rest) >= 5 && strings.EqualFold(p.rest[:5], "am/pm"):
		s.hour12 = true
		p.take(s, 'a', 5)
	case len(p.rest) >= 3 && strings.EqualFold(p.rest[:3], "a/p"):
		s.hour12 = true
		p.take(s, 'a', 3)
	case strings.IndexByte("ymdhseYMDHS", c) >= 0:
		lower := strings.ToLower(p.rest)
		p.take(s, lower[0], len(lower)-len(strings.TrimLeft(lower, lower[:1])))
		s.date = true
	case c == '%':
		s.percent = min(s.percent+1, 3)
		s.literal("%")
		p.rest = p.rest[1:]
	case c == '/' && !s.date && s.hasDigits():
		s.isFraction = true
		p.rest = p.rest[1:]
	default:
		_, n := utf8.DecodeRuneInString(p.rest)
		s.literal(p.rest[:n])
		p.rest = p.rest[n:]
	}
}

// matches reports whether a number meets the section's condition.
func (s *numSection) matches(v float64) bool {
	switch s.condition {
	case "<":
		return v < s.limit
	case "<=":
		return v <= s.limit
	case ">":
		return v > s.limit
	case ">=":
		return v >= s.limit
	case "=":
		return v == s.limit
	case "<>":
		return v != s.limit
	}
	return false
}

// bracket parses a colour, a condition, a currency or elapsed hours.
func (p *formatParser) bracket(s *numSection) {
	inside, after, _ := strings.Cut(p.rest[1:], "]")
	p.rest = after
	lower := strings.ToLower(inside)
	switch {
	case strings.HasPrefix(inside, "$"):
		sign, _, _ := strings.Cut(inside[1:], "-")
		s.literal(sign)
	case strings.IndexAny(inside, "<>=") == 0:
		s.condition = strings.TrimRight(inside[:min(2, len(inside))], "0123456789.-+ ")
		limit, err := strconv.ParseFloat(strings.TrimSpace(inside[len(s.condition):]), 64)
		if s.limit = limit; err != nil {
			s.condition = ""
		}
	case lower != "" && strings.Trim(lower, lower[:1]) == "" && strings.IndexByte("hms", lower[0]) >= 0:
		s.date = true
		s.pieces = append(s.pieces, numPiece{place: lower[0] - 'a' + 'A', text: lower})
	}
}

// digits parses a run of digit placeholders and returns the rest.
func (p *formatParser) digits(s *numSection) string {
	n := len(p.rest) - len(strings.TrimLeft(p.rest, "0#?.,"))
	run, rest := p.rest[:n], p.rest[n:]
	if s.date {
		s.pieces = append(s.pieces, numPiece{place: 'f', text: run})
		return rest
	}
	if strings.Trim(run, ".,") == "" {
		s.literal(run)
		return rest
	}
	if s.hasDigits() { // digits on both sides of a literal: "000-0000"
		n := len(run) - strings.Count(run, ".") - strings.Count(run, ",")
		s.minWhole, s.tail = s.minWhole+strings.Count(run, "0"), s.tail+n
		s.pieces = append(s.pieces, numPiece{place: 'k', text: run[:n]})
		return rest
	}
	s.pieces = append(s.pieces, numPiece{place: 'n'})
	whole, part, _ := strings.Cut(run, ".")
	trimmed := strings.TrimRight(whole, ",")
	s.thousands = min(len(whole)-len(trimmed), 4)
	s.group = strings.Contains(trimmed, ",")
	s.minWhole = strings.Count(trimmed, "0")
	s.thousands = min(s.thousands+strings.Count(part, ","), 4)
	zeros := strings.Count(part, "0")
	s.maxFraction = min(zeros+strings.Count(part, "#")+strings.Count(part, "?"), 15)
	s.minFraction = min(zeros, s.maxFraction)
	if len(rest) > 2 && rest[0]|0x20 == 'e' && (rest[1] == '+' || rest[1] == '-') {
		exp := rest[2:]
		s.expDigits = min(max(len(exp)-len(strings.TrimLeft(exp, "0#?")), 1), 4)
		rest = strings.TrimLeft(exp, "0#?")
	}
	return rest
}

func (p *formatParser) take(s *numSection, place byte, n int) {
	s.pieces = append(s.pieces, numPiece{place: place, text: p.rest[:n]})
	p.rest = p.rest[n:]
}

func (s *numSection) literal(text string) {
	s.pieces = append(s.pieces, numPiece{text: text})
}

// hasDigits reports whether there is a digit placeholder.
func (s *numSection) hasDigits() bool {
	for _, p := range s.pieces {
		if p.place == 'n' {
			return true
		}
	}
	return false
}

// resolveMinutes distinguishes minutes from months: minutes follow hours or precede seconds.
func (s *numSection) resolveMinutes() {
	if !s.date {
		return
	}
	before := byte(0)
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.place == 'm' && len(p.text) <= 2 && (before == 'h' || before == 'H' || s.secondsFollow(i+1)) {
			p.place = 'i'
		}
		if p.place != 0 {
			before = p.place
		}
	}
}

func (s *numSection) secondsFollow(i int) bool {
	for ; i < len(s.pieces); i++ {
		if c := s.pieces[i].place; c != 0 {
			return c == 's' || c == 'S'
		}
	}
	return false
}

// lastDay is 9999-12-31, the last day that spreadsheets support.
const lastDay = 2958466

// formatDate formats a number of days as a date or time. It returns false for a number out of
// range.
func (s *numSection) formatDate(v float64, from1904 bool) (string, bool) {
	if v < 0 || v >= lastDay {
		return "", false
	}
	epoch := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		epoch = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case v < 60:
		epoch = epoch.AddDate(0, 0, 1) // the calendar has a 29 February 1900
	}
	unit := time.Second
	for _, p := range s.pieces {
		if p.place == 'f' && strings.HasPrefix(p.text, ".0") {
			unit = time.Millisecond
		}
	}
	day := math.Floor(v)
	elapsed := time.Duration(math.Round((v-day)*float64(24*time.Hour/unit))) * unit
	t := epoch.AddDate(0, 0, int(day)).Add(elapsed)
	total := int64(day)*86400 + int64(elapsed/time.Second)
	var b strings.Builder
	for _, p := range s.pieces {
		b.WriteString(s.datePiece(p, t, total))
	}
	return strings.TrimSpace(b.String()), true
}

// datePiece formats one piece of a date.
func (s *numSection) datePiece(p numPiece, t time.Time, total int64) string {
	long := len(p.text)
	two := func(n int) string {
		if long > 1 && n < 10 {
			return "0" + strconv.Itoa(n)
		}
		return strconv.Itoa(n)
	}
	switch p.place {
	case 'y', 'e':
		if p.place == 'y' && long <= 2 {
			return t.Format("06")
		}
		return strconv.Itoa(t.Year())
	case 'm':
		n, name := int(t.Month()), t.Format("January")
		return [...]string{strconv.Itoa(n), two(n), name[:3], name, name[:1]}[min(long, 5)-1]
	case 'd':
		return [...]string{strconv.Itoa(t.Day()), two(t.Day()), t.Format("Mon"), t.Format("Monday")}[min(long, 4)-1]
	case 'h':
		if s.hour12 {
			return two((t.Hour()+11)%12 + 1)
		}
		return two(t.Hour())
	case 'i':
		return two(t.Minute())
	case 's':
		return two(t.Second())
	case 'a':
		if t.Hour() < 12 {
			return strings.ToUpper(p.text[:max(1, long/2)])
		}
		return strings.ToUpper(p.text[long/2+1:])
	case 'f':
		return fraction(p.text, t)
	case 'H':
		return strconv.FormatInt(total/3600, 10)
	case 'M':
		return strconv.FormatInt(total/60, 10)
	case 'S':
		return strconv.FormatInt(total, 10)
	}
	return p.text
}

// fraction formats a fraction of a second: ".00".
func fraction(pattern string, t time.Time) string {
	if !strings.HasPrefix(pattern, ".0") {
		return strings.Trim(pattern, "0#?")
	}
	return t.Format(".000")[:min(len(pattern), 4)]
}
