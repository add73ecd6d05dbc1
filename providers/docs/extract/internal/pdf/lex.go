package pdf

import (
	"bytes"
	"strconv"
)

// The object types of a file, besides nil, bool, int and float64.
type (
	name   string
	text   string // a byte string
	array  []any
	dict   map[name]any
	ref    struct{ num, gen int }
	word   string // a keyword: an operator, "obj", "R"
	stream struct {
		dict dict
		raw  []byte // decrypted, but still encoded by the filters
	}
)

// maxNesting bounds the nesting of arrays and dictionaries.
const maxNesting = 64

// End markers returned by the lexer.
const (
	endOfData  = word("")
	endOfArray = word("]")
	endOfDict  = word(">>")
)

// lexer splits bytes into objects. It never fails: malformed input is skipped.
type lexer struct {
	b   []byte
	pos int
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelim(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func isRegular(c byte) bool { return !isSpace(c) && !isDelim(c) }

// peek returns the byte n positions ahead, or 0 beyond the end.
func (l *lexer) peek(n int) byte {
	if l.pos+n < len(l.b) {
		return l.b[l.pos+n]
	}
	return 0
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.b) {
		switch c := l.b[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.b) && l.b[l.pos] != '\n' && l.b[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// object reads the next object or keyword. A reference is returned as three objects.
func (l *lexer) object() any { return l.nested(0) }

func (l *lexer) nested(depth int) any {
	l.skipSpace()
	if l.pos >= len(l.b) {
		return endOfData
	}
	switch c := l.b[l.pos]; {
	case c == '/':
		return l.name()
	case c == '(':
		return l.literal()
	case c == '<' && l.peek(1) == '<' && depth < maxNesting:
		l.pos += 2
		return l.dict(depth + 1)
	case c == '<' && l.peek(1) != '<':
		return l.hex()
	case c == '[' && depth < maxNesting:
		l.pos++
		return l.array(depth + 1)
	case c == '>' && l.peek(1) == '>':
		l.pos += 2
		return endOfDict
	case isDelim(c):
		l.pos++
		return word(c)
	}
	return l.regular()
}

// regular reads a number, a constant or a keyword.
func (l *lexer) regular() any {
	start := l.pos
	for l.pos < len(l.b) && isRegular(l.b[l.pos]) {
		l.pos++
	}
	s := l.b[start:l.pos]
	if c := s[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		return number(s)
	}
	switch string(s) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return word(s)
}

// number parses malformed numbers as other readers do: "--5" is -5, "1.2.3" is 1.2.
func number(s []byte) any {
	if n, err := strconv.Atoi(string(s)); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(string(s), 64); err == nil && x > -1e12 && x < 1e12 {
		return x
	}
	sign, value, scale := 1.0, 0.0, 0.0
	for _, c := range s {
		switch {
		case c == '-' && value == 0:
			sign = -1
		case c == '.' && scale == 0:
			scale = 1
		case c >= '0' && c <= '9' && value < 1e12:
			value, scale = value*10+float64(c-'0'), scale*10
		case c != '+':
			return sign * value / max(scale, 1)
		}
	}
	return sign * value / max(scale, 1)
}

func (l *lexer) name() name {
	l.pos++
	start := l.pos
	for l.pos < len(l.b) && isRegular(l.b[l.pos]) {
		l.pos++
	}
	s := l.b[start:l.pos]
	if bytes.IndexByte(s, '#') < 0 {
		return name(s)
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '#' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return name(out)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() text {
	end := bytes.IndexByte(l.b[l.pos:], '>')
	if end < 0 {
		end = len(l.b) - l.pos
	}
	digits := l.b[l.pos+1 : l.pos+end]
	l.pos = min(l.pos+end+1, len(l.b))
	return text(hexBytes(digits))
}

// hexBytes decodes pairs of hex digits. A single last digit is the high half of a byte.
func hexBytes(digits []byte) []byte {
	out := make([]byte, 0, len(digits)/2+1)
	high := -1
	for _, c := range digits {
		switch d := unhex(c); {
		case d < 0:
		case high < 0:
			high = d
		default:
			out, high = append(out, byte(high<<4|d)), -1
		}
	}
	if high >= 0 {
		out = append(out, byte(high<<4))
	}
	return out
}

// literal reads a string in parentheses.
func (l *lexer) literal() text {
	l.pos++
	var out []byte
	for depth := 1; l.pos < len(l.b); l.pos++ {
		switch c := l.b[l.pos]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos++
				return text(out)
			}
		case '\\':
			out = l.escape(out)
			continue
		}
		out = append(out, l.b[l.pos])
	}
	return text(out)
}

// escape reads an escape sequence and leaves the position on its last byte.
func (l *lexer) escape(out []byte) []byte {
	l.pos++
	switch c := l.peek(0); c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b', 'f':
		return append(out, ' ')
	case '\r':
		if l.peek(1) == '\n' {
			l.pos++
		}
		return out
	case '\n':
		return out
	default:
		if c < '0' || c > '7' {
			return append(out, c)
		}
		value := int(c - '0')
		for range 2 {
			d := l.peek(1)
			if d < '0' || d > '7' {
				break
			}
			value, l.pos = value<<3|int(d-'0'), l.pos+1
		}
		return append(out, byte(value))
	}
}

func (l *lexer) array(depth int) array {
	var out array
	for {
		x := l.nested(depth)
		switch {
		case x == endOfArray, x == endOfDict, l.endsUnclosed(x):
			return out
		case x == word("R"):
			out = foldRef(out)
		default:
			out = append(out, x)
		}
	}
}

// endsUnclosed reports whether x ends an unclosed array or dictionary, and moves back before x.
func (l *lexer) endsUnclosed(x any) bool {
	switch w, _ := x.(word); w {
	case "obj", "endobj", "stream", "endstream", "trailer", "startxref":
		l.pos -= len(w)
		return true
	default:
		return x == endOfData
	}
}

// foldRef replaces the two numbers at the end by a reference.
func foldRef(a array) array {
	if n := len(a); n >= 2 {
		num, ok1 := a[n-2].(int)
		gen, ok2 := a[n-1].(int)
		if ok1 && ok2 {
			return append(a[:n-2], ref{num, gen})
		}
	}
	return a
}

func (l *lexer) dict(depth int) dict {
	out := make(dict)
	var pending array // the key and the objects read after it
	flush := func() {
		if len(pending) >= 2 {
			out[pending[0].(name)] = pending[1]
		}
		pending = pending[:0]
	}
	for {
		x := l.nested(depth)
		key, isName := x.(name)
		switch {
		case x == endOfDict, l.endsUnclosed(x):
			flush()
			return out
		case x == word("R"):
			pending = foldRef(pending)
		case isName && (len(pending) == 0 || len(pending) >= 2):
			flush()
			pending = append(pending, key)
		case len(pending) == 1 || len(pending) == 2:
			pending = append(pending, x)
		}
	}
}
