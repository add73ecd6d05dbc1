package extract

import (
	"slices"
	"strings"
)

// block is a paragraph, an item of a list or a table of a document.
type block struct {
	text    string
	heading int
	kind    paraKind
	item    bool
	level   int
	marker  string
	apart   bool       // an item that begins a list
	rows    [][]string // of a table
	breaks  []int      // the rows before which pages end
	// before and after count the pages that end there.
	before, after int
}

// block writes a block of no particular kind.
func (m *markdown) block(b block) {
	switch {
	case b.rows != nil:
		m.table(b.rows)
	case b.item:
		if b.apart && m.last == itemBlock {
			m.last = proseBlock
		}
		m.item(b.level, b.marker, b.text)
	default:
		m.paragraph(strings.TrimSpace(b.marker + " " + b.text))
	}
}

// appendFlat adds a block to a text that has no structure: a cell, a note.
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
