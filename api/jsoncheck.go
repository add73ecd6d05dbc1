package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ragctx/ragctx"
)

const (
	maxDepth  = 64 // nesting of objects and arrays in a body
	maxFaults = 20 // faults listed in one answer
)

// syntaxError is the position and reason of invalid JSON.
type syntaxError struct {
	Fault
	offset int
}

func (e *syntaxError) Error() string { return e.Location + ": " + e.Message }

// checker validates a JSON text strictly against a schema, in one pass. encoding/json is too
// lenient for a server (it replaces invalid UTF-8 and lone surrogates by U+FFFD, takes the last of
// several equal keys and ignores letter case), and its errors name no path.
//
// Enumerations ignore letter case. Null equals absence for an optional field.
type checker struct {
	src     []byte
	pos     int
	path    []byte
	schemas huma.Registry
	faults  []Fault

	// optional says that the next value may be absent.
	optional bool
}

// checkJSON returns the faults of the values in src, or an error if src is not JSON. A nil schema
// allows every value. encoding/json decodes a text without faults losslessly.
func checkJSON(src []byte, schema *huma.Schema, schemas huma.Registry) ([]Fault, *syntaxError) {
	c := checker{src: src, path: []byte("body"), schemas: schemas}
	if bytes.HasPrefix(src, []byte("\ufeff")) {
		return nil, c.syntax("starts with a byte order mark; remove it")
	}
	c.space()
	if c.pos == len(src) {
		return nil, c.syntax("is empty; send a JSON object")
	}
	if err := c.value(schema, 0); err != nil {
		return nil, err
	}
	if c.space(); c.pos < len(src) {
		c.path = c.path[:len("body")]
		return nil, c.syntax("continues after the end of its JSON value; send one value")
	}
	return c.faults, nil
}

// value checks the value at c.pos.
func (c *checker) value(s *huma.Schema, depth int) *syntaxError {
	c.space()
	if c.pos == len(c.src) {
		return c.unexpected("a value")
	}
	kind := kindOf(c.src[c.pos])
	s = c.resolve(s, kind)
	switch kind {
	case "":
		return c.unexpected("a value")
	case huma.TypeObject:
		return c.object(s, depth+1)
	case huma.TypeArray:
		return c.array(s, depth+1)
	case huma.TypeString:
		raw, err := c.text()
		if err == nil {
			c.checkString(s, raw)
		}
		return err
	case huma.TypeNumber:
		return c.number(s)
	default:
		return c.word(s, kind)
	}
}

// kindOf returns the schema type of a value from its first byte, "null", or "".
func kindOf(b byte) string {
	switch {
	case b == '{':
		return huma.TypeObject
	case b == '[':
		return huma.TypeArray
	case b == '"':
		return huma.TypeString
	case b == 't', b == 'f':
		return huma.TypeBoolean
	case b == 'n':
		return "null"
	case b == '-', '0' <= b && b <= '9':
		return huma.TypeNumber
	}
	return ""
}

func (c *checker) object(s *huma.Schema, depth int) *syntaxError {
	if depth > maxDepth {
		return c.tooDeep()
	}
	s = c.typed(s, huma.TypeObject)
	seen := make(map[string]bool)
	err := c.list('}', func() *syntaxError {
		raw, err := c.key()
		if err != nil {
			return err
		}
		key := decodeString(raw)
		end := len(c.path)
		c.path = append(append(c.path, '.'), ragctx.Clip(key)...)
		defer func() { c.path = c.path[:end] }()
		if seen[key] {
			c.fault("occurs twice; send it once")
		}
		seen[key] = true
		return c.value(c.property(s, key), depth)
	})
	if err == nil && s != nil {
		c.checkRequired(s, seen)
	}
	return err
}

// key reads a key and its colon.
func (c *checker) key() ([]byte, *syntaxError) {
	if c.pos == len(c.src) || c.src[c.pos] != '"' {
		return nil, c.unexpected("a key in double quotes")
	}
	raw, err := c.text()
	if err != nil {
		return nil, err
	}
	if c.space(); c.pos == len(c.src) || c.src[c.pos] != ':' {
		return nil, c.unexpected("a colon after the key")
	}
	c.pos++
	return raw, nil
}

func (c *checker) array(s *huma.Schema, depth int) *syntaxError {
	if depth > maxDepth {
		return c.tooDeep()
	}
	s = c.typed(s, huma.TypeArray)
	var items *huma.Schema
	if s != nil {
		items = s.Items
	}
	n := 0
	err := c.list(']', func() *syntaxError {
		end := len(c.path)
		c.path = strconv.AppendInt(append(c.path, '['), int64(n), 10)
		c.path = append(c.path, ']')
		defer func() { c.path = c.path[:end] }()
		n++
		c.optional = false
		return c.value(items, depth)
	})
	if err == nil && s != nil && s.MaxItems != nil && n > *s.MaxItems {
		c.fault("lists %d values; the limit is %d", n, *s.MaxItems)
	}
	return err
}

// list reads the elements between the bracket at c.pos and the closing one.
func (c *checker) list(closing byte, element func() *syntaxError) *syntaxError {
	c.pos++
	if c.space(); c.pos < len(c.src) && c.src[c.pos] == closing {
		c.pos++
		return nil
	}
	for {
		c.space()
		if err := element(); err != nil {
			return err
		}
		c.space()
		if c.pos < len(c.src) && c.src[c.pos] == closing {
			c.pos++
			return nil
		}
		if c.pos == len(c.src) || c.src[c.pos] != ',' {
			return c.unexpected(fmt.Sprintf("a comma or %q", closing))
		}
		c.pos++
	}
}

