package extract

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// maxPrefix bounds the line prefix inside nested lists and quotations. Without it the text would
// grow with the square of the depth.
const maxPrefix = 40

// renderer writes a tree as Markdown.
type renderer struct {
	ctx  context.Context
	max  int
	home string // host whose links are dropped

	out      strings.Builder
	prefix   string   // prefix of each line
	sep      string   // prefix of the empty line before the next block, if entered is set
	entered  bool     // no block was written yet inside the innermost prefix
	first    string   // prefix of the next line: prefix, or the marker of an item
	tight    bool     // no empty line before the next block
	line     []byte   // paragraph being written
	flat     int      // > 0 inside a cell or heading, where blocks are inline
	strong   int      // > 0 inside strong text
	emph     int      // > 0 inside emphasis
	level    int      // level of the last heading
	defs     int      // nesting of definitions
	headings []string // texts of the top-level headings
	opening  string   // text of the first heading
	visits   int
	err      error
}

func (r *renderer) render(n *node) (string, error) {
	r.children(n)
	r.flush()
	if r.err != nil {
		return "", r.err
	}
	if r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
	return r.out.String(), nil
}

// stopped counts visited nodes and reports whether rendering must stop.
func (r *renderer) stopped() bool {
	if r.visits++; r.err == nil && r.visits%1024 == 0 {
		r.err = r.ctx.Err()
	}
	return r.err != nil
}

func isBlock(n *node) bool { return blockTags[n.tag] || n.hasBlocks }

func (r *renderer) children(n *node) {
	for _, k := range n.kids {
		if r.stopped() {
			return
		}
		if r.flat == 0 && isBlock(k) {
			r.flush()
			r.block(k)
			r.flush()
		} else {
			r.inline(k)
		}
	}
}

func (r *renderer) block(n *node) {
	switch n.tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		r.heading(n, headingLevel[n.tag])
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		r.code(n)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		if n.hasHeading { // sections, which Markdown lists cannot contain
			r.children(n)
		} else {
			r.list(n)
		}
	case atom.Li: // outside a list
		if n.hasHeading {
			r.children(n)
		} else {
			r.item(n, "- ")
		}
	case atom.Blockquote:
		r.indented("> ", "> ", func() { r.children(n); r.flush() })
	case atom.Table:
		r.table(n)
	case atom.Dt:
		r.term(n)
	case atom.Dd:
		r.defs++
		r.children(n)
		r.flush()
		r.defs--
	case atom.Hr:
	default:
		if n.tag == atom.Div && hasWord(n, listingWords) {
			r.code(n)
		} else {
			r.children(n)
		}
	}
}

// flush writes the paragraph.
func (r *renderer) flush() {
	s := strings.TrimSpace(string(r.line))
	r.line = r.line[:0]
	if s != "" {
		r.write(escapeStarts(s))
	}
}

// write writes the lines of a block.
func (r *renderer) write(s string) {
	if r.err != nil {
		return
	}
	if r.out.Len() > 0 {
		r.out.WriteByte('\n')
		if !r.entered {
			r.sep = r.prefix
		}
		if !r.tight {
			r.out.WriteString(strings.TrimRight(r.sep, " "))
			r.out.WriteByte('\n')
		}
	}
	r.tight, r.entered = false, false
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			r.out.WriteByte('\n')
		}
		if line == "" {
			r.out.WriteString(strings.TrimRight(r.first, " "))
		} else {
			r.out.WriteString(r.first)
			r.out.WriteString(line)
		}
		r.first = r.prefix
	}
	if r.out.Len() > r.max {
		r.err = refuse("holds more than %d bytes of text; split the page", r.max)
	}
}

// indented renders the output of f with marker before the first line and prefix before the others.
func (r *renderer) indented(marker, prefix string, f func()) {
	saved := r.prefix
	if !r.entered {
		r.sep, r.entered = saved, true
	}
	if len(r.first) < maxPrefix {
		r.first += marker
		r.prefix += prefix
	}
	f()
	r.prefix = saved
	r.first = saved
}

func (r *renderer) heading(n *node, level int) {
	s := r.flatText(n)
	if s == "" {
		return
	}
	if level == 1 {
		r.headings = append(r.headings, textOf(n))
	}
	if r.opening == "" {
		r.opening = textOf(n)
	}
	r.level = level
	r.write(strings.Repeat("#", level) + " " + s)
}

