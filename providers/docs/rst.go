package docs

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/ragctx/ragctx/internal/text/sentence"
)

// domainLevel is the level of the outermost object description, such as a function. Sections have
// lower levels.
const domainLevel = 10

// rstWalk finds the units of reStructuredText line by line.
type rstWalk struct {
	lines  []codeLine
	units  []unit
	styles []string // heading adornments, outermost first
	open   []int    // indentation of the open object descriptions
	anchor bool     // the last unit is a link target of the next heading
	s      structure
}

// parseRST parses reStructuredText. The level of a heading is the order in which its adornment
// first appears. Object descriptions, such as ".. function::", are sections as well.
func parseRST(in input) structure {
	w := rstWalk{lines: codeLines(in.text)}
	w.s.plain = plainRST
	for i := 0; i < len(w.lines); {
		i = w.next(i)
	}
	w.s.arrange(in, w.units, rstRows)
	for i := range w.s.outline {
		if l := &w.s.outline[i]; l.Level >= domainLevel {
			l.Level += len(w.styles) + 1 - domainLevel
		}
	}
	return w.s
}

// add appends a unit that begins at line i.
func (w *rstWalk) add(i int, u unit) {
	u.start = w.lines[i].start
	if n := len(w.units) - 1; w.anchor && u.kind == unitHeading {
		u.start = w.units[n].start
		w.units = w.units[:n]
	}
	w.anchor = false
	w.units = append(w.units, u)
}

// next reads the unit at line i and returns the line after it.
func (w *rstWalk) next(i int) int {
	l := w.lines[i]
	if l.indent < 0 {
		return i + 1
	}
	leave := w.leave(l.indent)
	n := len(w.units)
	end := w.read(i, l)
	if n < len(w.units) && leave > 0 && w.units[n].kind != unitHeading {
		w.units[n].leave = leave
	}
	return end
}

// leave closes the object descriptions that end at an indentation. It returns the level of the
// outermost of them, or 0.
func (w *rstWalk) leave(indent int) (level int) {
	for n := len(w.open); n > 0 && w.open[n-1] >= indent; n-- {
		w.open = w.open[:n-1]
		level = domainLevel + n - 1
	}
	return level
}

func (w *rstWalk) read(i int, l codeLine) int {
	if title, end := w.heading(i); title != "" {
		w.add(i, unit{kind: unitHeading, level: w.level(i), title: sentence.Clip(plainRST(title), maxTitleRunes)})
		return end
	}
	switch {
	case strings.HasPrefix(l.body, ".. "), l.body == "..":
		return w.explicit(i)
	case strings.HasPrefix(l.body, "+-") && strings.Trim(l.body, "+-=") == "":
		w.add(i, unit{kind: unitTable})
		return w.blank(i)
	case simpleBorder(l.body):
		w.add(i, unit{kind: unitTable})
		return w.simpleTable(i)
	case strings.HasPrefix(l.body, ">>> "):
		w.add(i, unit{kind: unitCode})
		return w.blank(i)
	case fieldOf(l.body) != "":
		w.field(l.body)
		w.add(i, unit{kind: unitCode})
		return w.body(i+1, l.indent)
	}
	return w.paragraph(i)
}

// paragraph reads a paragraph, list item or transition, and the literal block that a paragraph
// introduces.
func (w *rstWalk) paragraph(i int) int {
	l := w.lines[i]
	u := unit{kind: unitProse}
	if rstItem(l.body) || adornment(l.body) != 0 || l.indent > 0 && len(w.open) == 0 {
		u.kind = unitOther
	}
	end := i + 1
	item := rstItem(l.body)
	for end < len(w.lines) && w.lines[end].indent >= l.indent && !(item && rstItem(w.lines[end].body)) {
		end++
	}
	if end < len(w.lines) && u.kind == unitProse && w.lines[end-1].indent > l.indent {
		u.kind = unitOther // a term and its definition
	}
	w.add(i, u)
	if strings.HasSuffix(w.lines[end-1].body, "::") {
		return w.literal(end, l.indent)
	}
	return end
}

// literal reads the literal block from line i on, after a paragraph with the given indentation.
func (w *rstWalk) literal(i, indent int) int {
	for i < len(w.lines) && w.lines[i].indent < 0 {
		i++
	}
	if i == len(w.lines) || w.lines[i].indent <= indent {
		return i
	}
	w.add(i, unit{kind: unitCode})
	return w.deeper(i, indent)
}

// deeper returns the line after the blank and more indented lines from i on.
func (w *rstWalk) deeper(i, indent int) int {
	end := i
	for ; i < len(w.lines) && (w.lines[i].indent < 0 || w.lines[i].indent > indent); i++ {
		if w.lines[i].indent >= 0 {
			end = i + 1
		}
	}
	return end
}

