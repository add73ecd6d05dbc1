package docs

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// maxFence is the maximum length in bytes of a line that opens a delimited block. It bounds the
// number of distinct delimiters to search for.
const maxFence = 80

// asciidocWalk finds the units of AsciiDoc line by line.
type asciidocWalk struct {
	lines    []codeLine
	units    []unit
	unclosed map[string]bool // delimiters without a closing line
	s        structure
}

// parseAsciidoc parses AsciiDoc. Listings, literal blocks and tables stay whole. The contents of
// other delimited blocks are parsed as ordinary text.
func parseAsciidoc(in input) structure {
	w := asciidocWalk{lines: codeLines(in.text), unclosed: make(map[string]bool)}
	w.s.plain = plainAsciidoc
	begin := -1 // first attribute line of the next block
	for i := 0; i < len(w.lines); {
		body := w.lines[i].body
		switch {
		case body == "":
			i++
			continue
		case asciidocMeta(body):
			if begin < 0 {
				begin = i
			}
			i++
			continue
		}
		if begin < 0 {
			begin = i
		}
		i = w.block(begin, i)
		begin = -1
	}
	if begin >= 0 {
		w.add(begin, unit{})
	}
	w.s.arrange(in, w.units, asciidocRows)
	return w.s
}

// asciidocMeta reports whether a line is an attribute of the next block: [source,go], .Title or an
// anchor.
func asciidocMeta(body string) bool {
	return body[0] == '[' && strings.HasSuffix(body, "]") && !strings.Contains(body[1:len(body)-1], "]]") ||
		len(body) > 1 && body[0] == '.' && body[1] != '.' && body[1] != ' '
}

func (w *asciidocWalk) add(i int, u unit) {
	u.start = w.lines[i].start
	w.units = append(w.units, u)
}

// block reads the block at line i, with attributes from line begin, and returns the line after it.
func (w *asciidocWalk) block(begin, i int) int {
	l := w.lines[i]
	if level, title, end := w.heading(i); level > 0 {
		w.add(begin, unit{kind: unitHeading, level: level, title: title})
		return end
	}
	if kind, ok := asciidocFence(l.body); ok {
		return w.fenced(begin, i, kind)
	}
	u := unit{kind: unitProse}
	switch {
	case w.attribute(l.body), strings.HasPrefix(l.body, "//"), asciidocMacro.MatchString(l.body), slices.Contains(asciidocMarks, l.body):
		w.add(begin, unit{kind: unitCode})
		return i + 1
	case asciidocItem.MatchString(l.body), len(w.s.prose) == 0 && len(w.units) == 1 &&
		w.units[0].kind == unitHeading && strings.Contains(l.body, "@"):
		u.kind = unitOther // or the author line
	case l.indent > 0:
		u.kind = unitCode
	case begin < i && (strings.HasPrefix(w.lines[begin].body, "[source") || strings.HasPrefix(w.lines[begin].body, "[listing")):
		u.kind = unitCode
	}
	end := i + 1
	for end < len(w.lines) && w.continuesParagraph(end) {
		end++
	}
	w.add(begin, u)
	return end
}

// continuesParagraph reports whether line i continues the paragraph before it.
func (w *asciidocWalk) continuesParagraph(i int) bool {
	body := w.lines[i].body
	if body == "" || body == "+" || attributeOf(body) != "" || asciidocItem.MatchString(body) {
		return false
	}
	_, fence := asciidocFence(body)
	return !fence
}

// asciidocMarks are marks on lines of their own: a list continuation, a rule, a page break.
var asciidocMarks = []string{"+", "'''", "<<<"}

// asciidocItem matches the beginning of a list item or a term.
var asciidocItem = regexp.MustCompile(`^(?:[*.-]{1,6}\s|<?[0-9]{1,3}[.>]\s|\S.{0,100}(?:::|;;)(?:\s|$))`)

// asciidocMacro matches a block macro.
var asciidocMacro = regexp.MustCompile(`^(?:include|image|video|audio|toc|ifdef|ifndef|ifeval|endif)::?`)

// asciidocFence returns the kind of the content of a delimited block, or false if the line is not a
// delimiter.
func asciidocFence(body string) (unitKind, bool) {
	if len(body) > maxFence {
		return 0, false
	}
	if body == "|===" || body == ",===" || body == ":===" || body == "!===" {
		return unitTable, true
	}
	if body == "--" {
		return unitProse, true
	}
	if strings.HasPrefix(body, "```") && strings.Trim(body[3:], "`") == strings.Trim(body, "`") && !strings.Contains(body[3:], "`") {
		return unitCode, true
	}
	if len(body) < 4 || strings.Trim(body, body[:1]) != "" {
		return 0, false
	}
	switch body[0] {
	case '-', '.', '+':
		return unitCode, true
	case '/':
		return unitOther, true
	case '=', '*', '_':
		return unitProse, true
	}
	return 0, false
}

