package extract

import (
	"encoding/xml"
	"strings"
)

const (
	// maxRowCells bounds the cells of a row. Word allows at most 63.
	maxRowCells = 256
	// maxMergedText is the maximum length, in bytes, of text that is repeated in each row of a
	// vertically merged cell.
	maxMergedText = 120
)

// wordTable is a table being read.
type wordTable struct {
	rows   [][]string
	breaks []int
	// above holds the cells of the previous row, for vertically merged cells.
	above []string
}

// table reads a table. A table of one column is a frame: its content is emitted directly. A table
// inside a cell becomes text.
func (d *docx) table(s *xmlScanner, emit func(block)) error {
	t := &wordTable{}
	columns := 0
	err := s.children(func(tag string, e xml.StartElement) error {
		if tag == "w:tblGrid" {
			return s.children(func(tag string, _ xml.StartElement) error {
				if tag == "w:gridCol" {
					columns++
				}
				return nil
			}, nil)
		}
		if columns == 1 {
			if isSkipped(tag) {
				return nil
			}
			return d.blocks(s, emit)
		}
		return d.rows(s, t, tag)
	}, nil)
	if err == nil && len(t.rows) > 0 {
		emit(block{rows: t.rows, rowBreaks: t.breaks})
	}
	return err
}

// rows reads a row, or the rows inside a wrapping element.
func (d *docx) rows(s *xmlScanner, t *wordTable, tag string) error {
	switch {
	case tag == "w:tr":
		return d.row(s, t)
	case isSkipped(tag) || d.md.full():
		return nil
	}
	return s.children(func(tag string, _ xml.StartElement) error { return d.rows(s, t, tag) }, nil)
}

// wordRow is a row being read.
type wordRow struct {
	cells   []string
	deleted bool
	breaks  int
}

func (d *docx) row(s *xmlScanner, t *wordTable) error {
	r := &wordRow{}
	if err := d.cells(s, t, r); err != nil {
		return err
	}
	if r.breaks > 0 {
		t.breaks = append(t.breaks, len(t.rows))
	}
	if !r.deleted {
		t.rows, t.above = append(t.rows, r.cells), r.cells
	}
	return nil
}

// cells reads the cells of a row, at any depth of wrapping.
func (d *docx) cells(s *xmlScanner, t *wordTable, r *wordRow) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case tag == "w:trPr":
			return s.children(func(tag string, e xml.StartElement) error {
				switch tag {
				case "w:gridBefore":
					r.addEmpty(intAttr(e, "val", 0, 0, maxRowCells))
				case "w:del":
					r.deleted = true
				}
				return nil
			}, nil)
		case tag == "w:tc":
			return d.cell(s, t, r)
		case isSkipped(tag):
			return nil
		}
		return d.cells(s, t, r)
	}, nil)
}

// addEmpty appends n empty cells.
func (r *wordRow) addEmpty(n int) {
	for range min(n, maxRowCells-len(r.cells)) {
		r.cells = append(r.cells, "")
	}
}

func (d *docx) cell(s *xmlScanner, t *wordTable, r *wordRow) error {
	span, merged := 1, false
	var b strings.Builder
	err := s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "w:tcPr":
			return s.children(func(tag string, e xml.StartElement) error {
				switch tag {
				case "w:gridSpan":
					span = intAttr(e, "val", 1, 1, maxRowCells)
				case "w:vMerge":
					merged = attr(e, "val") != "restart"
				}
				return nil
			}, nil)
		case "w:p":
			return d.paragraph(s, func(w block) { r.add(&b, w) })
		case "w:tbl":
			return d.table(s, func(w block) { r.add(&b, w) })
		}
		if isSkipped(tag) {
			return nil
		}
		return d.blocks(s, func(w block) { r.add(&b, w) })
	}, nil)
	if err != nil || len(r.cells) >= maxRowCells {
		return err
	}
	text, at := b.String(), len(r.cells)
	if merged && text == "" && at < len(t.above) && len(t.above[at]) <= maxMergedText {
		text = t.above[at]
	}
	r.cells = append(r.cells, text)
	r.addEmpty(span - 1)
	return nil
}

// add appends a block to a cell.
func (r *wordRow) add(b *strings.Builder, w block) {
	r.breaks += w.breaksBefore + w.breaksAfter + len(w.rowBreaks)
	appendFlat(b, w)
}
