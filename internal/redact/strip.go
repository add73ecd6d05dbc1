package redact

import (
	"strconv"
	"strings"
)

// encodings lists the ways in which this program's output comes back: as written, in a string of a
// log or message, in a page, and in two of these at once.
var encodings = [][]encoding{
	nil,
	{jsonString},
	{htmlEntities},
	{jsonString, jsonString},
	{htmlEntities, htmlEntities},
	{jsonString, htmlEntities},
	{htmlEntities, jsonString},
}

// StripBlocks removes the XML, documents or JSON of package xmlfmt from text and reports whether it
// found any. The surrounding text stays; the blank line between two items of one answer is removed
// with them.
//
// A block without an end is removed up to the end of its container, if everything up to there could
// be the content of an item, which contains no raw markup. Anything else stays: elements of other
// programs, and unescaped XML of this shape.
func StripBlocks(text string) (string, bool) {
	if !strings.Contains(text, "context") && !strings.Contains(text, "document") && !strings.Contains(text, "content") {
		return text, false
	}
	removed := false
	for range maxRounds { // removing a block can form another one
		out, ok := stripOnce(text)
		if !ok {
			break
		}
		text, removed = out, true
	}
	return text, removed
}

func stripOnce(s string) (string, bool) {
	var b strings.Builder
	copied := 0
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], `<&[\`)
		if n < 0 {
			break
		}
		i += n
		start, end := block(s, i, copied)
		if end <= i {
			i++
			continue
		}
		b.WriteString(s[copied:start])
		copied, i = end, end
	}
	if copied == 0 {
		return s, false
	}
	b.WriteString(s[copied:])
	return b.String(), true
}

// block returns the bounds of the block at i together with its neighbors of the same answer; end is
// 0 if none begins there. It takes nothing before copied.
func block(s string, i, copied int) (start, end int) {
	if !mayBegin(s, i) {
		return 0, 0
	}
	line, prefix, fresh := margin(s, i, copied)
	for _, layers := range encodings {
		for _, prefix := range []string{prefix, ""} {
			r := reader{s: s, at: i, encodings: layers, prefix: prefix, fresh: fresh}
			if !r.answer() {
				continue
			}
			quoted := strings.TrimLeft(prefix, " \t") != "" && strings.Contains(s[i:r.at], "\n"+prefix)
			switch {
			case !r.end:
			case end > 0, !quoted && prefix != "" && r.at < len(s):
				continue // the block may be whole without the margin
			case len(s)-r.at < len(`\u003c`) && strings.HasPrefix(s[r.at:], `\`):
				r.at = len(s) // the first half of an escape
			}
			if start, end = i, r.at; quoted {
				start = line // quotation marks go with the quoted block
			}
			if !r.end {
				return start, end
			}
		}
	}
	return start, end
}

// maxMargin is the longest line prefix of a quoted or indented text, in bytes.
const maxMargin = 32

// margin returns the start and the prefix of the line of i, if the prefix only indents and quotes.
// fresh reports whether i begins a line or a string.
func margin(s string, i, copied int) (line int, prefix string, fresh bool) {
	line = i
	for line > max(copied, i-maxMargin) && strings.IndexByte(" \t>|*#/;-", s[line-1]) >= 0 {
		line--
	}
	if line == 0 || s[line-1] == '\n' {
		return line, s[line:i], true
	}
	preceding := strings.TrimRight(s[:i], " \t") // no other block begins within spaces, so this stays linear
	return i, "", preceding == "" || strings.HasSuffix(preceding, "\n") || strings.HasSuffix(preceding, `"`) ||
		strings.HasSuffix(preceding, `\n`) || strings.HasSuffix(preceding, ">") || strings.HasSuffix(preceding, ":")
}

// mayBegin is a quick test that rejects most characters.
func mayBegin(s string, i int) bool {
	rest := s[i:]
	switch s[i] {
	case '<':
		return len(rest) > 1 && (rest[1] == 'c' || rest[1] == 'd')
	case '&':
		return strings.HasPrefix(rest, "&lt;") || strings.HasPrefix(rest, "&amp;lt;") ||
			strings.HasPrefix(rest, "&#60;") || strings.HasPrefix(rest, "&#x3c;")
	case '[':
		return len(rest) > 1 && (rest[1] == '{' || rest[1] <= ' ' || rest[1] == '\\' || rest[1] == '&')
	}
	slashes := 1
	for slashes < min(4, len(rest)) && rest[slashes] == '\\' {
		slashes++
	}
	return (strings.HasPrefix(rest[slashes:], "u003") || strings.HasPrefix(rest[slashes:], "u002"))
}

// answer reads all items of an answer in one of the forms. Afterwards end reports whether it was
// cut off.
func (r *reader) answer() bool {
	c, _, ok := r.peek()
	switch {
	case !ok:
		return false
	case c == '[':
		return r.array()
	case c != '<':
		return false
	}
	start := r.at
	if r.documents() {
		return true
	}
	r.at, r.end = start, false
	if !r.element() {
		return false
	}
	for !r.end {
		at := r.at
		if !r.nextItem() {
			r.at, r.end = at, false
			break
		}
	}
	return true
}

// nextItem reads the blank line between two elements and the second element. The second may be cut
// off anywhere once it is recognizable.
func (r *reader) nextItem() bool {
	if !r.literal("\n\n") && !r.literal("\r\n\r\n") {
		return false
	}
	start := r.at
	r.end = false
	if r.element() {
		return true
	}
	if !r.end {
		return false
	}
	r.at = start
	if !r.literal("<context ") {
		return false
	}
	return !r.until("<")
}