// body returns the line after the more indented lines from i on.
func (w *rstWalk) body(i, indent int) int {
	for i < len(w.lines) && w.lines[i].indent > indent {
		i++
	}
	return i
}

// isBlank returns the first blank line from i on.
func (w *rstWalk) blank(i int) int {
	for i < len(w.lines) && w.lines[i].indent >= 0 {
		i++
	}
	return i
}

// simpleTable returns the line after the table with its upper border at line i. The table ends with
// a border before a blank line.
func (w *rstWalk) simpleTable(i int) int {
	for j := i + 1; j < min(len(w.lines), i+5000); j++ {
		if simpleBorder(w.lines[j].body) && (j+1 == len(w.lines) || w.lines[j+1].indent < 0) {
			return j + 1
		}
		if w.lines[j].indent >= 0 && w.lines[j].indent < w.lines[i].indent {
			break
		}
	}
	return w.blank(i)
}

// explicit reads a directive, a target or a comment.
func (w *rstWalk) explicit(i int) int {
	l := w.lines[i]
	name, argument := directive(l.body)
	end := w.deeper(i+1, l.indent)
	switch {
	case name == "title":
		w.s.title = argument
	case name == "meta":
		for _, m := range w.lines[i+1 : end] {
			w.field(m.body)
		}
	case rstCode[name]:
		w.add(i, unit{kind: unitCode})
		return max(end, i+1)
	case rstTable[name]:
		w.add(i, unit{kind: unitTable})
		return max(end, i+1)
	case rstObject(name) && argument != "" && len(w.open) < maxNesting/4:
		w.open = append(w.open, l.indent)
		w.add(i, unit{kind: unitHeading, level: domainLevel + len(w.open) - 1, title: sentence.Clip(argument, maxTitleRunes)})
		return w.body(i+1, l.indent) // further signatures, options
	case rstNote[name]:
		w.add(i, unit{})
		return i + 1 // its content is ordinary text
	}
	w.add(i, unit{kind: unitCode})
	w.anchor = strings.HasPrefix(l.body, ".. _")
	return max(end, i+1)
}

// rstCode, rstTable and rstNote are the directives with code, table and text content.
var (
	rstCode = wordSet("code code-block sourcecode literalinclude parsed-literal math prompt doctest testcode " +
		"testoutput testsetup raw productionlist graphviz ipython")
	rstTable = wordSet("table list-table csv-table")
	rstNote  = wordSet("note warning tip important caution danger error hint attention admonition seealso topic sidebar " +
		"versionadded versionchanged deprecated rubric container only tab tabs tab-set tab-item dropdown details")
)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// rstObjects are the object descriptions, with or without the name of their domain.
var rstObjects = wordSet("function class method attribute exception data decorator property classmethod staticmethod " +
	"option program envvar confval setting cfunction type macro struct member describe object autofunction autoclass automethod " +
	"c:function c:type c:macro cpp:function cpp:class js:function js:class rst:directive rst:role http:get " +
	"http:post http:put http:delete command opcode")

func rstObject(name string) bool {
	if _, rest, ok := strings.Cut(name, ":"); ok && strings.HasPrefix(name, "py:") {
		name = rest
	}
	return rstObjects[name]
}

// directive returns the name and argument of ".. name:: argument", or "" and "".
func directive(body string) (name, argument string) {
	rest := strings.TrimLeft(strings.TrimPrefix(body, ".."), " ")
	name, argument, ok := strings.Cut(rest, "::")
	if !ok || name == "" || strings.ContainsAny(name, " `|[_") {
		return "", ""
	}
	return name, strings.TrimSpace(argument)
}

// maxDocinfo is the maximum number of units before a field that sets the document's title.
const maxDocinfo = 20

// field reads a document field such as ":keywords: a, b".
func (w *rstWalk) field(body string) {
	name := fieldOf(body)
	if name == "" {
		return
	}
	value := strings.TrimSpace(body[len(name)+2:])
	switch name = strings.ToLower(name); {
	case name == "keywords" || name == "tags":
		w.s.tags = append(w.s.tags, inlineList(value)...)
	case name == "title" && w.s.title == "" && len(w.units) < maxDocinfo:
		w.s.title = value
	case (name == "description" || name == "summary" || name == "abstract" ||
		strings.HasPrefix(name, "description ")) && w.s.description == "":
		w.s.description = plainRST(value)
	}
}

// fieldOf returns the name of a field, or "".
func fieldOf(body string) string {
	if len(body) < 3 || body[0] != ':' || body[1] == ':' || body[1] == ' ' {
		return ""
	}
	end := strings.IndexByte(body[1:min(len(body), 82)], ':')
	if end <= 0 || len(body) > end+2 && body[end+2] != ' ' {
		return ""
	}
	return body[1 : end+1]
}

