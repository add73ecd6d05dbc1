package redact

import (
	"strconv"
	"strings"
)

// encoding is a way in which one text was embedded into another.
type encoding uint8

const (
	jsonString   encoding = iota // as a JSON string
	htmlEntities                 // with entities for <, >, & and quotes
)

// reader decodes a text through its encodings. It ends at the end of the text, or of the string or
// element that holds it.
type reader struct {
	s         string
	at        int
	encodings []encoding // outermost first
	// prefix begins every line but the first of a quoted or indented text.
	prefix string
	fresh  bool // the text begins a line or a string
	end    bool // the reader hit the end of the text
}

// peek returns the next byte and the position after it.
func (r *reader) peek() (c byte, next int, ok bool) { return r.decodeAt(len(r.encodings), r.at) }

// next returns the next byte.
func (r *reader) next() (byte, bool) {
	c, next, ok := r.peek()
	if !ok {
		r.end = true
		return 0, false
	}
	r.at = next
	return c, true
}

// decodeAt returns the byte at a position, decoded through the first depth encodings.
func (r *reader) decodeAt(depth, at int) (c byte, next int, ok bool) {
	if depth == 0 {
		return r.rawByte(at)
	}
	c, next, ok = r.decodeAt(depth-1, at)
	if !ok {
		return 0, at, false
	}
	if r.encodings[depth-1] == jsonString {
		return r.escape(depth-1, c, at, next)
	}
	return r.entity(depth-1, c, at, next)
}

// rawByte reads an undecoded byte. A line end also consumes the prefix of the next line.
func (r *reader) rawByte(at int) (c byte, next int, ok bool) {
	switch {
	case at >= len(r.s):
		return 0, at, false
	case r.s[at] != '\n' || r.prefix == "":
		return r.s[at], at + 1, true
	case strings.HasPrefix(r.s[at+1:], r.prefix):
		return '\n', at + 1 + len(r.prefix), true
	}
	// An empty line may have lost trailing spaces.
	short := strings.TrimRight(r.prefix, " \t")
	if rest := r.s[at+1:]; strings.HasPrefix(rest, short) &&
		(len(rest) == len(short) || rest[len(short)] == '\n' || rest[len(short)] == '\r') {
		return '\n', at + 1 + len(short), true
	}
	return 0, at, false
}

// escape decodes a JSON escape. A quote or a line end ends the string.
func (r *reader) escape(depth int, c byte, at, next int) (byte, int, bool) {
	switch c {
	case '"', '\n':
		return 0, at, false
	case '\\':
	default:
		return c, next, true
	}
	c, next, ok := r.decodeAt(depth, next)
	if !ok {
		return 0, at, false
	}
	switch c {
	case 'n':
		return '\n', next, true
	case 't':
		return '\t', next, true
	case 'r':
		return '\r', next, true
	case '"', '\\', '/':
		return c, next, true
	case 'u':
		return r.hex(depth, at, next)
	}
	return 0, at, false
}

// hex decodes the four digits of \u003c. It does not distinguish characters outside ASCII.
func (r *reader) hex(depth, at, next int) (byte, int, bool) {
	var code [4]byte
	for i := range code {
		c, after, ok := r.decodeAt(depth, next)
		if !ok {
			return 0, at, false
		}
		code[i], next = c, after
	}
	n, err := strconv.ParseUint(string(code[:]), 16, 16)
	switch {
	case err != nil:
		return 0, at, false
	case n >= 0x80:
		return 0xff, next, true
	}
	return byte(n), next, true
}

var entities = map[string]byte{
	"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\'', "#34": '"', "#39": '\'', "#60": '<', "#62": '>', "#38": '&',
	"#x27": '\'', "#x22": '"', "#x3c": '<', "#x3e": '>', "#x26": '&', "#10": '\n', "#xa": '\n',
}

// entity decodes an HTML entity. A tag ends the text.
func (r *reader) entity(depth int, c byte, at, next int) (byte, int, bool) {
	switch c {
	case '<':
		return 0, at, false
	case '&':
	default:
		return c, next, true
	}
	var name [4]byte
	for n, after := 0, next; n <= len(name); n++ {
		c, past, ok := r.decodeAt(depth, after)
		if !ok {
			break
		}
		if c == ';' {
			if e, ok := entities[strings.ToLower(string(name[:n]))]; ok {
				return e, past, true
			}
			break
		}
		if n < len(name) {
			name[n] = c
		}
		after = past
	}
	return '&', next, true
}
