package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
)

// errRowLimit ends the reading of a sheet at a limit.
var errRowLimit = errors.New("row limit reached")

// sheetReader reads one sheet.
type sheetReader struct {
	w        *xlsx
	s        *xmlScanner
	ref      sheetRef
	table    sheetTable
	row      int // number of the row being read, from 1
	rows     int // rows with content so far
	last     int // last row declared by the sheet; 0 if not declared
	cells    []sheetCell
	cellsCut bool // cells were left out
}

// sheetCell is a cell with content.
type sheetCell struct {
	column int // from 0
	text   string
	isText bool // not a number
}

// sheet writes a sheet. A missing or empty sheet is left out.
func (w *xlsx) sheet(ctx context.Context, ref sheetRef) error {
	s, err := w.parts.openXML(ctx, ref.part)
	if errors.Is(err, errNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	r := &sheetReader{w: w, s: s, ref: ref}
	r.table = sheetTable{md: w.md, writeHeading: r.heading}
	err = r.visit()
	if err != nil && !errors.Is(err, errRowLimit) {
		return err
	}
	r.table.flush()
	if errors.Is(err, errRowLimit) || w.md.full() {
		r.remarkCut()
	}
	if r.cellsCut {
		w.remark("[Of each row only the first " + strconv.Itoa(maxSheetWidth) + " cells are here.]")
	}
	return r.drawings(ctx)
}

// drawings writes the text boxes and charts of the sheet.
func (r *sheetReader) drawings(ctx context.Context) error {
	rels, err := r.w.parts.relations(ctx, r.ref.part)
	if err != nil {
		return err
	}
	for _, name := range rels.all("drawing") {
		inside, err := r.w.parts.relations(ctx, name)
		if err != nil {
			return err
		}
		var blocks []block
		read := func(s *xmlScanner) error { return r.w.shapes(s, inside, &blocks) }
		if err := r.w.parts.visitOptional(ctx, name, read); err != nil {
			return err
		}
		if len(blocks) > 0 && r.table.writeHeading != nil {
			r.heading()
			r.table.writeHeading = nil
		}
		for _, b := range blocks {
			r.w.md.block(b)
		}
	}
	return nil
}

// shapes collects the text of shapes and the values of charts.
func (w *xlsx) shapes(s *xmlScanner, rels relations, blocks *[]block) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case e.Name.Local == "txBody":
			return drawingText(s, func(p drawingPara) { *blocks = append(*blocks, block{text: p.text}) })
		case tag == "c:chart":
			drawn, err := w.parts.graphic(s.ctx, rels, tag, e)
			*blocks = append(*blocks, drawn...)
			return err
		case tag == "mc:AlternateContent":
			return firstAlternative(s, func() error { return w.shapes(s, rels, blocks) })
		}
		return w.shapes(s, rels, blocks)
	}, nil)
}

func (r *sheetReader) heading() {
	name := r.ref.name
	if r.ref.hidden {
		name += " (hidden sheet)"
	}
	r.w.md.heading(2, name)
}

func (r *sheetReader) remarkCut() {
	text := "[The rows after row " + strconv.Itoa(r.row)
	if r.last > r.row {
		text += " of " + strconv.Itoa(r.last)
	}
	r.w.remark(text + " are left out, because the text would be too long.]")
}

// visit reads the rows.
func (r *sheetReader) visit() error {
	return r.s.children(func(tag string, e xml.StartElement) error {
		switch tag {
		case "x:dimension":
			_, end, _ := strings.Cut(attr(e, "ref"), ":")
			_, r.last = position(end)
			return nil
		case "x:row":
			return r.readRow(e)
		case "x:worksheet", "x:sheetData":
			return r.visit()
		case "mc:AlternateContent":
			return firstAlternative(r.s, r.visit)
		}
		return nil
	}, nil)
}