// literal reads want. At the end of the text it sets end and returns false.
func (r *reader) literal(want string) bool {
	start := r.at
	for i := range len(want) {
		if c, ok := r.next(); !ok || c != want[i] {
			if ok {
				r.at = start
			}
			return false
		}
	}
	return true
}

// until reads up to the first byte of stop. At the end of the text it sets end and returns false.
func (r *reader) until(stop string) bool {
	for {
		c, next, ok := r.peek()
		if !ok {
			r.end = true
			return false
		}
		if strings.IndexByte(stop, c) >= 0 {
			return true
		}
		r.at = next
	}
}

// label reads the type of an item.
func (r *reader) label() bool {
	return r.literal("Resource") || r.literal("Memory") || r.literal("Skill")
}

// element reads <context source="…" type="…" id="…">, content and end tag. If the opening tag
// has its own lines, the content may end anywhere, including at another opening tag.
func (r *reader) element() bool {
	if !r.opening() {
		return false
	}
	c, _, ok := r.peek()
	if !ok || c > ' ' {
		r.end = !ok
		return false
	}
	own := r.fresh && c != ' '
	if !r.until("<>") {
		return own
	}
	at := r.at
	if r.literal("</context>") {
		return true
	}
	if r.end || !own {
		return r.end && own
	}
	next := *r
	r.at = at
	return next.opening()
}

func (r *reader) opening() bool {
	if !r.literal("<context") {
		return false
	}
	if r.literal(` source="`) && (!r.until("\"<>\n") || !r.literal(`"`)) {
		return false
	}
	return r.literal(` type="`) && r.label() && r.literal(`"`) && r.citation() && r.literal(">")
}

// citation reads the optional citation attributes of an item.
func (r *reader) citation() bool {
	for _, name := range [...]string{"id", "title", "page", "lines"} {
		if r.literal(` `+name+`="`) && (!r.until("\"<>\n") || !r.literal(`"`)) {
			return false
		}
		if r.end {
			return false
		}
	}
	return true
}

// documents reads the indexed form, which other programs write, too. Ours has every tag on its own
// line, no indentation and no raw markup inside.
func (r *reader) documents() bool {
	if !r.literal("<documents>") || !r.newline() {
		return false
	}
	for n := 1; ; n++ {
		if n > 1 && r.literal("</documents>") {
			return true
		}
		if r.document(n) {
			continue
		}
		return r.end && n > 1
	}
}

// document reads one document. The first counts as soon as its opening tag is complete.
func (r *reader) document(n int) bool {
	if !r.literal(`<document index="`+strconv.Itoa(n)+`"`) || !r.citation() || !r.literal(">") || !r.newline() {
		return false
	}
	whole := r.optional("<source>", "</source>") && r.literal("<document_content>") && r.newline() &&
		r.until("<>") && r.literal("</document_content>") && r.newline() && r.literal("</document>") && r.newline()
	return whole || r.end
}

// optional reads an element on its own line, if there is one.
func (r *reader) optional(opening, closing string) bool {
	if !r.literal(opening) {
		return !r.end
	}
	return r.until("<>\n") && r.literal(closing) && r.newline()
}

func (r *reader) newline() bool { return r.literal("\n") || !r.end && r.literal("\r\n") }

// array reads the JSON form, with any spaces between its tokens.
func (r *reader) array() bool {
	if !r.token("[") || !r.object() {
		return false
	}
	for !r.end && r.token(",") {
		if !r.object() {
			return r.end
		}
	}
	return r.end || r.literal("]")
}

// object reads one item. It counts as soon as its content begins; from there on the text may end
// anywhere.
func (r *reader) object() bool {
	if !r.token("{") {
		return false
	}
	if r.literal(`"source"`) && (!r.token(":") || !r.str() || !r.token(",")) {
		return false
	}
	if !r.literal(`"type"`) || !r.token(":") || !r.literal(`"`) || !r.label() || !r.literal(`"`) || !r.token(",") {
		return false
	}
	for _, name := range [...]string{`"id"`, `"title"`, `"page"`, `"lines"`, `"date"`, `"since"`} {
		if r.literal(name) && (!r.token(":") || !r.str() && !(name == `"page"` && r.number()) || !r.token(",")) {
			return false
		}
	}
	if !r.literal(`"content"`) || !r.token(":") {
		return false
	}
	if _, _, ok := r.peek(); !ok {
		r.end = true
		return false
	}
	if !r.str() {
		return r.end
	}
	r.spaces()
	return r.literal("}") || r.end
}

// token reads a JSON token and the spaces around it.
func (r *reader) token(sign string) bool {
	r.spaces()
	ok := r.literal(sign)
	r.spaces()
	return ok
}

func (r *reader) spaces() {
	for {
		c, next, ok := r.peek()
		if !ok || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
		r.at = next
	}
}

// number reads a JSON integer.
func (r *reader) number() bool {
	start := r.at
	for {
		c, next, ok := r.peek()
		if !ok || c != '-' && (c < '0' || c > '9') {
			return r.at > start
		}
		r.at = next
	}
}

// str reads a JSON string.
func (r *reader) str() bool {
	if !r.literal(`"`) {
		return false
	}
	for {
		switch c, ok := r.next(); {
		case !ok, c < ' ':
			return false
		case c == '"':
			return true
		case c == '\\':
			if _, ok := r.next(); !ok {
				return false
			}
		}
	}
}