// text reads a string and returns the bytes between its quotes.
func (c *checker) text() ([]byte, *syntaxError) {
	c.pos++
	start := c.pos
	for c.pos < len(c.src) {
		switch b := c.src[c.pos]; {
		case b == '"':
			c.pos++
			return c.src[start : c.pos-1], nil
		case b == '\\':
			if err := c.escape(); err != nil {
				return nil, err
			}
		case b < ' ':
			return nil, c.syntax("has the control character U+%04X in a string; write it as \\u%04x or remove it", b, b)
		case b < utf8.RuneSelf:
			c.pos++
		default:
			r, n := utf8.DecodeRune(c.src[c.pos:])
			if r == utf8.RuneError && n == 1 {
				return nil, c.syntax("is not valid UTF-8 (byte 0x%02x); convert the text before sending it", b)
			}
			c.pos += n
		}
	}
	return nil, c.unexpected("the closing quote of a string")
}

// escape reads an escape sequence.
func (c *checker) escape() *syntaxError {
	if c.pos+1 == len(c.src) {
		c.pos++
		return c.unexpected("the rest of an escape")
	}
	switch c.src[c.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.pos += 2
		return nil
	case 'u':
		return c.unicode()
	}
	return c.syntax("has the unknown escape \\%s; JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u",
		clipBytes(c.src[c.pos+1:], 1))
}

// unicode reads \uXXXX, and the second half of a surrogate pair.
func (c *checker) unicode() *syntaxError {
	r, ok := hex4(c.src[c.pos:])
	if !ok {
		return c.syntax("has a \\u escape without four hexadecimal digits")
	}
	c.pos += 6
	switch {
	case r == 0:
		c.fault("has a NUL character (\\u0000); remove it")
	case 0xD800 <= r && r < 0xDC00:
		if low, ok := hex4(c.src[c.pos:]); ok && 0xDC00 <= low && low < 0xE000 {
			c.pos += 6
			return nil
		}
		fallthrough
	case 0xDC00 <= r && r < 0xE000:
		c.fault("has half a surrogate pair (\\u%04x); send the whole character", r)
	}
	return nil
}

// hex4 reads \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}

// number reads a number by the grammar of RFC 8259.
func (c *checker) number(s *huma.Schema) *syntaxError {
	start := c.pos
	c.skip('-')
	if !c.skip('0') && !c.digits() {
		return c.unexpected("a digit")
	}
	if c.skip('.') && !c.digits() {
		return c.unexpected("a digit after the decimal point")
	}
	if c.skip('e') || c.skip('E') {
		if !c.skip('+') {
			c.skip('-')
		}
		if !c.digits() {
			return c.unexpected("a digit of the exponent")
		}
	}
	c.checkNumber(s, string(c.src[start:c.pos]))
	return nil
}

func (c *checker) skip(b byte) bool {
	if c.pos < len(c.src) && c.src[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *checker) digits() bool {
	start := c.pos
	for c.pos < len(c.src) && '0' <= c.src[c.pos] && c.src[c.pos] <= '9' {
		c.pos++
	}
	return c.pos > start
}

// word reads true, false or null.
func (c *checker) word(s *huma.Schema, kind string) *syntaxError {
	for _, w := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(c.src[c.pos:], []byte(w)) {
			c.pos += len(w)
			c.typed(s, kind)
			return nil
		}
	}
	return c.unexpected("true, false or null")
}

func (c *checker) space() {
	for c.pos < len(c.src) {
		switch c.src[c.pos] {
		case ' ', '\t', '\r', '\n':
			c.pos++
		default:
			return
		}
	}
}

func (c *checker) unexpected(want string) *syntaxError {
	if c.pos >= len(c.src) {
		return c.syntax("ends too early: expected %s", want)
	}
	return c.syntax("has %q where %s belongs", clipBytes(c.src[c.pos:], 1), want)
}

// syntax returns an error at the current path and position.
func (c *checker) syntax(format string, args ...any) *syntaxError {
	before := c.src[:min(c.pos, len(c.src))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + len(before) - (1 + bytes.LastIndexByte(before, '\n'))
	where := fmt.Sprintf(" (line %d, column %d)", line, column)
	return &syntaxError{Fault{Location: string(c.path), Message: fmt.Sprintf(format, args...) + where}, c.pos}
}

func (c *checker) tooDeep() *syntaxError {
	c.path = clipBytes(c.path, 60)
	return c.syntax("is nested deeper than %d levels; flatten it", maxDepth)
}

func (c *checker) fault(format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, Fault{Location: string(c.path), Message: fmt.Sprintf(format, args...)})
	}
}

// decodeString decodes a string that text has accepted.
func decodeString(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var s string
	quoted := append(append([]byte{'"'}, raw...), '"')
	_ = json.Unmarshal(quoted, &s) // cannot fail: the syntax is checked
	return s
}

// clipBytes returns the first n characters of b.
func clipBytes(b []byte, n int) []byte {
	end := 0
	for range n {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return b[:end]
}