// readRow reads a row and adds it to the table.
func (r *sheetReader) readRow(e xml.StartElement) error {
	next := intAttr(e, "r", r.row+1, 1, 1<<21)
	gap := next - r.row - 1
	if r.rows >= r.w.limits.rows || r.w.full() {
		return errRowLimit
	}
	r.row, r.cells = next, r.cells[:0]
	column := -1
	err := r.s.children(func(tag string, e xml.StartElement) error {
		if tag != "x:c" {
			return nil
		}
		if c, _ := position(attr(e, "r")); c >= 0 {
			column = c
		} else {
			column++
		}
		if len(r.cells) >= maxSheetWidth {
			r.cellsCut = true
			return nil
		}
		c, err := r.w.cell(r.s, e)
		if c.column = column; c.text != "" {
			r.cells = append(r.cells, c)
		}
		return err
	}, nil)
	if err != nil {
		return err
	}
	if len(r.cells) == 0 {
		r.table.blank(1 + max(gap, 0))
		return nil
	}
	r.rows++
	r.w.cells += len(r.cells)
	r.table.blank(max(gap, 0))
	r.table.add(r.cells)
	return nil
}

// position parses "BC12" to column 54, from 0, and row 12, from 1. Missing parts are -1 and 0.
func position(ref string) (column, row int) {
	column, i := 0, 0
	for ; i < len(ref) && i < 3 && ref[i]|0x20 >= 'a' && ref[i]|0x20 <= 'z'; i++ {
		column = column*26 + int(ref[i]|0x20-'a') + 1
	}
	row, err := strconv.Atoi(ref[i:])
	if err != nil || row < 0 {
		row = 0
	}
	return column - 1, row
}

// cell reads the open cell element as displayed. A formula becomes its value, or its text if it was
// never calculated.
func (w *xlsx) cell(s *xmlScanner, e xml.StartElement) (sheetCell, error) {
	var value, formula string
	var rich []byte
	err := s.children(func(tag string, _ xml.StartElement) (err error) {
		switch tag {
		case "x:v":
			value, err = s.text()
		case "x:f":
			formula, err = s.text()
		case "x:is":
			err = richText(s, &rich)
		}
		return err
	}, nil)
	if err != nil {
		return sheetCell{}, err
	}
	value = strings.TrimSpace(value)
	kind := attr(e, "t")
	if kind == "inlineStr" && rich != nil {
		value = string(rich)
	}
	if value == "" && formula != "" {
		return sheetCell{text: cellOf("=" + formula), isText: true}, nil
	}
	return w.display(kind, value, intAttr(e, "s", 0, 0, 1<<20)), nil
}

// display formats a value by the type of its cell.
func (w *xlsx) display(kind, value string, style int) sheetCell {
	switch kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil {
			i = -1
		}
		return sheetCell{text: cellOf(unescapeCell(w.strings.at(i))), isText: true}
	case "str", "inlineStr":
		return sheetCell{text: cellOf(unescapeCell(value)), isText: true}
	case "b":
		if value == "1" {
			return sheetCell{text: "TRUE"}
		}
		return sheetCell{text: "FALSE"}
	case "e", "d":
		return sheetCell{text: cellOf(value)}
	}
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return sheetCell{text: cellOf(value)}
	}
	if style < len(w.formats) {
		return sheetCell{text: cellOf(w.formats[style].format(f, w.date1904))}
	}
	return sheetCell{text: generalNumber(f)}
}

// cellOf returns a cell's text on one line, cut to maxCellText.
func cellOf(s string) string {
	return oneLine(s[:min(len(s), maxCellText)])
}

// unescapeCell decodes characters that XML cannot hold: "_x000D_".
func unescapeCell(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "_x")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		code, err := strconv.ParseUint(after[:min(4, len(after))], 16, 16)
		if len(after) < 5 || after[4] != '_' || err != nil {
			b.WriteString("_x")
			s = after
			continue
		}
		b.WriteRune(rune(code))
		s = after[5:]
	}
}
