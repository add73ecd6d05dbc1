package extract

import (
	"strings"
	"unicode/utf8"
)

// markdown writes blocks of Markdown: what converted files become. Text reads as
// people wrote it: emphasis is dropped, and a sign is escaped only where it would
// be taken for structure. The zero value writes without limit.
type markdown struct {
	limit int // bytes after which nothing is written; 0 is none
	b     strings.Builder
	last  blockKind
	items []openItem
	cut   bool
}

// openItem is an item of a list that others may stand in.
type openItem struct{ level, width int }

type blockKind uint8

const (
	noBlock blockKind = iota
	proseBlock
	itemBlock
	rowBlock
)

// full reports whether something was left out for the limit.
func (m *markdown) full() bool { return m.cut }

// String returns the text, ending in a newline if there is any.
func (m *markdown) String() string {
	if m.b.Len() == 0 {
		return ""
	}
	return strings.TrimRight(m.b.String(), " \n\f") + "\n"
}

// open begins a block of so many bytes; it reports false where it has no room.
func (m *markdown) open(kind blockKind, size int) bool {
	if m.limit > 0 && m.b.Len()+size+8 > m.limit {
		m.cut = true
	}
	if m.cut {
		return false
	}
	switch {
	case m.b.Len() == 0 || m.last == noBlock:
	case m.last == kind && kind != proseBlock:
		m.b.WriteString("\n")
	default:
		m.b.WriteString("\n\n")
	}
	if kind != itemBlock {
		m.items = m.items[:0]
	}
	m.last = kind
	return true
}

// heading writes a heading of level 1 to 6; deeper ones are of level 6.
func (m *markdown) heading(level int, text string) {
	text = escapeTags(oneLine(text))
	if text == "" || !m.open(proseBlock, len(text)) {
		return
	}
	m.b.WriteString("######"[:min(max(level, 1), 6)] + " " + text)
}

// paragraph writes text, whose line breaks stay.
func (m *markdown) paragraph(text string) {
	if text = escapeBlock(text); text != "" && m.open(proseBlock, len(text)) {
		m.b.WriteString(text)
	}
}

// quote writes text as a quotation.
func (m *markdown) quote(text string) {
	if text = escapeTags(cleanText(text)); text != "" && m.open(proseBlock, 2+indented(text, 2)) {
		m.b.WriteString("> " + strings.ReplaceAll(text, "\n", "\n> "))
	}
}

// note writes what a footnote says.
func (m *markdown) note(label, text string) {
	if text = escapeTags(oneLine(text)); text != "" && m.open(proseBlock, len(text)) {
		m.b.WriteString("[^" + label + "]: " + text)
	}
}

