package extract

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
)

// builtinFormats are the number formats without a code in the file. Formats that depend on the
// locale are written as ISO 8601.
var builtinFormats = map[int]string{
	1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
	14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
	21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd",
	31: "yyyy-mm-dd", 32: "h:mm", 33: "h:mm:ss", 36: "yyyy-mm-dd", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
	39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;(#,##0)", 42: "#,##0;(#,##0)",
	43: "#,##0.00;(#,##0.00)", 44: "#,##0.00;(#,##0.00)", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
	50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd", 54: "yyyy-mm-dd", 57: "yyyy-mm-dd",
	58: "yyyy-mm-dd",
}

// readFormats reads the number formats of the cell styles.
func (w *xlsx) readFormats(s *xmlScanner) error {
	codes := make(map[int]string)
	parsed := make(map[int]*numFormat)
	return s.children(func(string, xml.StartElement) error {
		return s.children(func(list string, _ xml.StartElement) error {
			if list != "x:numFmts" && list != "x:cellXfs" {
				return nil
			}
			return s.children(func(tag string, e xml.StartElement) error {
				id := intAttr(e, "numFmtId", 0, 0, 1<<20)
				switch {
				case tag == "x:numFmt" && len(codes) < maxStyles:
					codes[id] = attr(e, "formatCode")
				case tag == "x:xf" && list == "x:cellXfs" && len(w.formats) < 1<<17:
					if parsed[id] == nil {
						code, ok := codes[id]
						if !ok {
							code = builtinFormats[id]
						}
						parsed[id] = parseFormat(code)
					}
					w.formats = append(w.formats, parsed[id])
				}
				return nil
			}, nil)
		}, nil)
	}, nil)
}

// numFormat is a number format: sections for positive, negative and zero numbers.
type numFormat struct{ sections []numSection }

// numSection is a section of a number format. Without a date and without digit placeholders it
// shows only literals.
type numSection struct {
	pieces      []numPiece
	condition   string  // "<", "<=", …; "" selects by sign
	limit       float64 // compared value
	general     bool
	date        bool
	hour12      bool // 12-hour clock
	percent     int
	group       bool
	thousands   int // trailing commas: division by 1000 each
	tail        int // digits after a literal
	minWhole    int // minimum digits before the point
	minFraction int // minimum digits after the point
	maxFraction int // maximum digits after the point
	expDigits   int // exponent digits; 0 for no exponent
	isFraction  bool
}

// numPiece is a literal or a placeholder: 'n' for the number, 'k' for its digits after a literal,
// or a date letter.
type numPiece struct {
	place byte
	text  string // literal, or the run of letters
}

// maxFormat bounds a format code in bytes. Excel allows 255 characters.
const maxFormat = 1024

func parseFormat(code string) *numFormat {
	f := &numFormat{}
	code = code[:min(len(code), maxFormat)]
	if code == "" || strings.EqualFold(code, "general") || code == "@" {
		return f
	}
	p := formatParser{rest: code}
	for len(f.sections) < 4 {
		f.sections = append(f.sections, p.section())
		if p.rest == "" {
			break
		}
	}
	return f
}

// format returns a number as it is displayed.
func (f *numFormat) format(v float64, from1904 bool) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return generalNumber(v)
	}
	if len(f.sections) == 0 {
		return generalNumber(v)
	}
	i := f.section(v)
	s := f.sections[i]
	if i == 1 && s.condition == "" && f.sections[0].condition == "" {
		v = -v // the section writes the sign
	}
	switch {
	case s.general || s.isFraction:
		return generalNumber(v)
	case s.date:
		if text, ok := s.formatDate(v, from1904); ok {
			return text
		}
		return generalNumber(v)
	}
	return s.formatNumber(v)
}

// section returns the index of the section for a number: by condition if there are conditions,
// otherwise by sign.
func (f *numFormat) section(v float64) int {
	n := min(len(f.sections), 3)
	if f.sections[0].condition != "" {
		for i := range n - 1 {
			if f.sections[i].matches(v) {
				return i
			}
		}
		return n - 1
	}
	switch {
	case n > 1 && v < 0:
		return 1
	case n > 2 && v == 0:
		return 2
	}
	return 0
}

// generalNumber formats a number like the format General.
func generalNumber(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	if a := math.Abs(v); a >= 1e15 || a < 1e-4 {
		return strconv.FormatFloat(v, 'G', 6, 64)
	}
	digits := min(max(10-1-int(math.Floor(math.Log10(math.Abs(v)))), 0), 14)
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// formatNumber formats a number with the section's placeholders.
func (s *numSection) formatNumber(v float64) string {
	for range s.percent {
		v *= 100
	}
	for range s.thousands {
		v /= 1000
	}
	digits := s.digits(math.Abs(v))
	var b strings.Builder
	if v < 0 && s.hasDigits() && strings.Trim(digits, "0.,E+-%") != "" {
		b.WriteByte('-')
	}
	head := len(digits) - min(s.tail, len(digits))
	for _, p := range s.pieces {
		switch p.place {
		case 'n':
			b.WriteString(digits[:head])
			digits = digits[head:]
		case 'k':
			n := min(len(p.text), len(digits))
			b.WriteString(digits[:n])
			digits = digits[n:]
		default:
			b.WriteString(p.text)
		}
	}
	return strings.TrimSpace(b.String())
}

// digits formats a non-negative number.
func (s *numSection) digits(v float64) string {
	if s.expDigits > 0 {
		text := strconv.FormatFloat(v, 'E', s.maxFraction, 64)
		mantissa, exponent, _ := strings.Cut(text, "E")
		return mantissa + "E" + exponent[:1] + strings.Repeat("0", max(0, s.expDigits-len(exponent)+1)) + exponent[1:]
	}
	if v >= 1e21 {
		return strconv.FormatFloat(v, 'G', 6, 64)
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(roundHalf(v, s.maxFraction), 'f', s.maxFraction, 64), ".")
	for len(part) > s.minFraction && part[len(part)-1] == '0' {
		part = part[:len(part)-1]
	}
	if whole == "0" && s.minWhole == 0 && part != "" {
		whole = ""
	}
	whole = strings.Repeat("0", max(0, s.minWhole-len(whole))) + whole
	if s.group {
		whole = grouped(whole)
	}
	if part != "" {
		return whole + "." + part
	}
	return whole
}

// roundHalf rounds half away from zero on the decimal digits: 0.285 becomes 0.29, although its
// binary value is lower.
func roundHalf(v float64, digits int) float64 {
	p := math.Pow10(digits)
	if r := v * p; r < 1e14 {
		return math.Floor(r+0.5+1e-9*max(1, r*1e-6)) / p
	}
	return v
}

func grouped(s string) string {
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