// heading returns the title of a heading at line i and the line after it. The title is "" if there
// is no heading.
func (w *rstWalk) heading(i int) (title string, end int) {
	at := func(j int) codeLine {
		if j < len(w.lines) {
			return w.lines[j]
		}
		return codeLine{indent: -1}
	}
	first, second, third := at(i), at(i+1), at(i+2)
	switch {
	case first.indent == 0 && adornment(first.body) != 0 && second.indent >= 0 && third.body == first.body && third.indent == 0:
		if adornment(second.body) == 0 && fits(second.body, first.body) {
			return second.body, i + 3
		}
	case first.indent == 0 && adornment(first.body) == 0 && second.indent == 0 && adornment(second.body) != 0 &&
		fits(first.body, second.body):
		if third.body != "" && adornment(third.body) != 0 {
			return "", 0
		}
		return first.body, i + 2
	}
	return "", 0
}

// level returns the level of the heading at line i.
func (w *rstWalk) level(i int) int {
	style := "_" + w.lines[i+1].body[:1]
	if adornment(w.lines[i].body) != 0 {
		style = w.lines[i].body[:1] + "^"
	}
	for n, s := range w.styles {
		if s == style {
			return n + 1
		}
	}
	if len(w.styles) < domainLevel-1 {
		w.styles = append(w.styles, style)
	}
	return len(w.styles)
}

// adornment returns the character that a line repeats at least three times, or 0.
func adornment(body string) byte {
	if len(body) < 3 || strings.IndexByte("=-`:.'\"~^_*+#<>!$%&", body[0]) < 0 || strings.Trim(body, body[:1]) != "" {
		return 0
	}
	return body[0]
}

// fits reports whether an adornment is about as long as the title or longer.
func fits(title, line string) bool {
	n := utf8.RuneCountInString(title)
	return n <= maxTitleRunes && (len(line) >= n || len(line) > 3 && len(line)+2 >= n)
}

// simpleBorder reports whether a line is the border of a simple table.
func simpleBorder(body string) bool {
	return len(body) > 4 && strings.HasPrefix(body, "==") && strings.Contains(body, "= =") && strings.Trim(body, "= ") == ""
}

var listMarker = regexp.MustCompile(`^(?:[-*+•]|#\.|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s`)

func rstItem(body string) bool { return listMarker.MatchString(body) || strings.HasPrefix(body, "| ") }

// rstRows is the [rowsFunc] of grid, simple and list tables.
func rstRows(table string) (columns []string, rows []int) {
	lines := codeLines(table)
	first := 0
	for first < len(lines) && lines[first].indent < 0 {
		first++
	}
	if first == len(lines) {
		return nil, nil
	}
	switch body := lines[first].body; {
	case strings.HasPrefix(body, "+"):
		return gridRows(lines[first:])
	case simpleBorder(body):
		return simpleRows(lines[first:])
	case strings.HasPrefix(body, ".. list-table"):
		return nil, lineStarts(table, func(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "* - ") })
	}
	return nil, nil
}

// gridRows reads a table with rows between lines like +---+---+. A line like +===+ ends the header.
func gridRows(lines []codeLine) (columns []string, rows []int) {
	for i, l := range lines {
		switch {
		case i+1 == len(lines) || l.indent < 0 || lines[i+1].indent < 0:
		case strings.HasPrefix(l.body, "+="):
			columns = barCells(lines[1].body)
			rows = []int{lines[i+1].start}
		case strings.HasPrefix(l.body, "+-") && i > 0:
			rows = append(rows, lines[i+1].start)
		}
	}
	return columns, rows
}

// simpleRows reads a table between borders like ==== ====.
func simpleRows(lines []codeLine) (columns []string, rows []int) {
	borders := 0
	for i, l := range lines {
		if simpleBorder(l.body) {
			if borders++; borders == 2 && i > 1 && i+1 < len(lines) && lines[i+1].indent >= 0 {
				columns = simpleCells(lines[1].body)
				rows = nil
			}
			continue
		}
		if l.indent >= 0 && l.indent <= lines[0].indent {
			rows = append(rows, l.start)
		}
	}
	return columns, rows
}

// simpleCells returns the cells of a row. Two spaces separate cells.
func simpleCells(row string) []string {
	var cells []string
	for c := range strings.SplitSeq(row, "  ") {
		if c = strings.TrimSpace(c); c != "" {
			if cells = append(cells, plainRST(c)); len(cells) == maxColumns {
				break
			}
		}
	}
	return cells
}
