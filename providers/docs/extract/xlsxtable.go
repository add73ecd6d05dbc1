package extract

import (
	"slices"
	"strings"
)

// tableSample is the number of rows that determine a table's columns.
const tableSample = 64

// maxSample bounds the bytes of the buffered rows, except for one row.
const maxSample = 1 << 20

// sheetTable turns the rows of a sheet into tables and lines of text as they come. A row of one
// cell before a table is a line above it. The first row of a table is its header if it has at least
// two cells and all are text, or if it has at least two texts and the next row is not all text. Empty
// rows end a table if the following rows look like another table.
type sheetTable struct {
	md           *markdown
	writeHeading func() // writes the sheet's heading before the first row
	// sample holds the rows that are buffered until the columns are known. open is set while a
	// table is being written.
	sample      [][]sheetCell
	sampleBytes int // bytes in sample
	open        bool
	positions   map[int]int // position in the table, by column
	width       int
	blanks      int
}

// blank counts empty rows.
func (t *sheetTable) blank(n int) { t.blanks += n }

// add adds a row. The cells are copied.
func (t *sheetTable) add(row []sheetCell) {
	if t.writeHeading != nil {
		t.writeHeading()
		t.writeHeading = nil
	}
	if t.blanks > 0 && t.startsTable(row) {
		t.flush()
	}
	t.blanks = 0
	if t.open {
		t.write(row)
		return
	}
	t.sample = append(t.sample, slices.Clone(row))
	for _, c := range row {
		t.sampleBytes += len(c.text)
	}
	if len(t.sample) >= tableSample || t.sampleBytes > maxSample {
		t.start()
	}
}

// startsTable reports whether a row after empty rows begins another table: it is a title, or a
// header over other columns.
func (t *sheetTable) startsTable(row []sheetCell) bool {
	if len(row) == 1 || !t.open && len(t.sample) == 1 {
		return true
	}
	first := row
	if len(t.sample) > 0 {
		first = t.sample[0]
	}
	return isHead(row) && (t.blanks > 1 || !t.open && !sameColumns(first, row) || t.open && len(row) != t.width)
}

func sameColumns(a, b []sheetCell) bool {
	return slices.EqualFunc(a, b, func(x, y sheetCell) bool { return x.column == y.column })
}

// isHead reports whether a row can be the header of a table.
func isHead(row []sheetCell) bool {
	return len(row) >= 2 && !slices.ContainsFunc(row, func(c sheetCell) bool { return !c.isText })
}

// flush ends the table.
func (t *sheetTable) flush() {
	if !t.open {
		t.start()
	}
	t.open, t.sample = false, nil
}

// start writes the buffered rows after determining the columns.
func (t *sheetTable) start() {
	rows := t.sample
	t.sample, t.sampleBytes = nil, 0
	for len(rows) > 0 && len(rows[0]) == 1 {
		t.md.paragraph(rows[0][0].text)
		rows = rows[1:]
	}
	if len(rows) == 0 {
		return
	}
	t.columns(rows)
	if isHead(rows[0]) || countTexts(rows[0]) >= 2 && !isHead(rows[min(1, len(rows)-1)]) {
		t.md.tableHead(t.cells(rows[0]), t.width)
		rows = rows[1:]
	} else {
		t.md.tableHead(nil, t.width)
	}
	t.open = true
	for _, row := range rows {
		t.write(row)
	}
}

func countTexts(row []sheetCell) (n int) {
	for _, c := range row {
		if c.isText {
			n++
		}
	}
	return n
}

// columns assigns a position to each column with content in the sample.
func (t *sheetTable) columns(rows [][]sheetCell) {
	var used []int
	for _, row := range rows {
		for _, c := range row {
			used = append(used, c.column)
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	used = used[:min(len(used), maxSheetWidth)]
	t.positions, t.width = make(map[int]int, len(used)), len(used)
	for i, c := range used {
		t.positions[c] = i
	}
}

// cells returns a row's cells by position. Columns that are not in the sample come last.
func (t *sheetTable) cells(row []sheetCell) []string {
	out := make([]string, t.width)
	used := 0
	var beyond []string
	for _, c := range row {
		at, ok := t.positions[c.column]
		if !ok {
			beyond = append(beyond, c.text)
			continue
		}
		out[at] = strings.TrimSpace(out[at] + " " + c.text)
		used = max(used, at+1)
	}
	if len(beyond) > 0 {
		return append(out, beyond...)
	}
	return out[:used]
}

func (t *sheetTable) write(row []sheetCell) { t.md.tableRow(t.cells(row)) }