// term renders a definition term. A function or type signature, as reference generators mark it,
// becomes a heading.
func (r *renderer) term(n *node) {
	if isSignature(n) && r.prefix == "" {
		r.write(strings.Repeat("#", min(max(r.level, 1)+1+r.defs, 6)) + " `" +
			strings.ReplaceAll(textOf(n), "`", "") + "`")
		return
	}
	r.strong++
	s := r.flatText(n)
	r.strong--
	if s != "" && !strings.Contains(s, "`") {
		s = "**" + s + "**"
	}
	if s != "" {
		r.write(escapeStarts(s))
	}
}

// isSignature reports whether a term is the signature of a function or type.
func isSignature(n *node) bool {
	return hasWord(n, signatureWords) || slices.ContainsFunc(n.kids,
		func(k *node) bool { return hasWord(k, signatureWords) })
}

func (r *renderer) list(n *node) {
	number, _ := strconv.Atoi(n.attr("start"))
	if n.attr("start") == "" {
		number = 1
	}
	tight := isTight(n)
	nested := r.prefix != ""
	written := false
	for _, k := range n.kids {
		if r.stopped() {
			return
		}
		if k.isText() && strings.TrimSpace(k.text) == "" {
			continue
		}
		r.tight = tight && (written || nested)
		before := r.out.Len()
		if n.tag == atom.Ol && k.tag == atom.Li {
			r.item(k, strconv.Itoa(number)+". ")
			number++
		} else {
			r.item(k, "- ")
		}
		written = written || r.out.Len() > before
	}
	r.tight = false
}

// item renders a list item. Any child of a list is an item.
func (r *renderer) item(n *node, marker string) {
	r.indented(marker, strings.Repeat(" ", len(marker)), func() {
		switch {
		case n.tag == atom.Li:
			r.children(n)
		case isBlock(n):
			r.block(n)
		default:
			r.inline(n)
		}
		r.flush()
	})
}

// isTight reports whether every item of a list has at most one block, not counting nested lists.
func isTight(n *node) bool {
	for _, k := range n.kids {
		blocks := 0
		for _, b := range k.kids {
			if isBlock(b) && b.tag != atom.Ul && b.tag != atom.Ol {
				blocks++
			}
		}
		if blocks > 1 {
			return false
		}
	}
	return true
}

// code renders preformatted text.
func (r *renderer) code(n *node) {
	var b strings.Builder
	for _, k := range n.kids {
		if k.tag == atom.Code && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") &&
			strings.Contains(b.String(), "\n") {
			b.WriteByte('\n') // several programs in one block
		}
		rawText(&b, k)
	}
	s := strings.Trim(strings.ReplaceAll(b.String(), "\r\n", "\n"), "\n")
	s = strings.TrimRight(strings.ReplaceAll(s, "\u00a0", " "), " \t\n")
	if strings.TrimSpace(s) == "" {
		return
	}
	fence := "```"
	for strings.Contains(s, fence) && len(fence) < 32 {
		fence += "`"
	}
	r.write(fence + codeLanguage(n) + "\n" + s + "\n" + fence)
}

// rawText appends the text of n unchanged.
func rawText(b *strings.Builder, n *node) {
	if n.isText() {
		b.WriteString(n.text)
		return
	}
	for _, k := range n.kids {
		rawText(b, k)
	}
	if n.tag == atom.Br || blockTags[n.tag] && n.tag != atom.Pre && !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
}

// codeLanguage finds the language of a code block in the class names used by common highlighters.
func codeLanguage(n *node) string {
	for m := n; m != nil; m = onlyElement(m) {
		if l := languageOfClass(m); l != "" {
			return l
		}
	}
	return n.lang
}

func onlyElement(n *node) *node {
	for _, k := range n.kids {
		if !k.isText() {
			return k
		}
	}
	return nil
}

func languageOfClass(n *node) string {
	words := strings.Fields(n.attr("data-language") + " " + n.attr("data-lang"))
	if len(words) > 0 && isLanguageName(words[0]) {
		return words[0]
	}
	classes := strings.Fields(strings.ToLower(n.attr("class")))
	for i, c := range classes {
		for _, p := range [...]string{"language-", "lang-", "highlight-source-", "highlight-", "brush:", "sourcecode"} {
			rest, ok := strings.CutPrefix(c, p)
			if ok && rest == "" && i+1 < len(classes) {
				rest = classes[i+1]
			}
			if ok && isLanguageName(rest) && !noLanguage[rest] {
				return rest
			}
		}
	}
	return ""
}

func isLanguageName(s string) bool {
	return s != "" && len(s) <= 20 && !strings.ContainsFunc(s, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("+#-_.", c)
	})
}
