package extract

import (
	"strings"
	"unicode/utf8"
)

// markdown writes Markdown blocks. Emphasis is dropped, and a character is escaped only where
// Markdown would read it as structure. The zero value has no limit.
type markdown struct {
	limit int // maximum bytes; 0 is unlimited
	b     strings.Builder
	last  blockKind
	items []openItem
	cut   bool
}

// openItem is a list item that can contain further items.
type openItem struct{ level, width int }

type blockKind uint8

const (
	noBlock blockKind = iota
	proseBlock
	itemBlock
	rowBlock
)

// full reports whether text was left out because of the limit.
func (m *markdown) full() bool { return m.cut }

// String returns the text, which ends with a newline unless it is empty.
func (m *markdown) String() string {
	if m.b.Len() == 0 {
		return ""
	}
	return strings.TrimRight(m.b.String(), " \n\f") + "\n"
}

// begin starts a block of size bytes. It returns false if there is no room.
func (m *markdown) begin(kind blockKind, size int) bool {
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

// heading writes a heading. Levels above 6 become 6.
func (m *markdown) heading(level int, text string) {
	text = escapeTags(oneLine(text))
	if text == "" || !m.begin(proseBlock, len(text)) {
		return
	}
	m.b.WriteString("######"[:min(max(level, 1), 6)] + " " + text)
}

// paragraph writes text with its line breaks.
func (m *markdown) paragraph(text string) {
	if text = escapeBlock(text); text != "" && m.begin(proseBlock, len(text)) {
		m.b.WriteString(text)
	}
}

// quote writes text as a block quote.
func (m *markdown) quote(text string) {
	if text = escapeTags(cleanText(text)); text != "" && m.begin(proseBlock, 2+indentedLen(text, 2)) {
		m.b.WriteString("> " + strings.ReplaceAll(text, "\n", "\n> "))
	}
}

// note writes a footnote.
func (m *markdown) note(label, text string) {
	if text = escapeTags(oneLine(text)); text != "" && m.begin(proseBlock, len(text)) {
		m.b.WriteString("[^" + label + "]: " + text)
	}
}

// code writes a code block.
func (m *markdown) code(text string) {
	text = strings.Trim(cleanChars(text), "\n")
	if text == "" || !m.begin(proseBlock, len(text)) {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.b.WriteString(fence + "\n" + text + "\n" + fence)
}

// item writes a list item. Level 0 is the outermost; an item without a parent moves out. Marker is
// the original label, such as "-", "3." or "b)"; a label that Markdown does not know becomes part
// of the text. The marker continuesItem continues the open item.
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
		if marker == continuesItem {
			m.continueItem(text)
			return
		}
		m.items = m.items[:n-1]
	}
	switch {
	case marker == "" || marker == continuesItem:
		marker = "-"
	case marker != "-" && !isOrdinal(marker):
		text, marker = marker+" "+text, "-"
	}
	pad := m.indent()
	if !m.begin(itemBlock, len(pad)+len(marker)+1+indentedLen(text, len(pad)+len(marker)+1)) {
		return
	}
	m.b.WriteString(pad + marker + " ")
	m.b.WriteString(strings.ReplaceAll(text, "\n", "\n"+pad+strings.Repeat(" ", len(marker)+1)))
	m.items = append(m.items, openItem{level, len(marker) + 1})
}

// indentedLen returns the length of text after indenting all lines except the first by indent
// bytes.
func indentedLen(text string, more int) int { return len(text) + more*strings.Count(text, "\n") }

// continueItem writes a further paragraph of the open item.
func (m *markdown) continueItem(text string) {
	pad := m.indent()
	if m.begin(itemBlock, 1+len(pad)+indentedLen(text, len(pad))) {
		m.b.WriteString("\n" + pad + strings.ReplaceAll(text, "\n", "\n"+pad))
	}
}

// indent returns the indentation inside the open items.
func (m *markdown) indent() string {
	n := 0
	for _, i := range m.items {
		n += i.width
	}
	return strings.Repeat(" ", n)
}

// isOrdinal reports whether s is an ordered list marker in Markdown.
func isOrdinal(s string) bool {
	digits := strings.TrimLeft(s, "0123456789")
	return len(s) > len(digits) && len(s)-len(digits) <= 9 && (digits == "." || digits == ")")
}

// tableHead begins a table. names may be shorter than columns, or empty for a table without a
// header.
func (m *markdown) tableHead(names []string, columns int) {
	if m.last == rowBlock {
		m.last = proseBlock // otherwise the rows would continue the previous table
	}
	m.row(names, columns)
	if !m.cut {
		m.b.WriteString("\n|" + strings.Repeat("---|", max(columns, 1)))
	}
}

// tableRow writes a row of the open table. Trailing empty cells may be omitted.
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
	// The delimiter row below a header has at most this length, too.
	if m.begin(rowBlock, line.Len()+4*columns+2) {
		m.b.WriteString(line.String())
	}
}

// table writes rows, the first as the header. Empty rows and trailing empty columns are left out. A
// table of one column becomes paragraphs.
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
	if m.begin(proseBlock, 8) {
		m.b.WriteString("\f")
	}
}

// countPages returns the number of pages of a text.
func countPages(text string) int { return 1 + strings.Count(text, "\f") }

func tableCell(s string) string { return escapeTags(strings.ReplaceAll(oneLine(s), "|", `\|`)) }

// oneLine folds runs of white space to one space.
func oneLine(s string) string { return strings.Join(strings.Fields(cleanChars(s)), " ") }

// cleanText trims each line of a text and drops empty lines.
func cleanText(s string) string {
	s = cleanChars(s)
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

// cleanChars returns valid UTF-8 without control and zero-width characters.
func cleanChars(s string) string {
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

// escapeBlock cleans a text and escapes characters that Markdown would read as structure or HTML.
func escapeBlock(s string) string { return escapeStarts(escapeTags(cleanText(s))) }

// escapeStarts escapes line beginnings that Markdown would read as a heading, a list, a table or a
// fence.
func escapeStarts(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if at := structureAt(l); at >= 0 {
			lines[i] = l[:at] + `\` + l[at:]
		}
	}
	return strings.Join(lines, "\n")
}

// escapeTags escapes text that would be read as HTML and not be displayed.
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

// structureAt returns the position to escape in a line that Markdown reads as structure, or -1.
func structureAt(s string) int {
	if s == "" {
		return -1
	}
	rest := strings.TrimLeft(s, s[:1])
	n := len(s) - len(rest)
	spaced := rest == "" || rest[0] == ' ' || rest[0] == '\t'
	structural := false
	switch s[0] {
	case '#':
		structural = n <= 6 && spaced
	case '-', '+', '*':
		structural = n == 1 && spaced || s[0] != '+' && strings.Trim(s, s[:1]+" \t") == ""
	case '_':
		structural = n >= 3 && strings.Trim(s, "_ \t") == ""
	case '=':
		structural = rest == ""
	case '`':
		structural = n >= 3 && !strings.Contains(rest, "`") // otherwise it is inline code
	case '~':
		structural = n >= 3
	case '>', '|':
		structural = true
	case '[':
		structural = strings.Contains(s, "]:")
	}
	if structural {
		return 0
	}
	if digits := strings.TrimLeft(s, "0123456789"); len(digits) < len(s) && digits != "" {
		if marker, _, _ := strings.Cut(s, " "); isOrdinal(marker) {
			return len(marker) - 1
		}
	}
	return -1
}
