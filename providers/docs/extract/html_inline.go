package extract

import (
	"cmp"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// maxLink bounds the length of a link address. Longer addresses add little information and take
// many tokens.
const maxLink = 160

// minLinkText is the minimum number of letters in the text of a link whose address is written.
// Ticket numbers, which fill changelogs, need no address.
const minLinkText = 2

// countLetters counts the letters of a text.
func countLetters(s string) (n int) {
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// flatText renders n as one line.
func (r *renderer) flatText(n *node) string {
	saved := r.line
	r.line = nil
	r.flat++
	r.children(n)
	r.flat--
	s := string(r.line)
	r.line = saved
	return strings.Join(strings.Fields(s), " ")
}

// inline renders a text or an element inside a paragraph.
func (r *renderer) inline(n *node) {
	if n.isText() {
		r.text(n.text)
		return
	}
	switch n.tag {
	case atom.Br:
		r.newline()
	case atom.Wbr, atom.Rp:
	case atom.Img:
		r.text(altText(n))
	case atom.Code, atom.Kbd, atom.Samp, atom.Tt, atom.Var:
		r.codeSpan(n)
	case atom.Strong, atom.B:
		r.emphasis(n, "**", &r.strong)
	case atom.Em, atom.I, atom.Cite, atom.Dfn:
		r.emphasis(n, "*", &r.emph)
	case atom.A:
		r.link(n)
	case atom.Q:
		r.enclosed(n, `"`, `"`)
	case atom.Rt:
		r.enclosed(n, "(", ")")
	case atom.Sup:
		r.superscript(n)
	case atom.Math:
		r.math(n)
	default:
		r.inlineBlock(n)
	}
}

// inlineBlock renders an element without markup of its own. Block elements are separated by a
// space.
func (r *renderer) inlineBlock(n *node) {
	if !blockTags[n.tag] {
		r.children(n)
		return
	}
	if n.tag == atom.Li && len(r.line) > 0 && r.line[len(r.line)-1] != ';' {
		r.line = append(trimSpaceRight(r.line), ';')
	}
	r.space()
	if n.tag == atom.Pre {
		r.codeSpan(n)
	} else {
		r.children(n)
	}
	r.space()
}

func trimSpaceRight(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\n') {
		b = b[:len(b)-1]
	}
	return b
}

func (r *renderer) space() {
	if n := len(r.line); n > 0 && r.line[n-1] != ' ' && r.line[n-1] != '\n' {
		r.line = append(r.line, ' ')
	}
}

func (r *renderer) newline() {
	r.line = trimSpaceRight(r.line)
	if len(r.line) > 0 {
		r.line = append(r.line, '\n')
	}
}

// text appends text with white space folded.
func (r *renderer) text(s string) {
	for i, c := range s {
		switch {
		case c == '\u00ad' || c == '\u200b' || c == '\ufeff':
		case unicode.IsSpace(c):
			r.space()
		case c < ' ' || c == 0x7f: // control characters, including NUL
		case c == '<' && beginsTag(s[i+1:]), c == '`':
			r.line = append(r.line, '\\', byte(c))
		default:
			r.line = utf8.AppendRune(r.line, c)
		}
	}
}

// beginsTag reports whether s, following a "<", starts a tag in Markdown.
func beginsTag(s string) bool {
	return s != "" && (s[0] == '/' || s[0] == '!' || s[0] == '?' || 'a' <= s[0]|0x20 && s[0]|0x20 <= 'z')
}

// enclosed renders the children of n between two marks, unless they are empty.
func (r *renderer) enclosed(n *node, before, after string) {
	start := len(r.line)
	r.children(n)
	r.surround(start, before, after)
}

// surround puts marks around the text appended since start, inside its leading and trailing spaces.
func (r *renderer) surround(start int, before, after string) {
	start = min(start, len(r.line))
	body := r.line[start:]
	for len(body) > 0 && (body[0] == ' ' || body[0] == '\n') {
		body = body[1:]
	}
	lead := len(r.line) - len(body)
	s := string(trimSpaceRight(body))
	tail := string(r.line[lead+len(s):])
	if s == "" {
		return
	}
	r.line = append(append(append(append(r.line[:lead], before...), s...), after...), tail...)
}

// emphasis renders strong or emphasized text. Marks are omitted inside a word and around code.
func (r *renderer) emphasis(n *node, mark string, depth *int) {
	start := len(r.line)
	*depth++
	r.children(n)
	*depth--
	body := strings.TrimSpace(string(r.line[min(start, len(r.line)):]))
	if *depth > 0 || !hasLetter(body) || strings.ContainsAny(body, "*`\n") ||
		start > 0 && isWordEnd(r.line[:min(start, len(r.line))]) {
		return
	}
	r.surround(start, mark, mark)
}

func isWordEnd(b []byte) bool {
	c, _ := utf8.DecodeLastRune(b)
	return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '*'
}

// superscript renders exponents and footnote marks.
func (r *renderer) superscript(n *node) {
	if n.localChars > 0 && !strings.HasPrefix(textOf(n), "[") {
		r.enclosed(n, "[", "]")
		return
	}
	if n.links == 0 && n.chars <= 4 && hasLetter(textOf(n)) && len(r.line) > 0 && isWordEnd(r.line) {
		r.line = append(r.line, '^')
	}
	r.children(n)
}

func (r *renderer) codeSpan(n *node) {
	var b strings.Builder
	appendText(&b, n)
	s := strings.Join(strings.Fields(b.String()), " ")
	if s == "" {
		return
	}
	fence := "`"
	for strings.Contains(s, fence) && len(fence) < 8 {
		fence += "`"
	}
	if fence != "`" {
		s = " " + s + " "
	}
	if k := len(r.line); k > 0 && r.line[k-1] == '`' {
		r.line = append(r.line, ' ')
	}
	r.line = append(append(append(r.line, fence...), s...), fence...)
}

// link renders a link's text, and its address if it leads to another site.
func (r *renderer) link(n *node) {
	start := len(r.line)
	r.children(n)
	start = min(start, len(r.line))
	text := strings.TrimSpace(string(r.line[start:]))
	href := strings.TrimSpace(n.attr("href"))
	if countLetters(text) < minLinkText || r.flat > 0 && r.strong > 0 || !r.isExternal(href) ||
		strings.Contains(href, strings.TrimRight(text, "/")) || strings.Contains(text, "](") {
		return
	}
	r.surround(start, "[", "]("+strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(href)+")")
}

func (r *renderer) isExternal(href string) bool {
	if len(href) > maxLink || !strings.HasPrefix(href, "http://") && !strings.HasPrefix(href, "https://") {
		return false
	}
	u, err := url.Parse(href)
	return err == nil && u.Host != "" && !strings.EqualFold(u.Host, r.home)
}

// altText returns the alternative text of an image, unless it is a file name.
func altText(n *node) string {
	alt := strings.TrimSpace(n.attr("alt"))
	if len(alt) < 2 || !strings.Contains(alt, " ") && strings.Contains(alt, ".") {
		return ""
	}
	return alt
}

// math renders a formula by its TeX source if present, otherwise by its characters.
func (r *renderer) math(n *node) {
	tex := n.attr("alttext")
	if tex == "" {
		tex = annotation(n)
	}
	if tex = strings.Join(strings.Fields(tex), " "); tex != "" {
		r.line = append(append(append(r.line, '$'), tex...), '$')
		return
	}
	r.children(n)
}

func annotation(n *node) string {
	if cmp.Or(n.text, n.tag.String()) == "annotation" && strings.Contains(n.attr("encoding"), "tex") {
		return textOf(n)
	}
	for _, k := range n.kids {
		if !k.isText() {
			if s := annotation(k); s != "" {
				return s
			}
		}
	}
	return ""
}
