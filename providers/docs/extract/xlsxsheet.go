package extract

import (
	"context"
	"encoding/xml"
	"errors"
	"strconv"
	"strings"
)

// errEnough ends the reading of a sheet that is cut.
var errEnough = errors.New("enough rows")

// sheetReader reads one sheet.
type sheetReader struct {
	w     *xlsx
	s     *scan
	ref   sheetRef
	table sheetTable
	row   int // the number of the row being read, from 1
	rows  int // rows with content so far
	last  int // the last row that the sheet says it has; 0 if it does not
	used  []sheetCell
	wide  bool // cells were left out
}

// sheetCell is a cell with content.
type sheetCell struct {
	column int // from 0
	text   string
	words  bool // it is no number
}

// sheet writes a sheet; one whose part is missing, or that is empty, is left out.
func (w *xlsx) sheet(ctx context.Context, ref sheetRef) error {
	s, err := w.parts.scan(ctx, ref.part)
	if errors.Is(err, errNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.Close()
	r := &sheetReader{w: w, s: s, ref: ref}
	r.table = sheetTable{md: w.md, begin: r.heading}
	err = r.visit()
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	r.table.flush()
	if errors.Is(err, errEnough) || w.md.full() {
		r.remarkCut()
	}
	if r.wide {
		w.remark("[Of each row only the first " + strconv.Itoa(maxSheetWidth) + " cells are here.]")
	}
	return r.drawings(ctx)
}

// drawings writes the text boxes and charts that lie on the sheet.
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
		if err := r.w.parts.each(ctx, name, func(s *scan) error { return r.w.shapes(s, inside, &blocks) }); err != nil {
			return err
		}
		if len(blocks) > 0 && r.table.begin != nil {
			r.heading()
			r.table.begin = nil
		}
		for _, b := range blocks {
			r.w.md.block(b)
		}
	}
	return nil
}

// shapes collects the text of shapes and the values of charts.
func (w *xlsx) shapes(s *scan, rels relations, blocks *[]block) error {
	return s.children(func(tag string, e xml.StartElement) error {
		switch {
		case e.Name.Local == "txBody":
			return drawnText(s, func(p drawnPara) { *blocks = append(*blocks, block{text: p.text}) })
		case tag == "c:chart":
			drawn, err := w.parts.drawn(s.ctx, rels, tag, e)
			*blocks = append(*blocks, drawn...)
			return err
		case tag == "mc:AlternateContent":
			return alternate(s, func() error { return w.shapes(s, rels, blocks) })
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

// visit looks for rows.
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
			return alternate(r.s, r.visit)
		}
		return nil
	}, nil)
}

// readRow reads a row and hands it to the table.
func (r *sheetReader) readRow(e xml.StartElement) error {
	next := number(e, "r", r.row+1, 1, 1<<21)
	gap := next - r.row - 1
	if r.rows >= r.w.limits.rows || r.w.over() {
		return errEnough
	}
	r.row, r.used = next, r.used[:0]
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
		if len(r.used) >= maxSheetWidth {
			r.wide = true
			return nil
		}
		c, err := r.w.cell(r.s, e)
		if c.column = column; c.text != "" {
			r.used = append(r.used, c)
		}
		return err
	}, nil)
	if err != nil {
		return err
	}
	if len(r.used) == 0 {
		r.table.blank(1 + max(gap, 0))
		return nil
	}
	r.rows++
	r.w.cells += len(r.used)
	r.table.blank(max(gap, 0))
	r.table.add(r.used)
	return nil
}

// position reads "BC12" as column 54, from 0, and row 12, from 1. What is missing
// is -1 and 0.
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

// cell reads the cell just opened as it is displayed. A formula is its value; one
// that has never been calculated stands for itself.
func (w *xlsx) cell(s *scan, e xml.StartElement) (sheetCell, error) {
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
		return sheetCell{text: cellOf("=" + formula), words: true}, nil
	}
	return w.display(kind, value, number(e, "s", 0, 0, 1<<20)), nil
}

// display formats a value by the kind of its cell.
func (w *xlsx) display(kind, value string, style int) sheetCell {
	switch kind {
	case "s":
		i, err := strconv.Atoi(value)
		if err != nil {
			i = -1
		}
		return sheetCell{text: cellOf(unescapeCell(w.strings.at(i))), words: true}
	case "str", "inlineStr":
		return sheetCell{text: cellOf(unescapeCell(value)), words: true}
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
		return sheetCell{text: cellOf(w.formats[style].format(f, w.date))}
	}
	return sheetCell{text: generalNumber(f)}
}

// cellOf returns a cell's text on one line and of bounded length.
func cellOf(s string) string {
	return oneLine(s[:min(len(s), maxCellText)])
}

// unescapeCell decodes what XML cannot hold: "_x000D_".
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
