package extract

import (
	"slices"
	"strings"
)

// block is a paragraph, a list item or a table of a document.
type block struct {
	text      string
	heading   int
	kind      paraKind
	item      bool
	level     int
	marker    string
	newList   bool       // first item of a list
	rows      [][]string // rows of a table
	rowBreaks []int      // indexes of rows that follow a page break
	// breaksBefore and breaksAfter count the page breaks before and after the block.
	breaksBefore, breaksAfter int
}

// block writes a block that is not a heading.
func (m *markdown) block(b block) {
	switch {
	case b.rows != nil:
		m.table(b.rows)
	case b.item:
		if b.newList && m.last == itemBlock {
			m.last = proseBlock
		}
		m.item(b.level, b.marker, b.text)
	default:
		m.paragraph(strings.TrimSpace(b.marker + " " + b.text))
	}
}

// appendFlat appends a block to a text without structure, such as a cell or a note.
func appendFlat(b *strings.Builder, w block) {
	text := w.text
	if w.rows != nil {
		rows := make([]string, 0, len(w.rows))
		for _, r := range w.rows {
			cells := slices.DeleteFunc(slices.Clone(r), func(c string) bool { return c == "" })
			rows = append(rows, strings.Join(cells, ", "))
		}
		text = strings.Join(rows, "; ")
	}
	if w.marker != "" && w.marker != "-" {
		text = w.marker + " " + text
	}
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	if b.Len() > 0 {
		b.WriteString(" ")
	}
	b.WriteString(text)
}