// fenced reads a delimited block that begins at line i. Delimiters around text become units of
// their own.
func (w *asciidocWalk) fenced(begin, i int, kind unitKind) int {
	fence := w.lines[i].body
	if strings.HasPrefix(fence, "```") {
		fence = "```"
	}
	if kind == unitProse || w.unclosed[fence] {
		w.add(begin, unit{kind: unitCode})
		return i + 1
	}
	for j := i + 1; j < len(w.lines); j++ {
		if w.lines[j].body == fence {
			w.add(begin, unit{kind: kind})
			return j + 1
		}
	}
	w.unclosed[fence] = true
	w.add(begin, unit{})
	return i + 1
}

// heading returns the level and title of a heading at line i, and the line after it. The level is 0
// if there is no heading.
func (w *asciidocWalk) heading(i int) (level int, title string, end int) {
	body := w.lines[i].body
	if w.lines[i].indent > 0 {
		return 0, "", 0
	}
	for _, sign := range [...]string{"=", "#"} {
		rest := strings.TrimLeft(body, sign)
		if n := len(body) - len(rest); n > 0 && n <= 6 && strings.HasPrefix(rest, " ") {
			title = strings.TrimSpace(strings.TrimRight(rest, sign))
			return n, sentence.Clip(plainAsciidoc(sentence.Clip(title, maxTitleRunes)), maxTitleRunes), i + 1
		}
	}
	if i+1 == len(w.lines) || !sentence.HasLetter(body) {
		return 0, "", 0
	}
	line := w.lines[i+1].body
	level = 1 + strings.IndexByte("=-~^+", (line + " ")[0])
	if d := len(line) - utf8.RuneCountInString(body); level == 0 || len(line) < 3 || strings.Trim(line, line[:1]) != "" || d < -2 || d > 2 {
		return 0, "", 0
	}
	return level, sentence.Clip(plainAsciidoc(sentence.Clip(body, maxTitleRunes)), maxTitleRunes), i + 2
}

// attributeOf returns the name of a document attribute, or "".
func attributeOf(body string) string {
	if name := fieldOf(body); !strings.ContainsRune(name, ' ') {
		return name
	}
	return ""
}

// attribute reads a document attribute such as ":keywords: a, b". It returns false for other lines.
func (w *asciidocWalk) attribute(body string) bool {
	name := attributeOf(body)
	if name == "" {
		return false
	}
	value := strings.TrimSpace(body[len(name)+2:])
	switch name {
	case "keywords", "tags", "page-tags":
		w.s.tags = append(w.s.tags, inlineList(value)...)
	case "description", "summary":
		w.s.description = plainAsciidoc(value)
	case "title", "doctitle":
		w.s.title = value
	}
	return true
}

// asciidocRows is the [rowsFunc] of AsciiDoc tables. The cells of a row are on one line, or on one
// line each with blank lines between rows.
func asciidocRows(table string) (columns []string, rows []int) {
	lines := codeLines(table)
	first := 0
	for first < len(lines) && !strings.HasSuffix(lines[first].body, "===") {
		first++
	}
	wide, blank := 0, true
	for _, l := range lines[min(first+1, len(lines)):] {
		if l.body == "" {
			blank = true
			continue
		}
		if l.body[0] != '|' && !asciidocCell.MatchString(l.body) || strings.HasSuffix(l.body, "===") {
			continue
		}
		if strings.Count(l.body, "|") > 1 {
			wide++
		}
		if wide > 0 && strings.Count(l.body, "|") > 1 || blank {
			rows = append(rows, l.start)
		}
		blank = false
	}
	if len(rows) > 1 {
		columns = barCells(firstLine(table[rows[0]:rows[1]]))
		for i, c := range columns {
			columns[i] = plainAsciidoc(c)
		}
		if len(columns) == 1 { // one cell per line
			columns = barCells(strings.Join(strings.Fields(sentence.Clip(table[rows[0]:rows[1]], 4*maxColumns)), " "))
		}
		rows = rows[1:]
	}
	return columns, rows
}

// asciidocCell matches a cell that begins with a specifier, such as "a|" or "2+|".
var asciidocCell = regexp.MustCompile(`^[0-9.+*<>^]{0,6}[adehlmsv]?\|`)

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
