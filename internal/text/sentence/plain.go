// Package sentence removes markup from text and splits it into sentences. All functions take time
// linear in the text and accept any input.
package sentence

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpan is the limit in bytes for finding the end of a link, tag or shortcode. It keeps the work
// linear.
const maxSpan = 1000

// shortcodeText matches the visible text of a Hugo shortcode like {{< tip text="a Pod" >}}.
var shortcodeText = regexp.MustCompile(`\btext="([^"]*)"`)

// Plain returns Markdown text without inline markup. Links and emphasis become their text; images,
// HTML, comments and shortcodes are removed; white space is folded.
func Plain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	text := 0 // end of the part of s that is written
	for i := 0; i < len(s); {
		n, out := 0, ""
		if mayBeMarkup(s[i]) {
			n, out = markup(s, i)
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[text:i])
		b.WriteString(out)
		i += n
		text = i
	}
	b.WriteString(s[text:])
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}

func mayBeMarkup(c byte) bool {
	switch c {
	case '{', '<', '!', '[', '`', '*', '_', '~', '\\', ':':
		return true
	}
	return false
}

// markup returns the length of the markup at s[i:] and its replacement. The length is 0 if s[i] is
// text.
func markup(s string, i int) (int, string) {
	rest := s[i:]
	switch s[i] {
	case '{':
		return shortcode(rest)
	case '<':
		return tag(rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			n, _ := link(rest[1:])
			if n > 0 {
				n++
			}
			return n, ""
		}
	case '[':
		if n := noteMark(rest); n > 0 {
			return n, ""
		}
		return link(rest)
	case ':':
		return admonition(s, i)
	case '`':
		return codeSpan(rest)
	case '*', '_', '~':
		return emphasis(s, i)
	case '\\':
		if len(rest) > 1 && rest[1] < utf8.RuneSelf && unicode.IsPunct(rune(rest[1])) {
			return 2, rest[1:2]
		}
	}
	return 0, ""
}

// noteMark returns the length of a footnote mark ([^1]) or a note kind ([!TIP]) at the beginning of s,
// or 0.
func noteMark(s string) int {
	if len(s) < 4 || s[1] != '^' && s[1] != '!' {
		return 0
	}
	end := strings.IndexByte(s[:min(len(s), maxMark)], ']')
	if end < 3 || strings.ContainsAny(s[2:end], " []\n") || strings.HasPrefix(s[end+1:], ":") {
		return 0
	}
	return end + 1
}

const maxMark = 40 // bytes

// admonition removes a line that begins with ":::", which opens or closes a box.
func admonition(s string, i int) (int, string) {
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], ":"))
	if line := strings.TrimRight(s[:i], " \t"); n < 3 || line != "" && line[len(line)-1] != '\n' {
		return n, s[i : i+n]
	}
	if end := strings.IndexByte(s[i:], '\n'); end >= 0 {
		return end, ""
	}
	return len(s) - i, ""
}

func shortcode(s string) (int, string) {
	for _, d := range [...][2]string{{"{{<", ">}}"}, {"{{%", "%}}"}} {
		if !strings.HasPrefix(s, d[0]) {
			continue
		}
		if n := throughNear(s, d[1]); n > 0 {
			if m := shortcodeText.FindStringSubmatch(s[:n]); m != nil {
				return n, m[1]
			}
			return n, " "
		}
	}
	return 0, ""
}

// tag recognizes HTML comments, tags and <https://links>.
func tag(s string) (int, string) {
	if strings.HasPrefix(s, "<!--") {
		if i := strings.Index(s, "-->"); i >= 0 {
			return i + len("-->"), " "
		}
		return len(s), " "
	}
	if len(s) < 2 || s[1] != '/' && !isASCIILetter(s[1]) {
		return 0, ""
	}
	n := throughNear(s, ">")
	if n > 0 && strings.Contains(s[:n], "://") && !strings.Contains(s[:n], " ") {
		return n, s[1 : n-1]
	}
	return n, ""
}

// link recognizes [text](target) and [text][ref] and returns the text.
func link(s string) (int, string) {
	end := throughNear(s, "]")
	if nested := strings.Index(s[:max(end, 1)][1:], "["); nested >= 0 { // [![image](a)](b)
		if more := throughNear(s[end:], "]"); more > 0 {
			end += more
		}
	}
	if end < 2 || end >= len(s) {
		return 0, ""
	}
	label := s[1 : end-1]
	switch s[end] {
	case '(':
		if n := throughNear(s[end:], ")"); n > 0 {
			return end + n, linkLabel(label)
		}
	case '[':
		if n := throughNear(s[end:], "]"); n > 0 {
			return end + n, linkLabel(label)
		}
	}
	return 0, ""
}

// linkLabel returns a link's text without markup, or "" if it is an image. It is at most maxSpan
// long, which bounds the recursion.
func linkLabel(label string) string {
	if strings.Contains(label, "![") {
		return ""
	}
	return Plain(label)
}

func codeSpan(s string) (int, string) {
	ticks := len(s) - len(strings.TrimLeft(s, "`"))
	fence := s[:ticks]
	if i := strings.Index(s[ticks:min(len(s), ticks+maxSpan)], fence); i >= 0 && ticks < 10 {
		return 2*ticks + i, s[ticks : ticks+i]
	}
	return ticks, fence
}

// emphasis removes the run of markers at s[i:] if it opens or closes emphasis: at most one side is
// a space, and underscores are not inside a word.
func emphasis(s string, i int) (int, string) {
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], s[i:i+1]))
	run := s[i : i+n]
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	left, right := i == 0 || unicode.IsSpace(before), i+n == len(s) || unicode.IsSpace(after)
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch {
	case left && right, n > 3, s[i] == '~' && n != 2, s[i] == '_' && !left && !right && word(before) && word(after):
		return n, run
	}
	return n, ""
}

// throughNear returns the length of s up to and including end, or 0 if end is not within maxSpan.
func throughNear(s, end string) int {
	if i := strings.Index(s[:min(len(s), maxSpan)], end); i >= 0 {
		return i + len(end)
	}
	return 0
}

func isASCIILetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Clip returns at most n code points of s, cut at a space if one is near.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	at := 0
	for i := range s {
		if n--; n == 0 {
			at = i
			break
		}
	}
	cut := s[:at]
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)*3/4 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}