// code writes lines as they are.
func (m *markdown) code(text string) {
	text = strings.Trim(visible(text), "\n")
	if text == "" || !m.open(proseBlock, len(text)) {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.b.WriteString(fence + "\n" + text + "\n" + fence)
}

// item writes an item of a list. Level 0 is the outermost; one whose parents are
// missing moves out. Marker is as written: "-", "3.", "b)"; one that Markdown
// does not know becomes part of the text. A blank marker goes on with the open item.
func (m *markdown) item(level int, marker, text string) {
	if text = escapeBlock(text); text == "" {
		return
	}
	if m.last != itemBlock {
		m.items = m.items[:0]
	}
	level = max(level, 0)
	for n := len(m.items); n > 0 && m.items[n-1].level > level; n-- {
		m.items = m.items[:n-1]
	}
	if n := len(m.items); n > 0 && m.items[n-1].level == level {
		if marker == goesOn {
			m.goOn(text)
			return
		}
		m.items = m.items[:n-1]
	}
	switch {
	case marker == "" || marker == goesOn:
		marker = "-"
	case marker != "-" && !ordinal(marker):
		text, marker = marker+" "+text, "-"
	}
	pad := m.indent()
	if !m.open(itemBlock, len(pad)+len(marker)+1+indented(text, len(pad)+len(marker)+1)) {
		return
	}
	m.b.WriteString(pad + marker + " ")
	m.b.WriteString(strings.ReplaceAll(text, "\n", "\n"+pad+strings.Repeat(" ", len(marker)+1)))
	m.items = append(m.items, openItem{level, len(marker) + 1})
}

// indented returns the length of a text whose lines but the first begin with so much
// more.
func indented(text string, more int) int { return len(text) + more*strings.Count(text, "\n") }

// goOn writes a paragraph of the open item.
func (m *markdown) goOn(text string) {
	pad := m.indent()
	if m.open(itemBlock, 1+len(pad)+indented(text, len(pad))) {
		m.b.WriteString("\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad))
	}
}

// indent returns the white space before what stands inside of the open items.
func (m *markdown) indent() string {
	n := 0
	for _, i := range m.items {
		n += i.width
	}
	return strings.Repeat(" ", n)
}

// ordinal reports whether Markdown takes s for the marker of an ordered list.
func ordinal(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	return len(s) > len(digits) && len(s)-len(digits) <= 9 && (digits == "." || digits == ")")
}

// tableHead begins a table of so many columns; names may be fewer, or none for a
// table without a head.
func (m *markdown) tableHead(names []string, columns int) {
	if m.last == rowBlock {
		m.last = proseBlock // or it would go on with the table before
	}
	m.row(names, columns)
	if !m.cut {
		m.b.WriteString("\n|" + strings.Repeat("---|", max(columns, 1)))
	}
}

// tableRow goes on with a table. Cells that are missing at the end need not be there.
func (m *markdown) tableRow(cells []string) { m.row(cells, 0) }

func (m *markdown) row(cells []string, columns int) {
	count := max(columns, len(cells), 1)
	var line strings.Builder
	line.WriteString("|")
	for i := range count {
		if i < len(cells) && cells[i] != "" {
			line.WriteString(" " + tableCell(cells[i]))
		}
		line.WriteString(" |")
	}
	// The line below a head is of this length too, at most.
	if m.open(rowBlock, line.Len()+4*columns+2) {
		m.b.WriteString(line.String())
	}
}

// table writes rows, the first as the head. Empty rows and empty columns at the
// end are left out; a single cell is a paragraph.
func (m *markdown) table(rows [][]string) {
	columns, kept := 0, make([][]string, 0, len(rows))
	for _, r := range rows {
		for len(r) > 0 && strings.TrimSpace(r[len(r)-1]) == "" {
			r = r[:len(r)-1]
		}
		if len(r) > 0 {
			columns, kept = max(columns, len(r)), append(kept, r)
		}
	}
	if columns == 1 {
		for _, r := range kept {
			m.paragraph(r[0])
		}
		return
	}
	for i, r := range kept {
		if i == 0 {
			m.tableHead(r, columns)
		} else {
			m.tableRow(r)
		}
	}
}

// page ends a page.
func (m *markdown) page() {
	if m.open(proseBlock, 8) {
		m.b.WriteString("\f")
	}
}

// pages returns how many pages a text has.
func pages(text string) int { return 1 + strings.Count(text, "\f") }

func tableCell(s string) string { return escapeTags(strings.ReplaceAll(oneLine(s), "|", `\|`)) }

// oneLine returns text with runs of white space as one space.
func oneLine(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// cleanText trims the lines of a text and drops those that are empty.
func cleanText(s string) string {
	s = visible(s)
	if !strings.Contains(s, "\n") {
		return strings.TrimSpace(s)
	}
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// visible returns valid UTF-8 without control characters and signs of no width.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u00a0', r == '\u2028', r == '\u2029', r == '\r', r == '\v', r == '\f':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r == '\u00ad', r == '\u200b', r == '\ufeff', r == '\ufffe', r == '\uffff':
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// escapeBlock cleans a text and escapes what would be taken for structure or HTML.
func escapeBlock(s string) string { return escapeStarts(escapeTags(cleanText(s))) }

// escapeStarts escapes what the lines of a paragraph begin with, where it would be
// taken for a heading, a list, a table, a fence or the like.
func escapeStarts(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if at := structureAt(l); at >= 0 {
			lines[i] = l[:at] + `\` + l[at:]
		}
	}
	return strings.Join(lines, "\n")
}

// escapeTags escapes what would be taken for HTML and not be shown.
func escapeTags(s string) string {
	if strings.IndexByte(s, '<') < 0 {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '<' && beginsTag(s[i+1:]) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// structureAt returns where to escape a line that Markdown takes for structure,
// or -1.
func structureAt(s string) int {
	if s == "" {
		return -1
	}
	rest := strings.TrimLeft(s, s[:1])
	n := len(s) - len(rest)
	spaced := rest == "" || rest[0] == ' ' || rest[0] == '\t'
	is := false
	switch s[0] {
	case '#':
		is = n <= 6 && spaced
	case '-', '+', '*':
		is = n == 1 && spaced || s[0] != '+' && strings.Trim(s, s[:1]+" \t") == ""
	case '_':
		is = n >= 3 && strings.Trim(s, "_ \t") == ""
	case '=':
		is = rest == ""
	case '`':
		is = n >= 3 && !strings.Contains(rest, "`") // with more of them it is code in the line
	case '~':
		is = n >= 3
	case '>', '|':
		is = true
	case '[':
		is = strings.Contains(s, "]:")
	}
	if is {
		return 0
	}
	if digits := strings.TrimLeft(s, "0123456789"); len(digits) < len(s) && digits != "" {
		if marker, _, _ := strings.Cut(s, " "); ordinal(marker) {
			return len(marker) - 1
		}
	}
	return -1
}
